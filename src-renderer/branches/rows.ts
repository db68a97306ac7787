/**
 * What the Branches screen lists. Branches form a tree by their fork points; names with `/` gather in folders; more than
 * twenty siblings from one fork point that share a name prefix become one bundle, and inside it more than twenty of one
 * status become one group. Pure, and linear in the number of branches but for sorting.
 */
import type { BranchView } from "#shared/views.ts";

/** More siblings than this fold into one row. */
export const BUNDLE_MIN = 20;
/** A folder with more branches than this starts closed. */
const FOLDER_OPEN_MAX = 50;

export interface Tally {
  readonly count: number;
  readonly pass: number;
  readonly fail: number;
  readonly running: number;
  readonly unsaved: number;
  /** Newest head among them, Unix ms. */
  readonly headAt: number;
  /** The first to expire; null when none does. */
  readonly expiresAt: number | null;
}

interface RowBase {
  /** Stays the same while the thing it stands for exists. */
  readonly key: string;
  /** Depth in the treegrid, from 1. */
  readonly level: number;
  readonly expandable: boolean;
  readonly expanded: boolean;
  /** Row of the branch, folder, bundle or group that this one is under. */
  readonly parentKey: string | null;
  /** Where a graph edge comes from: the row of the fork's parent; null for none. */
  readonly edgeFrom: string | null;
}
export type Row =
  | (RowBase & {
      readonly kind: "branch";
      readonly branch: BranchView;
      readonly label: string;
      /** Shown only because a match is under it. */ readonly context: boolean;
    })
  | (RowBase & { readonly kind: "folder"; readonly path: string; readonly members: readonly BranchView[]; readonly tally: Tally })
  | (RowBase & {
      readonly kind: "bundle";
      readonly prefix: string;
      readonly sample: BranchView;
      readonly members: readonly BranchView[];
      readonly tally: Tally;
    })
  | (RowBase & {
      readonly kind: "group";
      readonly status: string;
      readonly sample: BranchView;
      readonly members: readonly BranchView[];
      readonly tally: Tally;
    });

export interface RowOptions {
  /** Ids that match the filter; null shows all. */
  readonly matches: ReadonlySet<number> | null;
  /** Rows that the user opened or closed, by key. */
  readonly toggled: ReadonlyMap<string, boolean>;
}

export interface BranchRows {
  readonly rows: readonly Row[];
  /** How many branches are inside closed bundles, groups and folders. */
  readonly folded: readonly { readonly label: string; readonly count: number }[];
}

export const branchKey = (id: number): string => `b${id}`;

/** True for a member shown under its bundle. */
export function isBundled(row: Row): boolean {
  return row.parentKey !== null && /^[ug]/.test(row.parentKey);
}

export function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf("/") + 1);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** "attempt-0208" → "attempt-": what numbered siblings share. */
export function bundlePrefix(name: string): string {
  let end = name.length;
  while (end > 0 && isDigit(name.charCodeAt(end - 1))) end -= 1;
  return name.slice(0, end);
}

export function statusOf(branch: BranchView): string {
  return branch.meta["status"]?.toLowerCase() ?? "none";
}

export function tally(branches: readonly BranchView[]): Tally {
  let pass = 0;
  let fail = 0;
  let running = 0;
  let unsaved = 0;
  let headAt = 0;
  let expiresAt: number | null = null;
  for (const branch of branches) {
    const status = statusOf(branch);
    if (status === "pass") pass += 1;
    if (status === "fail") fail += 1;
    if (status === "running") running += 1;
    if (branch.checkout.state === "unsaved" || branch.checkout.state === "conflict") unsaved += 1;
    headAt = Math.max(headAt, branch.headAt);
    if (branch.expiresAt !== null) expiresAt = Math.min(expiresAt ?? Infinity, branch.expiresAt);
  }
  return { count: branches.length, pass, fail, running, unsaved, headAt, expiresAt };
}

/** Matches and the branches they hang on, so that a filtered tree still says where things come from. */
function withAncestors(byId: ReadonlyMap<number, BranchView>, matches: ReadonlySet<number>): ReadonlySet<number> {
  const shown = new Set<number>();
  for (const id of matches) {
    let branch = byId.get(id);
    while (branch && !shown.has(branch.id)) {
      shown.add(branch.id);
      const parent = branch.forkedFrom?.branchId;
      branch = parent == null ? undefined : byId.get(parent);
    }
  }
  return shown;
}

interface Tree {
  readonly roots: BranchView[];
  readonly children: Map<number, BranchView[]>;
  readonly folders: Map<string, BranchView[]>;
}

