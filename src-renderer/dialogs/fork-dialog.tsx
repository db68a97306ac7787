import { useState } from "react";
import { nameProblem, parseAt } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { parseDuration } from "#shared/units.ts";
import { performVerb } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { selectBranches, showScreen } from "../app-state.ts";
import { branchList, findBranchByName, mergeBranches, useBranchList } from "../branches/branch-list.ts";
import { changeBranchesView } from "../branches/branches-view.ts";
import { branchKey } from "../branches/rows.ts";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField, Field } from "../ui/field.tsx";
import { formatCount } from "../ui/format.ts";
import { ErrorPanel } from "../ui/states.tsx";
import { closeDialog } from "../app-state.ts";
import { FormFooter } from "./form-footer.tsx";
import { useSubmit } from "./form.ts";

export interface ForkForm {
  readonly name: string;
  readonly at: string;
  readonly ttl: string;
  readonly count: string;
}
export type ForkProblems = { readonly [K in keyof ForkForm]: string | null };

/** One sentence for each field that cannot be sent. `taken` are names in use. */
export function checkForkForm(form: ForkForm, taken: (name: string) => boolean): ForkProblems {
  const ttlMs = form.ttl === "" ? LIMITS.ttlMsMin : parseDuration(form.ttl);
  const count = Number(form.count);
  const nameTaken = count === 1 && taken(form.name) ? `${form.name} is in use in this database` : null;
  return {
    name: nameProblem("branch", form.name) ?? nameTaken,
    at: form.at === "" || parseAt(form.at) ? null : "Write a checkpoint's name, v12 or a time like 2026-11-30T12:00:00Z",
    ttl:
      ttlMs === null
        ? "Write a time like 30m, 2h or 7d"
        : ttlMs < LIMITS.ttlMsMin || ttlMs > LIMITS.ttlMsMax
          ? "Between a second and ten years"
          : null,
    count: Number.isInteger(count) && count >= 1 && count <= LIMITS.forkCountMax ? null : `From 1 to ${formatCount(LIMITS.forkCountMax)}`,
  };
}

/** Shows what a fork made, without waiting for the list to hear of it. */
function showNew(name: string | undefined): void {
  const branch = name === undefined ? null : findBranchByName(name);
  if (!branch) return;
  showScreen("branches");
  selectBranches(branch.id);
  changeBranchesView({ focusedKey: branchKey(branch.id) });
}

export function ForkDialog({ branch: branchName, at: givenAt }: { readonly branch: string; readonly at?: string }) {
  const api = useApi();
  const database = useBranchList((state) => state.database) ?? "";
  const branch = useBranchList(() => findBranchByName(branchName));
  const detail = useRequest("branch.get", { database, branch: branchName });
  const [form, setForm] = useState<ForkForm>({ name: "", at: givenAt ?? "", ttl: "", count: "1" });
  const [withUnsaved, setWithUnsaved] = useState(false);
  const problems = checkForkForm(form, (name) => findBranchByName(name) !== null);
  const change = (part: Partial<ForkForm>) => setForm((current) => ({ ...current, ...part }));
  const count = Number(form.count);
  const unsaved = branch?.checkout.state === "unsaved" && form.at === "";
  const { busy, error, submit } = useSubmit(async () => {
    const result = await performVerb(api, "branch.fork", {
      database,
      branch: branchName,
      newBranch: form.name,
      ...(form.at === "" ? {} : { at: form.at }),
      ...(count === 1 ? {} : { count }),
      ...(form.ttl === "" ? {} : { ttlMs: parseDuration(form.ttl) ?? LIMITS.ttlMsMin }),
      ...(unsaved && withUnsaved ? { withUnsaved } : {}),
    });
    const made = result.branch;
    if (made && made.database === database) branchList.set((state) => mergeBranches(state, [made]));
    showNew(result.branches[0] ?? made?.name);
  });
  const ready = Object.values(problems).every((problem) => problem === null);
  return (
    <Dialog
      title={`Fork ${branchName}`}
      description="No page is copied: the fork starts as a pointer to the same version."
      onClose={closeDialog}
      onSubmit={() => ready && submit()}
      footer={<FormFooter act="Fork" busy={busy ? "Forking…" : null} disabled={!ready} />}
    >
      <Field
        label="Name"
        autoFocus
        value={form.name}
        problem={form.name === "" ? null : problems.name}
        placeholder="try-something, or folder/name"
        onChange={(event) => change({ name: event.target.value })}
      />
      <div className="grid grid-cols-3 gap-3">
        <Field
          label="From"
          list="fork-at"
          value={form.at}
          problem={problems.at}
          placeholder={branch ? `head, v${branch.head}` : "head"}
          onChange={(event) => change({ at: event.target.value.trim() })}
        />
        <Field
          label="Expires after"
          value={form.ttl}
          problem={problems.ttl}
          placeholder="never"
          hint="30m, 2h, 7d"
          onChange={(event) => change({ ttl: event.target.value.replaceAll(" ", "") })}
        />
        <Field
          label="How many"
          inputMode="numeric"
          value={form.count}
          problem={problems.count}
          hint={count > 1 ? "Numbered" : undefined}
          onChange={(event) => change({ count: event.target.value.trim() })}
        />
      </div>
      <datalist id="fork-at">
        {detail.data?.ownCheckpoints.map((checkpoint) => (
          <option key={checkpoint.name} value={checkpoint.name} label={`v${checkpoint.version}`} />
        ))}
      </datalist>
      {unsaved ? (
        <CheckField
          label={`With the unsaved work of ${branchName}`}
          hint="It is saved as a version first. Otherwise the fork starts at the head, and the work stays where it is."
          checked={withUnsaved}
          onChange={(event) => setWithUnsaved(event.target.checked)}
        />
      ) : null}
      {error ? <ErrorPanel error={error} onRetry={error.retryable ? submit : null} /> : null}
    </Dialog>
  );
}
