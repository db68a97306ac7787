import { useState } from "react";
import { LIMITS } from "#shared/limits.ts";
import { parseDuration } from "#shared/units.ts";
import { performMany, performVerb } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { closeDialog } from "../app-state.ts";
import { useBranchList } from "../branches/branch-list.ts";
import { Chip } from "../ui/badge.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { formatPlural } from "../ui/format.ts";
import { ErrorPanel } from "../ui/states.tsx";
import { FormFooter } from "./form-footer.tsx";
import { useSubmit } from "./form.ts";

const OFFERED = ["1h", "8h", "1d", "7d", "30d"] as const;

export function ExpireDialog({ branches }: { readonly branches: readonly string[] }) {
  const api = useApi();
  const database = useBranchList((state) => state.database) ?? "";
  const [text, setText] = useState("");
  const parsed = text === "" ? null : parseDuration(text);
  const problem =
    text === ""
      ? null
      : parsed === null
        ? "Write a time like 30m, 2h or 7d"
        : parsed < LIMITS.ttlMsMin || parsed > LIMITS.ttlMsMax
          ? "Between a second and ten years"
          : null;
  const subject = branches.length === 1 ? (branches[0] ?? "") : formatPlural(branches.length, "branch", "branches");
  const { busy, error, submit } = useSubmit(() => {
    const inputs = branches.map((branch) => ({ database, branch, ttlMs: parsed }));
    const [only] = inputs;
    return inputs.length === 1 && only
      ? performVerb(api, "branch.touch", only)
      : performMany(api, "branch.touch", inputs, (count) => `Changed when ${formatPlural(count, "branch", "branches")} expire`);
  });
  return (
    <Dialog
      title={`When ${subject} ${branches.length === 1 ? "expires" : "expire"}`}
      description="Counted from the last change. An expired branch goes to the Trash and can be restored from there."
      onClose={closeDialog}
      onSubmit={() => problem === null && submit()}
      footer={
        <FormFooter
          act={text === "" ? "Never expire" : `Expire after ${text}`}
          busy={busy ? "Changing…" : null}
          disabled={problem !== null}
        />
      }
    >
      <Field
        label="After"
        autoFocus
        value={text}
        problem={problem}
        placeholder="never"
        onChange={(event) => setText(event.target.value.replaceAll(" ", ""))}
      />
      <div className="flex gap-2">
        <Chip on={text === ""} onClick={() => setText("")}>
          Never
        </Chip>
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
