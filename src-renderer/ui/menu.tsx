import type { LucideIcon } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import { cx } from "./cx.ts";
import { Kbd } from "./kbd.tsx";

/** One line of a menu. `separator` draws a line above the group that follows. */
export type MenuEntry =
  | {
      readonly kind: "item";
      readonly id: string;
      readonly label: string;
      readonly icon?: LucideIcon | undefined;
      readonly shortcut?: string | undefined;
      readonly disabled?: boolean | undefined;
      readonly danger?: boolean | undefined;
      readonly checked?: boolean | undefined;
      readonly run: () => void;
    }
  | { readonly kind: "separator"; readonly id: string };

function MenuList({
  entries,
  label,
  align,
}: {
  readonly entries: readonly MenuEntry[];
  readonly label: string;
  readonly align: "start" | "end";
}) {
  return (
    <DropdownMenu.Portal>
      <DropdownMenu.Content
        aria-label={label}
        align={align}
        sideOffset={4}
        collisionPadding={8}
        loop
        className="float z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 overflow-y-auto p-1"
      >
        {entries.map((entry) =>
          entry.kind === "separator" ? (
            <DropdownMenu.Separator key={entry.id} className="mx-1 my-1 h-px bg-line" />
          ) : (
            <DropdownMenu.Item
              key={entry.id}
              disabled={entry.disabled ?? false}
              onSelect={entry.run}
              className={cx("menu-item", entry.danger && "text-bad")}
              {...(entry.checked === undefined ? {} : { role: "menuitemcheckbox", "aria-checked": entry.checked })}
            >
              {entry.checked === undefined ? (
                entry.icon ? (
                  <entry.icon size={14} aria-hidden className="shrink-0 opacity-75" />
                ) : (
                  <span className="w-3.5" />
                )
              ) : (
                <span aria-hidden className="w-3.5 text-center">
                  {entry.checked ? "✓" : ""}
                </span>
              )}
              <span className="name-cut">{entry.label}</span>
              {entry.shortcut ? <Kbd shortcut={entry.shortcut} className="ml-auto pl-6" /> : null}
            </DropdownMenu.Item>
          ),
        )}
      </DropdownMenu.Content>
    </DropdownMenu.Portal>
  );
}

/** A menu that hangs on the control given as its child. */
export function Menu(props: {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly align?: "start" | "end";
  readonly children: ReactNode;
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{props.children}</DropdownMenu.Trigger>
      <MenuList entries={props.entries} label={props.label} align={props.align ?? "start"} />
    </DropdownMenu.Root>
  );
}

/** A menu at a point of the window: for right-click, the row's "…" and the keyboard alike. Null keeps it closed. */
export function MenuAt(props: {
  readonly label: string;
  readonly at: { readonly x: number; readonly y: number } | null;
  readonly entries: readonly MenuEntry[];
  readonly onClose: () => void;
}) {
  if (!props.at) return null;
  return (
    <DropdownMenu.Root open onOpenChange={(open) => !open && props.onClose()}>
      <DropdownMenu.Trigger asChild>
        <span aria-hidden className="pointer-events-none fixed size-0" style={{ left: props.at.x, top: props.at.y }} />
      </DropdownMenu.Trigger>
      <MenuList entries={props.entries} label={props.label} align="start" />
    </DropdownMenu.Root>
  );
}
