import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useState, type ReactNode, type SubmitEvent } from "react";
import { IconButton } from "./button.tsx";
import { cx } from "./cx.ts";

/** To what had the keyboard before; when that is gone (a menu's item), to the pane on the screen. */
function giveBackFocus(opener: Element | null): void {
  const target =
    opener instanceof HTMLElement && opener.isConnected && opener !== document.body ? opener : document.querySelector("[data-pane-focus]");
  if (target instanceof HTMLElement) target.focus();
}

/**
 * A form that floats. Enter submits, Escape and a click outside close it. `footer` holds the buttons; the submitting one
 * needs `type="submit"`.
 */
export function Dialog(props: {
  readonly title: string;
  readonly description?: ReactNode;
  readonly onClose: () => void;
  readonly onSubmit?: () => void;
  readonly footer?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}) {
  // Taken while rendering: by the time Radix looks, a field of this dialog may have the keyboard already.
  const [opener] = useState(() => document.activeElement);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    props.onSubmit?.();
  };
  return (
    <Radix.Root open onOpenChange={(open) => !open && props.onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/25" />
        <Radix.Content
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            giveBackFocus(opener);
          }}
          // Without a field that takes the keyboard the dialog itself does, not its close button.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            if (event.target instanceof HTMLElement) event.target.focus();
          }}
          {...(props.description ? {} : { "aria-describedby": undefined })}
          className={cx(
            "float outline-none fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100vh-32px)] max-w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 flex-col",
            props.wide ? "w-160" : "w-112",
          )}
        >
          <header className="flex items-start gap-2 px-4 pt-3.5">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-md font-semibold">{props.title}</Radix.Title>
              {props.description ? <Radix.Description className="text-xs text-ink-2">{props.description}</Radix.Description> : null}
            </div>
            <IconButton icon={X} label="Close" onClick={props.onClose} />
          </header>
          <form onSubmit={submit} className="flex min-h-0 flex-1 flex-col">
            <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-4 py-3">{props.children}</div>
            {props.footer ? (
              <footer className="flex items-center justify-end gap-2 border-t border-line px-4 py-3">{props.footer}</footer>
            ) : null}
          </form>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
