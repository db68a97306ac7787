import { useState } from "react";
import { performVerb } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { closeDialog } from "../app-state.ts";
import { findBranchByName, useBranchList } from "../branches/branch-list.ts";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField, Field } from "../ui/field.tsx";
import { ErrorPanel } from "../ui/states.tsx";
import { FormFooter } from "./form-footer.tsx";
import { useSubmit } from "./form.ts";

/** Names offered while typing. */
const OFFERED_MAX = 200;

export function PromoteDialog({ branch, onto: given }: { readonly branch: string; readonly onto?: string }) {
  const api = useApi();
  const database = useBranchList((state) => state.database) ?? "";
  const branches = useBranchList((state) => state.branches);
  const [onto, setOnto] = useState(given ?? "");
  const [force, setForce] = useState(false);
  const target = findBranchByName(onto);
  const problem =
    onto === "" ? null : onto === branch ? "A branch cannot be promoted onto itself" : target ? null : `There is no branch ${onto}`;
  const blocked = target?.protected === true && !force;
  const { busy, error, submit } = useSubmit(() =>
    performVerb(api, "branch.promote", { database, source: branch, onto, ...(force ? { force } : {}) }),
  );
  const ready = onto !== "" && problem === null && !blocked;
  return (
    <Dialog
      title={`Promote ${branch}`}
      description="The target's head becomes this branch's head. What the target was stays in its history."
      onClose={closeDialog}
      onSubmit={() => ready && submit()}
      footer={<FormFooter act={ready ? `Promote onto ${onto}` : "Promote"} busy={busy ? "Promoting…" : null} disabled={!ready} />}
    >
      <Field
        label="Onto"
        autoFocus
        list="promote-onto"
        value={onto}
        problem={problem}
        placeholder="main"
        onChange={(event) => setOnto(event.target.value.trim())}
      />
      <datalist id="promote-onto">
        {branches.slice(0, OFFERED_MAX).map((each) => (
          <option key={each.id} value={each.name} />
        ))}
      </datalist>
      {target?.protected ? (
        <CheckField
          label={`${onto} is protected: promote onto it anyway`}
          checked={force}
          onChange={(event) => setForce(event.target.checked)}
        />
      ) : null}
      {error ? <ErrorPanel error={error} onRetry={error.retryable ? submit : null} /> : null}
    </Dialog>
  );
}
