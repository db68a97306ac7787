import { useState } from "react";
import { nameProblem } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { performVerb } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { closeDialog } from "../app-state.ts";
import { useBranchList } from "../branches/branch-list.ts";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField, Field } from "../ui/field.tsx";
import { ErrorPanel } from "../ui/states.tsx";
import { FormFooter } from "./form-footer.tsx";
import { useSubmit } from "./form.ts";

export function CheckpointDialog({ branch }: { readonly branch: string }) {
  const api = useApi();
  const database = useBranchList((state) => state.database) ?? "";
  const detail = useRequest("branch.get", { database, branch });
  const [name, setName] = useState("");
  const [message, setMessage] = useState("");
  const [replace, setReplace] = useState(false);
  const taken = detail.data?.ownCheckpoints.some((checkpoint) => checkpoint.name === name) ?? false;
  const problem =
    name === "" ? null : (nameProblem("checkpoint", name) ?? (taken && !replace ? `${branch} has a checkpoint ${name}` : null));
  const { busy, error, submit } = useSubmit(() =>
    performVerb(api, "branch.checkpoint", {
      database,
      branch,
      ...(name === "" ? {} : { name }),
      ...(message === "" ? {} : { message }),
      ...(taken && replace ? { replace } : {}),
    }),
  );
  return (
    <Dialog
      title={`Checkpoint ${branch}`}
      description="Keeps the state of the file as a version with a name. Programs that have it open may go on."
      onClose={closeDialog}
      onSubmit={() => problem === null && submit()}
      footer={<FormFooter act="Checkpoint" busy={busy ? "Saving…" : null} disabled={problem !== null} />}
    >
      <Field
        label="Name"
        autoFocus
        value={name}
        problem={problem}
        placeholder="chosen for you when left empty"
        onChange={(event) => setName(event.target.value)}
      />
      {taken ? (
        <CheckField label="Move the name to the new version" checked={replace} onChange={(event) => setReplace(event.target.checked)} />
      ) : null}
      <Field
        label="Message"
        value={message}
        maxLength={LIMITS.messageCharsMax}
        placeholder="what changed, optional"
        onChange={(event) => setMessage(event.target.value)}
      />
      {error ? <ErrorPanel error={error} onRetry={error.retryable ? submit : null} /> : null}
    </Dialog>
  );
}
