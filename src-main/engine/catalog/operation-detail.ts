/**
 * What an operation did, as bytes: the column `operations.detail`. A sequence of entries, each a tag byte and its
 * fields. Numbers are unsigned LEB128; a number that may be null is stored plus one, null as 0; texts are UTF-8 behind
 * their byte length; metadata is JSON text. Runs of branches that change state together (undo of `fork --count N`) take
 * one entry.
 */
import { assertNever } from "#shared/assert.ts";
import type { BranchId, DatabaseId, OperationId, VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Meta } from "#shared/views.ts";
import { EngineError } from "../io/errors.ts";
import type { Move, OperationRecord } from "./records.ts";

export type OperationDetail = Pick<
  OperationRecord,
  "source" | "moves" | "newBranches" | "newDatabase" | "newVersions" | "reverses" | "autosave" | "purged"
>;

const TAG = {
  head: 1,
  branchesTrashed: 2,
  branchesRestored: 3,
  branchName: 4,
  protectedOn: 5,
  protectedOff: 6,
  ttl: 7,
  meta: 8,
  epoch: 9,
  checkpoint: 10,
  automaticSet: 11,
  automaticCleared: 12,
  databaseTrashed: 13,
  databaseRestored: 14,
  databaseName: 15,
  newBranches: 20,
  newDatabase: 21,
  newVersions: 22,
  reverses: 23,
  autosave: 24,
  source: 25,
  purged: 26,
} as const;

export function automaticName(version: number): string {
  return `auto-${version}`;
}

class Writer {
  #bytes: number[] = [];

  number(value: number): this {
    let rest = value;
    while (rest >= 128) {
      this.#bytes.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    this.#bytes.push(rest);
    return this;
  }
  optional(value: number | null): this {
    return this.number(value === null ? 0 : value + 1);
  }
  text(value: string): this {
    const bytes = Buffer.from(value, "utf8");
    this.number(bytes.length);
    this.#bytes.push(...bytes);
    return this;
  }
  finish(): Buffer | null {
    return this.#bytes.length === 0 ? null : Buffer.from(this.#bytes);
  }
}

class Reader {
  #bytes: Uint8Array;
  #at = 0;
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }
  number(): number {
    let value = 0;
    let scale = 1;
    for (let length = 0; length < 8; length += 1) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) break;
      this.#at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw damaged(`a number that does not end at byte ${this.#at}`);
  }
  /** How many of something follow; more than ever belong together is damage. */
  count(): number {
    const value = this.number();
    if (value > LIMITS.forkCountMax) throw damaged(`a count of ${value}`);
    return value;
  }
  /** Its length, then its numbers, each of at least one byte. */
  list(): number[] {
    const length = this.number();
    if (length > this.#bytes.length - this.#at) throw damaged(`a list of ${length} numbers at byte ${this.#at}`);
    return Array.from({ length }, () => this.number());
  }
  optional(): number | null {
    const value = this.number();
    return value === 0 ? null : value - 1;
  }
  text(): string {
    const length = this.number();
    if (length > this.#bytes.length - this.#at) throw damaged(`a text of ${length} bytes at byte ${this.#at}`);
    const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, length).toString("utf8");
    this.#at += length;
    return text;
  }
}

/** Metadata as it is stored; `store-corrupt` for anything else. */
export function parseMeta(text: string): Meta {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw damaged(`metadata that is no JSON: ${text.slice(0, 40)}`);
  }
  if (typeof parsed !== "object" || parsed === null || !Object.values(parsed).every((value) => typeof value === "string")) {
    throw damaged(`metadata that is no object of texts: ${text.slice(0, 40)}`);
  }
  return parsed as Meta;
}

function damaged(found: string): EngineError {
  return new EngineError("store-corrupt", `Reading an operation of the catalog: found ${found}`, { details: { found } });
}

