import { assertNever } from "#shared/assert.ts";
import { useAppState } from "../app-state.ts";
import { Palette } from "../shell/palette.tsx";
import { ShortcutsDialog } from "../shell/shortcuts-dialog.tsx";
import { CheckpointDialog } from "./checkpoint-dialog.tsx";
import { ExpireDialog } from "./expire-dialog.tsx";
import { ForkDialog } from "./fork-dialog.tsx";
import { PromoteDialog } from "./promote-dialog.tsx";
import { RenameCheckpointDialog } from "./rename-checkpoint-dialog.tsx";
import { RollbackDialog } from "./rollback-dialog.tsx";
import { StatusDialog } from "./status-dialog.tsx";

/** The one dialog that may be open. */
export function DialogHost() {
  const dialog = useAppState((state) => state.dialog);
  if (!dialog) return null;
  switch (dialog.kind) {
    case "palette":
      return <Palette />;
    case "shortcuts":
      return <ShortcutsDialog />;
    case "fork":
      return <ForkDialog branch={dialog.branch} {...(dialog.at === undefined ? {} : { at: dialog.at })} />;
    case "checkpoint":
      return <CheckpointDialog branch={dialog.branch} />;
    case "rollback":
      return <RollbackDialog branch={dialog.branch} />;
    case "promote":
      return <PromoteDialog branch={dialog.branch} {...(dialog.onto === undefined ? {} : { onto: dialog.onto })} />;
    case "expire":
      return <ExpireDialog branches={dialog.branches} />;
    case "status":
      return <StatusDialog branches={dialog.branches} />;
    case "rename-checkpoint":
      return <RenameCheckpointDialog branch={dialog.branch} name={dialog.name} />;
    default:
      return assertNever(dialog);
  }
}
