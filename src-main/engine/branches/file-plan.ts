/**
 * What moving refs means for the files of checkouts, in one place for every verb:
 *
 *   head moves            the file is brought to the new head; unsaved work is saved as an autosave first
 *   branch goes to trash  unsaved work is saved, the file is removed
 *   branch comes back     a file that it had is made again, unsaved work included
 *   branch is renamed     the file moves along
 *
 * Order: every file is held (or the verb refused) and its unsaved work encoded before the operation commits; the
 * operation makes the autosaves durable together with the moves; only then are files touched. A crash in between leaves
 * files that the catalog knows to be saved, which the next checkout replaces.
 */
import { dirname } from "node:path";
import type { BranchId, VersionNumber } from "#shared/ids.ts";
import { EngineError } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import type {
  BranchRecord,
  CheckoutFactDraft,
  DatabaseRecord,
  Move,
  NewVersion,
  OperationDraft,
  OperationRecord,
  VersionRef,
} from "../catalog/records.ts";
import type { Work } from "../segments/page-source.ts";
import { discardVersions } from "./operation.ts";
import { newVersion, type Parts } from "./parts.ts";
import type { Place } from "./resolve.ts";
import {
  bringFileTo,
  decodePatch,
  holdFile,
  placeFile,
  retireFile,
  unsavedWork,
  type DecodedPatch,
  type FileChange,
  type HeldFile,
} from "./working-file.ts";

type Effect =
  | { readonly kind: "bring"; readonly version: VersionNumber; readonly base: VersionNumber }
  | { readonly kind: "retire" }
  | { readonly kind: "revive" }
  | { readonly kind: "rename"; readonly to: string };

interface Planned {
  readonly place: Place;
  readonly effect: Effect;
  readonly file: HeldFile | null;
  /** What the file holds, as a stored version, once the operation has committed. */
  readonly saved: VersionRef | null;
  readonly base: VersionNumber | null;
  readonly decoded: DecodedPatch | null;
}

export interface FilePlanOptions {
  readonly waitMs?: number | undefined;
  /** Unsaved work that an undo gives back: the file is brought to `version`, on top of `base`. */
  readonly giveBack?: { readonly branch: BranchId; readonly version: VersionNumber; readonly base: VersionNumber } | null;
}

export class FilePlan {
  readonly versions: NewVersion[] = [];
  readonly facts: { branch: BranchId; fact: CheckoutFactDraft }[] = [];
  autosave: OperationDraft["autosave"];
  readonly #parts: Parts;
  readonly #planned: Planned[] = [];
  /** What was stored belongs to an operation, or went with its refusal. */
  #isDrafted = false;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Holds the files that `moves` touch. Throws `checkout-busy` with nothing changed. */
  static async prepare(parts: Parts, database: DatabaseRecord, moves: readonly Move[], options: FilePlanOptions = {}): Promise<FilePlan> {
    const plan = new FilePlan(parts);
    try {
      for (const [branch, effect] of effectsOf(parts, database, moves, options)) await plan.#add({ database, branch }, effect, options);
      return plan;
    } catch (error) {
      await plan.release();
      throw error;
    }
  }

  /** The part of an operation draft that saves what the files hold. */
  get draft(): Pick<OperationDraft, "versions" | "facts" | "autosave"> {
    this.#isDrafted = true;
    return { versions: this.versions, facts: this.facts, ...(this.autosave ? { autosave: this.autosave } : {}) };
  }

  /** After the commit. What cannot be done now is reported and left to the next checkout: nothing is lost by it. */
  async carryOut(operation: OperationRecord, work: Work = {}): Promise<{ change: FileChange; warnings: string[] }> {
    reach("move:committed");
    let change: FileChange = "none";
    const warnings: string[] = [];
    for (const planned of this.#planned) {
      try {
        change = await this.#apply(planned, operation, work);
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        warnings.push(
          `Done, but the file of ${planned.place.branch.name} was left as it was (${error.message}): run checkout again. Its unsaved work is saved.`,
        );
      }
    }
    return { change, warnings };
  }

