/** Catalog records as the views of the contract. */
import type { BranchId, VersionNumber } from "#shared/ids.ts";
import type {
  BranchDetail,
  BranchView,
  CheckoutState,
  CheckoutView,
  CheckpointView,
  DatabaseView,
  OperationView,
  VerbResult,
  VersionView,
} from "#shared/views.ts";
import type { BranchRecord, CheckpointRecord, DatabaseRecord, OperationRecord, VersionRecord } from "../catalog/records.ts";
import { namesAt, summariseOperation } from "../catalog/summary.ts";
import type { Parts } from "./parts.ts";
import type { Place } from "./resolve.ts";

export function branchView(parts: Parts, place: Place): BranchView {
  const { catalog } = parts;
  const { database, branch } = place;
  const head = catalog.versions.maker(database.id, branch.head);
  return {
    id: branch.id,
    database: database.name,
    name: branch.name,
    head: branch.head,
    headAt: head?.createdAt ?? branch.createdAt,
    headActor: head?.actor ?? "",
    headCheckpoint: catalog.checkpoints.nameOfVersion(branch, branch.head),
    forkedFrom: forkView(parts, branch),
    createdAt: branch.createdAt,
    actor: branch.actor,
    touchedAt: branch.touchedAt,
    ttlMs: branch.ttlMs,
    expiresAt: branch.ttlMs === null ? null : branch.touchedAt + branch.ttlMs,
    protected: branch.protected,
    meta: branch.meta,
    checkpoints: catalog.checkpoints.countOfBranch(branch.id),
    checkout: checkoutView(parts, place),
  };
}

/** What a new branch of a version will look like, read before it is there. */
export function readNewBranch(
  parts: Parts,
  { database, branch }: Place,
  head: VersionNumber,
): Pick<BranchView, "headAt" | "headActor" | "headCheckpoint" | "forkedFrom"> {
  const { versions, checkpoints } = parts.catalog;
  const made = versions.maker(database.id, head);
  return {
    headAt: made?.createdAt ?? 0,
    headActor: made?.actor ?? "",
    // It has no checkpoint of its own yet, and no branch has number 0.
    headCheckpoint: checkpoints.nameOfVersion({ id: 0 as BranchId, database: database.id }, head),
    forkedFrom: {
      branchId: branch.id,
      branch: branch.name,
      version: head,
      checkpoint: checkpoints.nameOfVersion({ id: branch.id, database: database.id }, head),
    },
  };
}

/** A branch that an operation has just brought: nothing is asked of the catalog. */
export function newBranchView(
  parts: Parts,
  operation: OperationRecord,
  about: Pick<BranchView, "id" | "database" | "name" | "head" | "ttlMs" | "meta"> & ReturnType<typeof readNewBranch>,
): BranchView {
  const { at, actor } = operation;
  const path = parts.paths.checkout(about.database, about.name);
  return {
    ...about,
    createdAt: at,
    actor,
    touchedAt: at,
    expiresAt: about.ttlMs === null ? null : at + about.ttlMs,
    protected: false,
    checkpoints: 0,
    checkout: { state: "none", path, base: null, fileBytes: 0, walBytes: 0 },
  };
}

/** A branch by id, as it is now; null when it is not live. */
export function viewOf(parts: Parts, database: DatabaseRecord, id: BranchId): BranchView | null {
  return parts.catalog.snapshot(() => {
    const branch = parts.catalog.branches.byId(id);
    return branch?.state === "live"
      ? branchView(parts, { database: { ...database, name: parts.catalog.databases.nameOf(database.id) ?? database.name }, branch })
      : null;
  });
}

export const currentView = (parts: Parts, place: Place): BranchView | null => viewOf(parts, place.database, place.branch.id);

function forkView(parts: Parts, branch: BranchRecord): BranchView["forkedFrom"] {
  if (branch.forkVersion === null) return null;
  const name = branch.parent === null ? null : parts.catalog.branches.nameOf(branch.parent);
  if (branch.parent === null || name === null) return { branchId: null, branch: null, version: branch.forkVersion, checkpoint: null };
  const checkpoint = parts.catalog.checkpoints.nameOfVersion({ id: branch.parent, database: branch.database }, branch.forkVersion);
  return { branchId: branch.parent, branch: name, version: branch.forkVersion, checkpoint };
}

export function checkoutView(parts: Parts, { database, branch }: Place): CheckoutView {
  const path = parts.paths.checkout(database.name, branch.name);
  const fact = parts.catalog.fact(branch.id);
  if (!fact) return { state: "none", path, base: null, fileBytes: 0, walBytes: 0 };
  const sizes = parts.files.sizes(path);
  const found = parts.files.check(path, fact.fingerprint);
  return {
    state: checkoutState(found, fact, branch.head),
    path,
    base: fact.base,
    fileBytes: sizes?.fileBytes ?? 0,
    walBytes: sizes?.walBytes ?? 0,
  };
}

