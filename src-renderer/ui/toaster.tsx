import { Check, TriangleAlert, Undo2, X } from "lucide-react";
import { useStore } from "../external-store.ts";
import { Button, IconButton } from "./button.tsx";
import { ErrorPanel } from "./states.tsx";
import { dismissToast, toasts, type Toast } from "./toasts.ts";

function ToastCard({ toast }: { readonly toast: Toast }) {
  const act = toast.action
    ? () => {
        dismissToast(toast.id);
        toast.action?.run();
      }
    : null;
  if (toast.error) {
    return (
      <div className="float pointer-events-auto w-160 max-w-full bg-bad-bg p-2.5">
        <ErrorPanel
          bare
          error={toast.error}
          onRetry={act}
          {...(toast.action ? { retryLabel: toast.action.label } : {})}
          extra={
            <Button size="sm" onClick={() => dismissToast(toast.id)}>
              Dismiss
            </Button>
          }
        />
      </div>
    );
  }
  const Icon = toast.tone === "warn" ? TriangleAlert : Check;
  return (
    <div role="status" className="float pointer-events-auto flex min-h-10 max-w-full items-center gap-3 py-1.5 pr-1.5 pl-3">
      <Icon size={16} aria-hidden className={toast.tone === "warn" ? "shrink-0 text-warn" : "shrink-0 text-ink-2"} />
      <div className="min-w-0 text-sm wrap-anywhere">
        {toast.text}
        {toast.detail ? <div className="text-xs text-ink-2">{toast.detail}</div> : null}
      </div>
      {toast.action && act ? (
        <Button
          size="sm"
          {...(toast.action.label === "Undo" ? { icon: Undo2 } : {})}
          {...(toast.action.shortcut ? { shortcut: toast.action.shortcut } : {})}
          onClick={act}
        >
          {toast.action.label}
        </Button>
      ) : null}
      <IconButton icon={X} label="Dismiss" onClick={() => dismissToast(toast.id)} />
    </div>
  );
}

/** Where toasts appear: bottom centre, above the status bar and above what a screen has docked there (`data-dock`). */
export function Toaster() {
  const list = useStore(toasts, (state) => state.list);
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-14 z-60 in-[:has([data-dock])]:bottom-28 flex flex-col items-center gap-2"
    >
      {list.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  );
}