  async release(): Promise<void> {
    for (const { file } of this.#planned) await file?.held.release();
    if (!this.#isDrafted) await discardVersions(this.#parts, this.versions);
  }

  async #add(place: Place, effect: Effect, options: FilePlanOptions): Promise<void> {
    if (effect.kind === "revive") {
      this.#planned.push({ place, effect, file: null, saved: null, base: null, decoded: null });
      return;
    }
    const known = this.#parts.catalog.fact(place.branch.id);
    if (!known) return;
    const holding = holdFile(this.#parts, place, "exclusive", options.waitMs);
    // Met below.
    holding.catch(() => undefined);
    // While the keeper takes the file, this thread decodes what the file will most likely be given. What fails here is met
    // again when it is given.
    const decoded = effect.kind === "bring" ? await decodePatch(this.#parts, place, known.content, effect.version).catch(() => null) : null;
    const file = await holding;
    const fact = file?.fact ?? known;
    const at = this.#planned.push({ place, effect, file, saved: null, base: fact.base, decoded }) - 1;
    if (effect.kind === "rename") return;
    const version = file ? await unsavedWork(this.#parts, file, fact.content, { kind: "autosave", message: null, meta: {} }) : null;
    const saved: VersionRef = version ? newVersion(this.versions.push(version) - 1) : fact.content;
    if (version || fact.content !== fact.base) this.autosave = { branch: place.branch.id, version: saved, base: fact.base };
    // Where nothing was saved, what is known about the file stays true.
    if (version)
      this.facts.push({
        branch: place.branch.id,
        fact: { base: fact.base, content: saved, fingerprint: (await file?.held.fingerprint()) ?? null },
      });
    this.#planned[at] = { place, effect, file, saved, base: fact.base, decoded };
    reach("move:autosaved");
  }

  async #apply({ place, effect, file, saved, decoded }: Planned, operation: OperationRecord, work: Work): Promise<FileChange> {
    const { catalog, disk } = this.#parts;
    switch (effect.kind) {
      case "bring": {
        const content = storedVersion(saved, operation) ?? effect.version;
        if (file) return bringFileTo(this.#parts, file, { content, version: effect.version, base: effect.base }, work, decoded);
        catalog.setFact(place.branch.id, { base: effect.base, content: effect.version, fingerprint: null });
        return "none";
      }
      case "retire":
        if (file) await retireFile(this.#parts, file, storedVersion(saved, operation) ?? file.fact.content);
        return "none";
      case "revive": {
        const fact = catalog.fact(place.branch.id);
        const branch = catalog.branches.byId(place.branch.id);
        if (!fact || !branch) return "none";
        return placeFile(this.#parts, { database: place.database, branch }, { version: fact.content, base: fact.base }, work);
      }
      case "rename":
        if (file) {
          disk.makeDirectory(dirname(effect.to));
          await file.held.moveTo(effect.to);
        }
        return "none";
    }
  }
}

/** What the file held when the operation committed, as it is stored now; null where nothing was looked at. */
function storedVersion(saved: VersionRef | null, operation: OperationRecord): VersionNumber | null {
  return saved === null || typeof saved === "number" ? saved : (operation.newVersions[saved.new] ?? null);
}

/** One effect a branch. */
function effectsOf(
  parts: Parts,
  database: DatabaseRecord,
  moves: readonly Move[],
  { giveBack }: FilePlanOptions,
): Map<BranchRecord, Effect> {
  const effects = new Map<BranchRecord, Effect>();
  const add = (id: BranchId, effect: Effect) => {
    const branch = parts.catalog.fact(id) ? parts.catalog.branches.byId(id) : null;
    if (branch?.database === database.id) effects.set(branch, effect);
  };
  const addAll = (effect: (branch: BranchId) => Effect) => {
    for (const { branch } of parts.catalog.facts()) add(branch, effect(branch));
  };
  for (const move of moves) {
    if (move.ref === "head" && typeof move.after === "number") {
      const back = giveBack?.branch === move.branch ? giveBack : null;
      add(move.branch, { kind: "bring", version: back?.version ?? move.after, base: back?.base ?? move.after });
    } else if (move.ref === "branch-state") {
      add(move.branch, move.after === "trashed" ? { kind: "retire" } : { kind: "revive" });
    } else if (move.ref === "branch-name") {
      add(move.branch, { kind: "rename", to: parts.paths.checkout(database.name, move.after) });
    } else if (move.ref === "database-state" && move.after === "trashed") {
      addAll(() => ({ kind: "retire" }));
    } else if (move.ref === "database-name") {
      addAll((id) => ({ kind: "rename", to: parts.paths.checkout(move.after, parts.catalog.branches.byId(id)?.name ?? "") }));
    }
  }
  return effects;
}
