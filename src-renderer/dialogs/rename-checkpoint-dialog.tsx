import { useState } from "react";
import { nameProblem } from "#shared/ids.ts";
import { performVerb } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { closeDialog } from "../app-state.ts";
import { useBranchList } from "../branches/branch-list.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { ErrorPanel } from "../ui/states.tsx";
import { FormFooter } from "./form-footer.tsx";
import { useSubmit } from "./form.ts";

export function RenameCheckpointDialog({ branch, name }: { readonly branch: string; readonly name: string }) {
  const api = useApi();
  const database = useBranchList((state) => state.database) ?? "";
  const [to, setTo] = useState(name);
  const problem = nameProblem("checkpoint", to);
  const { busy, error, submit } = useSubmit(() => performVerb(api, "checkpoint.rename", { database, branch, name, to }));
  const ready = problem === null && to !== name;
  return (
    <Dialog
      title={`Rename ${name}`}
      onClose={closeDialog}
      onSubmit={() => ready && submit()}
      footer={<FormFooter act="Rename" busy={busy ? "Renaming…" : null} disabled={!ready} />}
    >
      <Field
        label="New name"
        autoFocus
        value={to}
        problem={problem}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTo(event.target.value)}
      />
      {error ? <ErrorPanel error={error} onRetry={error.retryable ? submit : null} /> : null}
    </Dialog>
  );
}
