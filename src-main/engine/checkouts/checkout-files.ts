/**
 * The port through which the engine touches the files of checkouts. Raw reads of a database file in a process that has
 * a SQLite connection on it drop that connection's POSIX locks when the descriptor is closed, so everything behind this
 * port runs either in a child process (`keeper.ts`: library, app, web host) or in a process of our own that opens no
 * other SQLite connection on checkouts (the CLI). See docs/ARCHITECTURE.md, "The POSIX lock trap".
 */
import type { Holder } from "#shared/error-codes.ts";
import type { PageBatch } from "../format/page-batch.ts";
import type { Work } from "../segments/page-source.ts";
import type { CopyRequest, SourceCopy } from "../transfer/copy-source.ts";
import type { Patch } from "./write-patch.ts";

export type { PageBatch };

export type ChangeProof =
  /** Nothing moved since the fingerprint was taken. */
  | "fingerprint"
  /** The WAL's frames since then name every changed page. */
  | "wal"
  /** The blocks that the file no longer shares with its shadow, compared with that. */
  | "extents"
  /** Every page was hashed and compared. */
  | "scan";

export interface CheckoutChanges {
  readonly proof: ChangeProof;
  readonly pageSize: number;
  readonly pageCount: number;
  /**
   * Pages that may differ from the fact's `content` version, page 1 normalised (`format/sqlite-header.ts`). A superset
   * for "wal", exact for "scan", and for "extents" but for a few pages that a WAL or a patch had; empty for "fingerprint". In
   * batches of bounded size.
   */
  readonly batches: AsyncIterable<PageBatch>;
  /** Number of pages in the batches. */
  readonly candidates: number;
}

/** What the catalog knows about a checkout's content. */
export interface KnownContent {
  readonly fingerprint: string | null;
  readonly pageSize: number;
  /** Low 64 bits of each page's hash in the `content` version: 8 bytes a page, page 1 normalised. */
  readonly pageHashes: () => Promise<Uint8Array>;
}

/** The same without what only a scan needs. */
export type KnownFact = Omit<KnownContent, "pageHashes">;

/** A checkout under lock. Other processes cannot write (mode "write") or use it at all (mode "exclusive"). */
export interface HeldCheckout {
  readonly path: string;
  /**
   * Finds changed pages by the cheapest proof; `pageHashes` is called only when a scan is needed. The batches can be read
   * (again) until the file is replaced or let go. Throws `checkout-corrupt` when the file is no database.
   */
  changes(known: KnownContent): Promise<CheckoutChanges>;
  /**
   * Makes the file hold the given pages, page 1 always among them, at the given size, atomically for every stock client
   * (`replace-file.ts`). Page 1 gets WAL mode and a fresh change counter. An empty file, or one of another page size, needs
   * every page. Returns the fingerprint. Mode "exclusive" only.
   */
  patch(patch: Patch): Promise<string | null>;
  /** Puts a finished file of the same filesystem in place of this one; returns the fingerprint. Mode "exclusive" only. */
  swap(finished: string): Promise<string | null>;
  /** Removes the file and its side files. Mode "exclusive" only; only `release` may follow. */
  remove(): Promise<void>;
  /**
   * As `remove`, but the file itself goes to `to`, on the same filesystem, where it belongs to nobody: true then. False, and
   * the file is gone, when something else may still lead to it: another name, a link, a program that just opened it.
   */
  retire(to: string): Promise<boolean>;
  /** Moves the file to where there is none (`file-exists` otherwise); the hold goes with it. Mode "exclusive" only. */
  moveTo(path: string): Promise<void>;
  /**
   * Takes the fingerprint under the lock, moving the file's mtime back so that no later write can share it. Null where
   * that proves nothing: another user's file, timestamps of whole seconds.
   */
  fingerprint(): Promise<string | null>;
  release(): Promise<void>;
}

export interface CheckoutFiles {
  /** Compares the fingerprint by stat alone, without a lock. `unknown` = must be looked at under a lock. */
  check(path: string, fingerprint: string | null): "missing" | "same" | "unknown";
  /** Bytes of the file and of its WAL; null when there is no file. */
  sizes(path: string): { fileBytes: number; walBytes: number } | null;
  /** Processes that have the file or its side files open or locked, as far as the system tells. */
  holders(path: string): Holder[];
  /**
   * Throws `checkout-busy`, naming the holders, when the lock is not to be had within `waitMs`. `known`: what `changes` will
   * be asked with, so that a few changes come with the hold.
   */
  hold(path: string, mode: "write" | "exclusive", waitMs: number, known?: KnownFact): Promise<HeldCheckout>;
  /** Puts a finished file where there is none; returns its fingerprint (see `HeldCheckout`). Refuses with `file-exists`. */
  place(finished: string, path: string): Promise<string | null>;
  /**
   * Copies (reflinks where it can) a checkout to a new file, provided that it matches `fingerprint` before and after and
   * that no WAL content is beside it; null, with nothing left behind, when it does not, and when somebody here wants to
   * work with it meanwhile. Throws `cancelled`.
   */
  copy(path: string, fingerprint: string, to: string, work: Work): Promise<"cloned" | "copied" | null>;
  /**
   * Of each file where its blocks are that other files may use too: pairs of a place on the disk and a length, bytes. Null
   * where nobody tells, or where the file is held all the time; nothing for one that is not there.
   */
  sharedPlaces(paths: readonly string[]): Promise<readonly (Float64Array | null)[]>;
  /**
   * Pages of these numbers as they are in the main file now, without a lock and without the WAL: perhaps old ones, or half
   * written, so that the caller must know them by their hashes. Zeros behind the end; null when the file is not there, or
   * in use here.
   */
  readPages(path: string, numbers: Uint32Array, pageSize: number): Promise<Uint8Array | null>;
  /** `transfer/copy-source.ts` for a file outside the store, which this process may have open as well. */
  copySource(request: CopyRequest, work: Work): Promise<SourceCopy>;
  /** Releases every hold and ends the child. */
  close(): Promise<void>;
}
