import { FolderOpen, FolderPlus, Wrench } from "lucide-react";
import { useState } from "react";
import type { ErrorView } from "#shared/error-codes.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { ErrorPanel } from "../ui/states.tsx";

interface StoreFormProps {
  readonly folder: string;
  readonly error: ErrorView | null;
  readonly home: string;
  readonly busy: boolean;
  readonly onOpen: (folder: string, create?: boolean) => void;
  /** Gives the store a new catalog, and opens it. */
  readonly onRepair: (folder: string) => void;
  readonly onClose: () => void;
}

/** Opens the store in a folder; where there is none, offers to make it there. Nothing is created without being asked for. */
export function StoreForm({ folder, error, home, busy, onOpen, onRepair, onClose }: StoreFormProps) {
  const [typed, setTyped] = useState(folder);
  const trimmed = typed.trim();
  const damaged = error?.code === "store-corrupt" && trimmed === folder;
  const missing = error?.code === "store-not-found" && trimmed === folder;
  return (
    <form
      className="flex max-w-140 flex-col gap-4 p-6"
      onSubmit={(event) => {
        event.preventDefault();
        if (trimmed !== "") onOpen(trimmed, missing);
      }}
    >
      <header>
        <h2 className="text-md font-semibold">Open or create a store</h2>
        <p className="text-xs text-ink-2">A store is a folder that holds databases, their branches and the working files.</p>
      </header>
      <Field
        label="Folder on the machine that runs Coppice"
        autoFocus
        value={typed}
        placeholder={`${home}/shop.coppice`}
        hint={missing ? "There is no store in this folder yet." : null}
        onChange={(event) => setTyped(event.target.value)}
      />
      {error && !missing ? <ErrorPanel error={error} onRetry={error.retryable ? () => onOpen(folder) : null} /> : null}
      {damaged ? (
        <p className="text-xs text-ink-2">
          Repair makes a new catalog of what segments and checkouts prove: versions, and the branches whose files are there. Names of
          checkpoints and the operation log are lost with the old catalog, which is kept. No working file is changed.
        </p>
      ) : null}
      <div className="flex gap-2">
        {damaged ? (
          <Button variant="primary" icon={Wrench} busy={busy ? "Repairing…" : null} onClick={() => onRepair(folder)}>
            Repair
          </Button>
        ) : null}
        <Button
          type="submit"
          variant={damaged ? "default" : "primary"}
          icon={missing ? FolderPlus : FolderOpen}
          disabled={trimmed === ""}
          busy={busy ? (missing ? "Creating…" : "Opening…") : null}
        >
          {missing ? "Create a store here" : "Open"}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
