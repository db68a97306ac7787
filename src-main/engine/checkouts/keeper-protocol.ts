/**
 * What goes between a program and its keeper, over the child's IPC channel with advanced serialization (typed arrays
 * travel as they are). One request, one reply, matched by `id`. Pages travel one batch a message, each asked for or
 * acknowledged before the next, so that neither side ever holds more than a batch.
 */
import type { ErrorView } from "#shared/error-codes.ts";
import type { PageBatch } from "../format/page-batch.ts";
import type { ChangeProof } from "./checkout-files.ts";
import type { CopyRequest, SourceCopy } from "../transfer/copy-source.ts";

/** A held checkout, numbered by the keeper. */
export type HoldId = number;

export interface FoundChanges {
  readonly proof: ChangeProof;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly candidates: number;
}

export interface KeeperCalls {
  hold: { input: { path: string; mode: "write" | "exclusive"; waitMs: number }; output: HoldId };
  /** Null: it takes a scan, and `hashes` must be sent first. */
  changes: { input: { hold: HoldId; fingerprint: string | null; pageSize: number; hasHashes: boolean }; output: FoundChanges | null };
  /** A part of the page hashes, in order; `total` bytes in all. */
  hashes: { input: { hold: HoldId; total: number; offset: number; bytes: Uint8Array }; output: null };
  /** The next batch of the changes found last, `restart` for the first one; null behind the last. */
  batch: { input: { hold: HoldId; restart: boolean }; output: PageBatch | null };
  /** A patch: begin, any number of batches, end. `batch: null` takes it back. */
  patchBegin: { input: { hold: HoldId; pageSize: number; pageCount: number }; output: null };
  patchBatch: { input: { hold: HoldId; batch: PageBatch }; output: null };
  patchEnd: { input: { hold: HoldId; isComplete: boolean }; output: null };
  swap: { input: { hold: HoldId; finished: string }; output: null };
  remove: { input: { hold: HoldId }; output: null };
  moveTo: { input: { hold: HoldId; path: string }; output: null };
  fingerprint: { input: { hold: HoldId }; output: string | null };
  release: { input: { hold: HoldId }; output: null };
  place: { input: { finished: string; path: string }; output: string | null };
  copy: { input: { path: string; fingerprint: string; to: string }; output: boolean };
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