/** The moves name versions by number: `apply` has resolved them. */
export function encodeDetail(detail: OperationDetail): Buffer | null {
  const out = new Writer();
  if (detail.newDatabase !== null) out.number(TAG.newDatabase).number(detail.newDatabase);
  if (detail.newBranches) out.number(TAG.newBranches).number(detail.newBranches.first).number(detail.newBranches.count);
  const [firstVersion] = detail.newVersions;
  if (firstVersion !== undefined) out.number(TAG.newVersions).number(firstVersion).number(detail.newVersions.length);
  if (detail.reverses !== null) out.number(TAG.reverses).number(detail.reverses);
  if (detail.source !== null) out.number(TAG.source).number(detail.source);
  const { autosave, purged } = detail;
  if (autosave) out.number(TAG.autosave).number(autosave.branch).number(autosave.version).number(autosave.base);
  if (purged) writePurged(out, purged);
  for (let index = 0; index < detail.moves.length; index += 1) {
    const run = runOfBranches(detail.moves, index);
    const move = detail.moves[index];
    if (run) {
      out.number(run.tag).number(run.first).number(run.count);
      index += run.count - 1;
    } else if (move) {
      writeMove(out, move);
    }
  }
  return out.finish();
}

function writePurged(out: Writer, purged: NonNullable<OperationDetail["purged"]>): void {
  out.number(TAG.purged).number(purged.versions).number(purged.branches.length);
  for (const branch of purged.branches) out.number(branch);
  out.number(purged.databases.length);
  for (const database of purged.databases) out.number(database);
}

/** Moves from `start` on that bring branches with ascending ids from one state to the other. */
function runOfBranches(moves: readonly Move[], start: number): { tag: number; first: number; count: number } | null {
  const move = moves[start];
  if (move?.ref !== "branch-state") return null;
  let count = 1;
  for (let next = moves[start + 1]; next?.ref === "branch-state"; next = moves[start + count]) {
    if (next.branch !== move.branch + count || next.after !== move.after || count === LIMITS.forkCountMax) break;
    count += 1;
  }
  return { tag: move.after === "trashed" ? TAG.branchesTrashed : TAG.branchesRestored, first: move.branch, count };
}

function writeMove(out: Writer, move: Move): void {
  switch (move.ref) {
    case "head":
      out.number(TAG.head).number(move.branch).number(numberOf(move.before)).number(numberOf(move.after));
      return;
    case "branch-state":
      throw new Error("assertion failed: written as a run");
    case "branch-name":
      out.number(TAG.branchName).number(move.branch).text(move.before).text(move.after);
      return;
    case "protected":
      out
        .number(move.after ? TAG.protectedOn : TAG.protectedOff)
        .number(move.branch)
        .number(Number(move.before));
      return;
    case "ttl":
      out.number(TAG.ttl).number(move.branch).optional(move.before).optional(move.after);
      return;
    case "meta":
      out.number(TAG.meta).number(move.branch).text(JSON.stringify(move.before)).text(JSON.stringify(move.after));
      return;
    case "epoch":
      out.number(TAG.epoch).number(move.branch).number(move.before).number(move.after);
      return;
    case "checkpoint":
      writeCheckpoint(out, move);
      return;
    case "database-state":
      out.number(move.after === "trashed" ? TAG.databaseTrashed : TAG.databaseRestored).number(move.database);
      return;
    case "database-name":
      out.number(TAG.databaseName).number(move.database).text(move.before).text(move.after);
      return;
    default:
      assertNever(move);
  }
}

function writeCheckpoint(out: Writer, move: Extract<Move, { ref: "checkpoint" }>): void {
  const before = move.before === null ? null : numberOf(move.before);
  const after = move.after === null ? null : numberOf(move.after);
  if (before === null && after !== null && move.name === automaticName(after)) {
    out.number(TAG.automaticSet).number(move.branch).number(after);
  } else if (before !== null && after === null && move.name === automaticName(before)) {
    out.number(TAG.automaticCleared).number(move.branch).number(before);
  } else {
    out.number(TAG.checkpoint).number(move.branch).text(move.name).optional(before).optional(after);
  }
}

function numberOf(version: VersionNumber | { readonly new: number }): VersionNumber {
  if (typeof version !== "number") throw new Error("assertion failed: versions are resolved before they are stored");
  return version;
}

