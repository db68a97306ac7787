import { formatBytes } from "#shared/units.ts";
import { GcDialog } from "../dialogs/gc-dialog.tsx";
import { showToast } from "../ui/toasts.ts";

const ALL = { purgeAllTrash: true };

export function EmptyTrashDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <GcDialog
      title="Empty the trash?"
      description="Everything in it is removed for good. This cannot be undone. Branches that are not in the trash are not touched."
      remove={ALL}
      keepLabel="Keep everything"
      confirmLabel={() => "Purge for good"}
      busyLabel="Emptying…"
      onDone={(report) => showToast({ text: `Emptied the trash: ${formatBytes(report.bytesFreed)} freed`, tone: "plain" })}
      onClose={onClose}
    />
  );
}
