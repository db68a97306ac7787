import { useState } from "react";
import type { ErrorView } from "#shared/error-codes.ts";
import { nameProblem } from "#shared/ids.ts";
import type { TrashView } from "#shared/views.ts";
import { toErrorView } from "../api/api-error.ts";
import { performVerb } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { useBranchList } from "../branches/branch-list.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { ErrorPanel } from "../ui/states.tsx";
import { proposeRestoreName, trashPlace } from "./trash-words.ts";

/** Restores under another name, mostly because the old one was taken meanwhile. */
export function RestoreDialog({ entry, onClose }: { readonly entry: TrashView; readonly onClose: () => void }) {
  const api = useApi();
  const databases = useRequest("database.list", {}).data ?? [];
  const list = useBranchList((state) => state);
  // Other databases' branches are not at hand; their names are judged by the store.
  const known = entry.kind === "database" ? databases : list.database === entry.database ? list.branches : [];
  const taken = new Set(known.map((each) => each.name));
  const [typed, setTyped] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ErrorView | null>(null);
  const name = typed ?? (taken.has(entry.name) ? proposeRestoreName(entry.name, taken) : entry.name);
  const problem = nameProblem(entry.kind, name) ?? (taken.has(name) ? `There is a ${entry.kind} ${name} already` : null);
  const submit = async () => {
    if (problem !== null) return;
    setBusy(true);
    try {
      await performVerb(api, "branch.restore", { kind: entry.kind, id: entry.id, as: name });
      onClose();
    } catch (error) {
      setFailure(toErrorView(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={`Restore ${trashPlace(entry)}`}
      description={
        taken.has(entry.name)
          ? `Another ${entry.kind} is called ${entry.name} now: choose another name.`
          : "It comes back with everything it had."
      }
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={problem !== null} busy={busy ? "Restoring…" : null}>
            Restore as {name}
          </Button>
        </>
      }
    >
      <Field
        label="Name"
        value={name}
        problem={problem}
        onChange={(event) => setTyped(event.target.value)}
        onFocus={(event) => event.target.select()}
      />
      {failure ? <ErrorPanel error={failure} /> : null}
    </Dialog>
  );
}