export function decodeDetail(bytes: Uint8Array | null): OperationDetail {
  const moves: Move[] = [];
  const rest: { -readonly [K in keyof OperationDetail]?: OperationDetail[K] } = {};
  const input = new Reader(bytes ?? new Uint8Array(0));
  while (!input.done) {
    const tag = input.number();
    if (!readMove(input, tag, moves) && !readRest(input, tag, rest)) throw damaged(`an unknown entry ${tag}`);
  }
  return {
    source: null,
    newBranches: null,
    newDatabase: null,
    newVersions: [],
    reverses: null,
    autosave: null,
    purged: null,
    ...rest,
    moves,
  };
}

function readMove(input: Reader, tag: number, moves: Move[]): boolean {
  const branchId = (): BranchId => input.number() as BranchId;
  const databaseId = (): DatabaseId => input.number() as DatabaseId;
  const version = (): VersionNumber => input.number() as VersionNumber;
  const metadata = (): Meta => parseMeta(input.text());
  switch (tag) {
    case TAG.head:
      moves.push({ ref: "head", branch: branchId(), before: version(), after: version() });
      return true;
    case TAG.branchesTrashed:
    case TAG.branchesRestored: {
      const first = input.number();
      const count = input.count();
      const [before, after] = tag === TAG.branchesTrashed ? (["live", "trashed"] as const) : (["trashed", "live"] as const);
      for (let index = 0; index < count; index += 1)
        moves.push({ ref: "branch-state", branch: (first + index) as BranchId, before, after });
      return true;
    }
    case TAG.branchName:
      moves.push({ ref: "branch-name", branch: branchId(), before: input.text(), after: input.text() });
      return true;
    case TAG.protectedOn:
    case TAG.protectedOff:
      moves.push({ ref: "protected", branch: branchId(), before: input.number() === 1, after: tag === TAG.protectedOn });
      return true;
    case TAG.ttl:
      moves.push({ ref: "ttl", branch: branchId(), before: input.optional(), after: input.optional() });
      return true;
    case TAG.meta:
      moves.push({ ref: "meta", branch: branchId(), before: metadata(), after: metadata() });
      return true;
    case TAG.epoch:
      moves.push({ ref: "epoch", branch: branchId(), before: input.number(), after: input.number() });
      return true;
    case TAG.checkpoint:
      moves.push({
        ref: "checkpoint",
        branch: branchId(),
        name: input.text(),
        before: input.optional() as VersionNumber | null,
        after: input.optional() as VersionNumber | null,
      });
      return true;
    case TAG.automaticSet:
    case TAG.automaticCleared: {
      const branch = branchId();
      const number = version();
      const set = tag === TAG.automaticSet;
      moves.push({ ref: "checkpoint", branch, name: automaticName(number), before: set ? null : number, after: set ? number : null });
      return true;
    }
    case TAG.databaseTrashed:
      moves.push({ ref: "database-state", database: databaseId(), before: "live", after: "trashed" });
      return true;
    case TAG.databaseRestored:
      moves.push({ ref: "database-state", database: databaseId(), before: "trashed", after: "live" });
      return true;
    case TAG.databaseName:
      moves.push({ ref: "database-name", database: databaseId(), before: input.text(), after: input.text() });
      return true;
    default:
      return false;
  }
}

function readRest(input: Reader, tag: number, rest: { -readonly [K in keyof OperationDetail]?: OperationDetail[K] }): boolean {
  switch (tag) {
    case TAG.newDatabase:
      rest.newDatabase = input.number() as DatabaseId;
      return true;
    case TAG.newBranches:
      rest.newBranches = { first: input.number() as BranchId, count: input.count() };
      return true;
    case TAG.newVersions: {
      const first = input.number();
      rest.newVersions = Array.from({ length: input.count() }, (_, index) => (first + index) as VersionNumber);
      return true;
    }
    case TAG.reverses:
      rest.reverses = input.number() as OperationId;
      return true;
    case TAG.source:
      rest.source = input.number() as BranchId;
      return true;
    case TAG.autosave:
      rest.autosave = {
        branch: input.number() as BranchId,
        version: input.number() as VersionNumber,
        base: input.number() as VersionNumber,
      };
      return true;
    case TAG.purged: {
      const versions = input.number();
      const branches = input.list() as BranchId[];
      rest.purged = { versions, branches, databases: input.list() as DatabaseId[] };
      return true;
    }
    default:
      return false;
  }
}