/**
 * A branch hangs under its fork parent, unless its name puts it into another folder than its parent's. Members of a
 * folder that hang under another member are listed under it, not twice.
 */
function plantTree(branches: readonly BranchView[], byId: ReadonlyMap<number, BranchView>): Tree {
  const tree: Tree = { roots: [], children: new Map(), folders: new Map() };
  for (const branch of branches) {
    const folder = folderOf(branch.name);
    const parentId = branch.forkedFrom?.branchId;
    const parent = parentId == null ? undefined : byId.get(parentId);
    if (parent && (folder === "" || folder === folderOf(parent.name))) append(tree.children, parent.id, branch);
    else if (folder !== "") append(tree.folders, folder, branch);
    else tree.roots.push(branch);
  }
  return tree;
}

function append<K>(map: Map<K, BranchView[]>, key: K, branch: BranchView): void {
  const list = map.get(key);
  if (list) list.push(branch);
  else map.set(key, [branch]);
}

type Sibling = { readonly branch: BranchView } | { readonly prefix: string; readonly version: number; readonly members: BranchView[] };

/** Folds siblings of one fork point with one prefix; the bundle stands where its first member stood. */
function foldSiblings(siblings: readonly BranchView[]): readonly Sibling[] {
  if (siblings.length <= BUNDLE_MIN) return siblings.map((branch) => ({ branch }));
  const families = new Map<string, BranchView[]>();
  const familyOf = siblings.map((branch) => {
    const key = `${branch.forkedFrom?.branchId}@${branch.forkedFrom?.version}:${bundlePrefix(branch.name)}`;
    const family = families.get(key) ?? [];
    if (family.length === 0) families.set(key, family);
    family.push(branch);
    return family;
  });
  const folded: Sibling[] = [];
  siblings.forEach((branch, index) => {
    const members = familyOf[index] ?? [branch];
    if (members.length <= BUNDLE_MIN) folded.push({ branch });
    else if (members[0] === branch) folded.push({ prefix: bundlePrefix(branch.name), version: branch.forkedFrom?.version ?? 0, members });
  });
  return folded;
}

/** Rows of the tree ("Graph"), top to bottom. `branches` are in order of id. */
export function buildTreeRows(branches: readonly BranchView[], options: RowOptions): BranchRows {
  const allById = new Map(branches.map((branch) => [branch.id, branch]));
  const shown = options.matches ? withAncestors(allById, options.matches) : null;
  const visible = shown ? branches.filter((branch) => shown.has(branch.id)) : branches;
  const byId = shown ? new Map(visible.map((branch) => [branch.id, branch])) : allById;
  const tree = plantTree(visible, byId);
  const trunk = tree.roots.find((root) => root.forkedFrom === null);
  const rows: Row[] = [];
  const folded: { label: string; count: number }[] = [];
  const isOpen = (key: string, standard: boolean) => options.toggled.get(key) ?? standard;
  const edgeOf = (branch: BranchView) => {
    const parent = branch.forkedFrom?.branchId;
    return parent != null && byId.has(parent) ? branchKey(parent) : null;
  };

  /** `edgeFrom` overrides the fork parent's row for members of a bundle. */
  const addBranch = (branch: BranchView, level: number, parentKey: string | null, edgeFrom: string | null) => {
    const key = branchKey(branch.id);
    const children = tree.children.get(branch.id) ?? [];
    const holdsFolders = branch === trunk && tree.folders.size > 0;
    const expandable = children.length > 0 || holdsFolders;
    const expanded = expandable && isOpen(key, true);
    const context = options.matches !== null && !options.matches.has(branch.id);
    rows.push({
      kind: "branch",
      key,
      level,
      expandable,
      expanded,
      parentKey,
      edgeFrom,
      branch,
      label: branch.name.slice(folderOf(branch.name).length),
      context,
    });
    if (!expanded) return;
    addSiblings(children, level + 1, key);
    if (holdsFolders) addFolders(level + 1, key);
  };
  const addSiblings = (siblings: readonly BranchView[], level: number, parentKey: string | null) => {
    for (const sibling of foldSiblings(siblings)) {
      if ("branch" in sibling) addBranch(sibling.branch, level, parentKey, edgeOf(sibling.branch));
      else addBundle(sibling, level, parentKey);
    }
  };
  const addBundle = (bundle: Extract<Sibling, { members: BranchView[] }>, level: number, parentKey: string | null) => {
    const sample = bundle.members[0];
    if (!sample) return;
    const key = `u${parentKey}@${sample.forkedFrom?.branchId}.${bundle.version}:${bundle.prefix}`;
    const expanded = isOpen(key, false);
    rows.push({
      kind: "bundle",
      key,
      level,
      expandable: true,
      expanded,
      parentKey,
      edgeFrom: edgeOf(sample),
      prefix: bundle.prefix.slice(folderOf(bundle.prefix).length),
      sample,
      members: bundle.members,
      tally: tally(bundle.members),
    });
    if (!expanded) {
      folded.push({ label: `${bundle.prefix}*`, count: bundle.members.length });
      return;
    }
    const statuses = Map.groupBy(bundle.members, statusOf);
    for (const [status, members] of [...statuses].toSorted((a, b) => a[1].length - b[1].length)) {
      if (statuses.size > 1 && members.length > BUNDLE_MIN) addGroup(key, status, members, level + 1);
      else for (const branch of members) addBranch(branch, level + 1, key, key);
    }
  };
  const addGroup = (bundleKey: string, status: string, members: readonly BranchView[], level: number) => {
    const sample = members[0];
    if (!sample) return;
    const key = `g${bundleKey}:${status}`;
    const expanded = isOpen(key, false);
    rows.push({
      kind: "group",
      key,
      level,
      expandable: true,
      expanded,
      parentKey: bundleKey,
      edgeFrom: bundleKey,
      status,
      sample,
      members,
      tally: tally(members),
    });
    if (expanded) for (const branch of members) addBranch(branch, level + 1, key, key);
    else folded.push({ label: `${bundlePrefix(sample.name)}* (${status})`, count: members.length });
  };
  const addFolders = (level: number, parentKey: string | null) => {
    for (const [path, members] of [...tree.folders].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const key = `f${path}`;
      const inside = collectInside(members, tree);
      const expanded = isOpen(key, options.matches !== null || inside.length <= FOLDER_OPEN_MAX);
      rows.push({
        kind: "folder",
        key,
        level,
        expandable: true,
        expanded,
        parentKey,
        edgeFrom: null,
        path,
        members: inside,
        tally: tally(inside),
      });
      if (expanded) addSiblings(members, level + 1, key);
      else folded.push({ label: path, count: inside.length });
    }
  };

  for (const root of tree.roots) addBranch(root, 1, null, null);
  if (!trunk) addFolders(1, null);
  return { rows, folded };
}

