import { useState } from "react";
import { LIMITS } from "#shared/limits.ts";
import { performMany, performVerb } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { closeDialog } from "../app-state.ts";
import { findBranchByName, useBranchList } from "../branches/branch-list.ts";
import { Chip } from "../ui/badge.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { formatPlural } from "../ui/format.ts";
import { ErrorPanel } from "../ui/states.tsx";
import { FormFooter } from "./form-footer.tsx";
import { useSubmit } from "./form.ts";

const OFFERED = ["pass", "fail", "running"] as const;

/** Labels of a branch with its status set, or taken away when `status` is empty. */
function withStatus(name: string, status: string): Record<string, string> {
  const { status: _old, ...rest } = findBranchByName(name)?.meta ?? {};
  return status === "" ? rest : { ...rest, status };
}

export function StatusDialog({ branches }: { readonly branches: readonly string[] }) {
  const api = useApi();
  const database = useBranchList((state) => state.database) ?? "";
  const [text, setText] = useState(findBranchByName(branches[0] ?? "")?.meta["status"] ?? "");
  const subject = branches.length === 1 ? (branches[0] ?? "") : formatPlural(branches.length, "branch", "branches");
  const { busy, error, submit } = useSubmit(() => {
    const inputs = branches.map((branch) => ({ database, branch, meta: withStatus(branch, text.trim()) }));
    const [only] = inputs;
    return inputs.length === 1 && only
      ? performVerb(api, "branch.setMeta", only)
      : performMany(api, "branch.setMeta", inputs, (count) => `Set the status of ${formatPlural(count, "branch", "branches")}`);
  });
  return (
    <Dialog
      title={`Status of ${subject}`}
      description="A word of yours, shown in the list. pass, fail and running have their own sign."
      onClose={closeDialog}
      onSubmit={submit}
      footer={<FormFooter act={text.trim() === "" ? "Remove status" : "Set status"} busy={busy ? "Setting…" : null} />}
    >
      <Field
        label="Status"
        autoFocus
        value={text}
        maxLength={LIMITS.metaValueBytesMax / 4}
        placeholder="none"
        onChange={(event) => setText(event.target.value)}
      />
      <div className="flex gap-2">
        {OFFERED.map((each) => (
          <Chip key={each} on={text === each} onClick={() => setText(each)}>
            {each}
          </Chip>
        ))}
      </div>
      {error ? <ErrorPanel error={error} onRetry={error.retryable ? submit : null} /> : null}
    </Dialog>
  );
}
