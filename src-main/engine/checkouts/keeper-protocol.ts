/**
 * What goes between a program and its keeper, over the child's IPC channel with advanced serialization (typed arrays
 * travel as they are). One request, one reply, matched by `id`.
 *
 * A message costs more than what most of them ask for, so a verb gets by with three: `hold` brings what can be told at
 * once, `fold` carries out a patch whose WAL the program has written itself (in its temporary folder, where no lock is at
 * stake) and brings the fingerprint, `release`. Many changed pages travel one batch a message, each asked for, so that
 * neither side ever holds more than a batch.
 */
import type { ErrorView } from "#shared/error-codes.ts";
import type { PageBatch } from "../format/page-batch.ts";
import type { ChangeProof, KnownFact } from "./checkout-files.ts";
import type { FileShape, WrittenPatch } from "./write-patch.ts";
import type { CopyRequest, SourceCopy } from "../transfer/copy-source.ts";

/** A held checkout, numbered by the keeper. */
export type HoldId = number;

export interface FoundChanges {
  readonly proof: ChangeProof;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly candidates: number;
}

/** What came to light while the file was taken: what the calls of these names would answer. */
export interface FirstLook {
  readonly changes: FoundChanges;
  /** All changed pages, when they are few. */
  readonly pages: PageBatch | null;
  readonly shape: FileShape;
  /** Only where something changed: else what is known stays true. */
  readonly fingerprint?: string | null;
}

export interface KeeperCalls {
  /** `known`: have a first look; `look` is null where a scan is needed, or the file cannot be read. */
  hold: {
    input: { path: string; mode: "write" | "exclusive"; waitMs: number; known: KnownFact | null };
    output: { hold: HoldId; look: FirstLook | null };
  };
  /** Null: it takes a scan, and `hashes` must be sent first. */
  changes: { input: KnownFact & { hold: HoldId; hasHashes: boolean }; output: FoundChanges | null };
  /** A part of the page hashes, in order; `total` bytes in all. */
  hashes: { input: { hold: HoldId; total: number; offset: number; bytes: Uint8Array }; output: null };
  /** The next batch of the changes found last, `restart` for the first one; null behind the last. */
  batch: { input: { hold: HoldId; restart: boolean }; output: PageBatch | null };
  shape: { input: { hold: HoldId }; output: FileShape };
  /** Both answer with the fingerprint. */
  fold: { input: { hold: HoldId; written: WrittenPatch }; output: string | null };
  swap: { input: { hold: HoldId; finished: string }; output: string | null };
  remove: { input: { hold: HoldId }; output: null };
  retire: { input: { hold: HoldId; to: string }; output: boolean };
  moveTo: { input: { hold: HoldId; path: string }; output: null };
  fingerprint: { input: { hold: HoldId }; output: string | null };
  release: { input: { hold: HoldId }; output: null };
  place: { input: { finished: string; path: string }; output: string | null };
  copy: { input: { path: string; fingerprint: string; to: string }; output: "cloned" | "copied" | null };
  sharedPlaces: { input: { paths: readonly string[] }; output: readonly (Float64Array | null)[] };
  readPages: { input: { path: string; numbers: Uint32Array; pageSize: number }; output: Uint8Array | null };
  /** Tells its progress; ends early with `cancelled` after `cancel` with the id of this request. */
  copySource: { input: CopyRequest; output: SourceCopy };
  cancel: { input: { request: number }; output: null };
}

export type KeeperCallName = keyof KeeperCalls;

export type KeeperRequest = {
  [K in KeeperCallName]: { readonly id: number; readonly call: K; readonly input: KeeperCalls[K]["input"] };
}[KeeperCallName];

export type KeeperReply =
  | { readonly id: number; readonly progress: { readonly done: number; readonly total: number } }
  | { readonly id: number; readonly ok: true; readonly output: KeeperCalls[KeeperCallName]["output"] }
  | { readonly id: number; readonly ok: false; readonly error: ErrorView };