/** Members of a folder and everything listed under them. */
function collectInside(members: readonly BranchView[], tree: Tree): readonly BranchView[] {
  const inside = [...members];
  for (const branch of inside) inside.push(...(tree.children.get(branch.id) ?? []));
  return inside;
}

export type SortColumn = "name" | "from" | "head" | "age" | "checkpoints" | "file" | "expires" | "status";
export interface Sort {
  readonly column: SortColumn;
  readonly descending: boolean;
}

const FILE_ORDER: readonly string[] = ["conflict", "unsaved", "missing", "stale", "clean", "none"];
const NAMES = new Intl.Collator("en", { numeric: true });
const COMPARE: Readonly<Record<SortColumn, (a: BranchView, b: BranchView) => number>> = {
  name: (a, b) => NAMES.compare(a.name, b.name),
  from: (a, b) =>
    NAMES.compare(a.forkedFrom?.branch ?? "", b.forkedFrom?.branch ?? "") || (a.forkedFrom?.version ?? 0) - (b.forkedFrom?.version ?? 0),
  head: (a, b) => a.head - b.head,
  age: (a, b) => b.headAt - a.headAt,
  checkpoints: (a, b) => a.checkpoints - b.checkpoints,
  file: (a, b) => FILE_ORDER.indexOf(a.checkout.state) - FILE_ORDER.indexOf(b.checkout.state),
  expires: (a, b) => (a.expiresAt ?? Number.MAX_SAFE_INTEGER) - (b.expiresAt ?? Number.MAX_SAFE_INTEGER),
  status: (a, b) => NAMES.compare(statusOf(a), statusOf(b)),
};

/** Rows of the flat list: matches only, sorted, ties in order of id. */
export function buildFlatRows(branches: readonly BranchView[], matches: ReadonlySet<number> | null, sort: Sort): BranchRows {
  const shown = matches ? branches.filter((branch) => matches.has(branch.id)) : branches;
  const order = COMPARE[sort.column];
  const sorted = shown.toSorted((a, b) => (sort.descending ? order(b, a) : order(a, b)) || a.id - b.id);
  const rows = sorted.map((branch): Row => ({
    kind: "branch",
    key: branchKey(branch.id),
    level: 1,
    expandable: false,
    expanded: false,
    parentKey: null,
    edgeFrom: null,
    branch,
    label: branch.name,
    context: false,
  }));
  return { rows, folded: [] };
}
