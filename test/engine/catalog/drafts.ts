/** Operation drafts as the verbs will make them, with uids and times from a counter so that every run is the same. */
import type { BranchId, DatabaseId, OperationId, VersionNumber } from "#shared/ids.ts";
import { AUTOMATIC_CHECKPOINT, BASE_LEVEL } from "#engine/catalog/records.ts";
import type { BranchRecord, Move, NewBranches, NewVersion, OperationDraft } from "#engine/catalog/records.ts";

export const START = Date.UTC(2026, 10, 30);

export class Drafts {
  #count = 0;
  readonly #seed: number;
  readonly actor: string;
  /** Two makers with different seeds never share a uid. */
  constructor(seed = 0, actor = "ada") {
    this.#seed = seed;
    this.actor = actor;
  }

  draft(rest: Partial<OperationDraft> & Pick<OperationDraft, "kind">): OperationDraft {
    this.#count += 1;
    const uid = Buffer.alloc(16);
    uid.writeUInt32BE(this.#seed, 0);
    uid.writeUInt32BE(this.#count, 12);
    return { uid, at: START + this.#count * 1000, actor: this.actor, database: null, branch: null, moves: [], ...rest };
  }

  create(name: string): OperationDraft {
    return this.draft({
      kind: "create-database",
      newDatabase: { uid: Buffer.alloc(16, name), name, journal: "wal", source: null },
      versions: [version({ parent: null, kind: "import", level: BASE_LEVEL, bytes: 5000 })],
      newBranches: { ...branches(["main"]), head: { new: 0 } },
    });
  }

  fork(from: BranchRecord, names: readonly string[], rest: Partial<NewBranches> = {}): OperationDraft {
    const newBranches = { ...branches(names), head: from.head, forkVersion: from.head, parent: from.id, ...rest };
    return this.draft({ kind: "fork", database: from.database, branch: from.id, newBranches });
  }

  checkpoint(branch: BranchRecord, name: string = AUTOMATIC_CHECKPOINT, rest: Partial<Parameters<typeof version>[0]> = {}): OperationDraft {
    return this.draft({
      kind: "checkpoint",
      database: branch.database,
      branch: branch.id,
      versions: [version({ parent: branch.head, branch: branch.id, ...rest })],
      moves: [
        { ref: "head", branch: branch.id, before: branch.head, after: { new: 0 } },
        { ref: "checkpoint", branch: branch.id, name, before: null, after: { new: 0 } },
      ],
    });
  }

  move(kind: "rollback" | "promote", branch: BranchRecord, after: VersionNumber, source?: BranchId): OperationDraft {
    const moves: Move[] = [{ ref: "head", branch: branch.id, before: branch.head, after }];
    return this.draft({ kind, database: branch.database, branch: branch.id, moves, ...(source === undefined ? {} : { source }) });
  }

  destroy(branch: BranchRecord): OperationDraft {
    const moves: Move[] = [{ ref: "branch-state", branch: branch.id, before: "live", after: "trashed" }];
    return this.draft({ kind: "destroy", database: branch.database, branch: branch.id, moves });
  }

  rename(branch: BranchRecord, name: string): OperationDraft {
    const moves: Move[] = [{ ref: "branch-name", branch: branch.id, before: branch.name, after: name }];
    return this.draft({ kind: "rename", database: branch.database, branch: branch.id, moves });
  }

  on(branch: BranchRecord, kind: OperationDraft["kind"], ...moves: Move[]): OperationDraft {
    return this.draft({ kind, database: branch.database, branch: branch.id, moves });
  }

  reversal(plan: { readonly draft: Pick<OperationDraft, "kind" | "database" | "branch" | "moves" | "reverses"> }): OperationDraft {
    return this.draft(plan.draft);
  }
}

function branches(names: readonly string[]): NewBranches {
  return { names, head: 1 as VersionNumber, parent: null, forkVersion: null, ttlMs: null, meta: {} };
}

export function version(options: {
  readonly parent: NewVersion["parent"];
  readonly kind?: NewVersion["kind"];
  readonly branch?: BranchId;
  readonly level?: number;
  readonly bytes?: number;
  readonly file?: string;
  readonly message?: string;
}): NewVersion {
  const bytes = options.bytes ?? 100;
  const inline = options.file === undefined ? Buffer.alloc(bytes, 7) : null;
  return {
    parent: options.parent,
    kind: options.kind ?? "checkpoint",
    branch: options.branch ?? null,
    pageSize: 4096,
    pageCount: 25_000,
    checksum: Buffer.alloc(16, 0xc5),
    changedPages: 1,
    message: options.message ?? null,
    meta: {},
    segment: { level: options.level ?? 0, bytes, inline, file: options.file ?? null, parts: options.file === undefined ? 0 : 1 },
  };
}

export const v = (number: number): VersionNumber => number as VersionNumber;
export const databaseId = (id: number): DatabaseId => id as DatabaseId;
export const branchId = (id: number): BranchId => id as BranchId;
export const operationId = (id: number): OperationId => id as OperationId;