/** The table of docs/ARCHITECTURE.md, "Checkouts". */
function checkoutState(
  found: "missing" | "same" | "unknown",
  fact: { readonly base: VersionNumber; readonly content: VersionNumber },
  head: VersionNumber,
): CheckoutState {
  if (found === "missing") return "missing";
  const holdsMore = found === "unknown" || fact.content !== fact.base;
  if (fact.base === head) return holdsMore ? "unsaved" : "clean";
  return found === "unknown" ? "conflict" : "stale";
}

export function branchDetail(parts: Parts, place: Place): BranchDetail {
  const { catalog } = parts;
  const { database, branch } = place;
  const head = catalog.versions.byNumber(database.id, branch.head);
  const checkpoints = catalog.checkpoints.ofBranch(branch.id);
  const view = branchView(parts, place);
  return {
    ...view,
    pageSize: head?.pageSize ?? 0,
    pageCount: head?.pageCount ?? 0,
    logicalBytes: (head?.pageSize ?? 0) * (head?.pageCount ?? 0),
    storedBytes: catalog.versions.storedBytesOfBranch(branch.id),
    ownCheckpoints: checkpoints.map((each) => checkpointView(parts, database, branch.name, each)),
    inheritedCheckpoints: catalog.checkpoints.inherited(branch).length,
    children: catalog.branches.childrenCount(branch.id),
    holders: view.checkout.state === "none" ? [] : parts.files.holders(view.checkout.path),
  };
}

function checkpointView(parts: Parts, database: DatabaseRecord, branch: string, record: CheckpointRecord): CheckpointView {
  const version = parts.catalog.versions.byNumber(database.id, record.version);
  return {
    branch,
    name: record.name,
    version: record.version,
    createdAt: record.createdAt,
    actor: record.actor,
    message: version?.message ?? null,
    meta: version?.meta ?? {},
    storedBytes: parts.catalog.versions.storedBytes(database.id, record.version),
  };
}

/** `heads`: names of the branches whose head this version is. */
export function versionView(parts: Parts, database: DatabaseRecord, version: VersionRecord, heads: readonly string[]): VersionView {
  const { catalog } = parts;
  return {
    number: version.number,
    parent: version.parent,
    kind: version.kind,
    createdAt: version.createdAt,
    actor: version.actor,
    message: version.message,
    meta: version.meta,
    pageSize: version.pageSize,
    pageCount: version.pageCount,
    changedPages: version.changedPages,
    storedBytes: catalog.versions.storedBytes(database.id, version.number),
    checksum: Buffer.from(version.checksum).toString("hex"),
    checkpoints: catalog.checkpoints
      .ofVersion(database.id, version.number)
      .map((each) => ({ branch: catalog.branches.byId(each.branch)?.name ?? "", name: each.name })),
    heads,
  };
}

export function databaseView(parts: Parts, database: DatabaseRecord): DatabaseView {
  const { catalog } = parts;
  const main = catalog.branches.byName(database.id, "main") ?? catalog.branches.page(database.id, 0, 1)[0];
  const head = main && catalog.versions.byNumber(database.id, main.head);
  return {
    name: database.name,
    uid: Buffer.from(database.uid).toString("hex"),
    createdAt: database.createdAt,
    branches: catalog.branches.count(database.id),
    versions: catalog.versions.count(database.id),
    pageSize: head?.pageSize ?? 0,
    pageCount: head?.pageCount ?? 0,
    storedBytes: database.storedBytes,
    source: database.source,
  };
}

/** `known`: names of everything it is about, where the caller has them. */
export function operationView(
  parts: Parts,
  operation: OperationRecord,
  known?: { readonly database: string; readonly branch: (id: BranchId) => string },
): OperationView {
  const { catalog } = parts;
  if (known) {
    const { id, kind, at, actor, reverses, state, branch } = operation;
    const uid = Buffer.from(operation.uid).toString("hex");
    const summary = summariseOperation(operation, { branch: known.branch, database: () => known.database, operation: () => null });
    return {
      id,
      uid,
      kind,
      at,
      actor,
      reverses,
      state,
      summary,
      database: known.database,
      branch: branch === null ? null : known.branch(branch),
    };
  }
  return {
    id: operation.id,
    uid: Buffer.from(operation.uid).toString("hex"),
    kind: operation.kind,
    at: operation.at,
    actor: operation.actor,
    database: operation.database === null ? "" : (catalog.databases.nameOf(operation.database) ?? ""),
    branch: operation.branch === null ? null : catalog.branches.nameOf(operation.branch),
    summary: summariseOperation(operation, namesAt(catalog, operation.id)),
    reverses: operation.reverses,
    state: operation.state,
  };
}

export function verbResult(parts: Parts, operation: OperationRecord | null, place: Place | null): VerbResult {
  return { operation: operation && operationView(parts, operation), branch: place && currentView(parts, place), warnings: [] };
}
