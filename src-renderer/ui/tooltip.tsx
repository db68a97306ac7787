import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Kbd } from "./kbd.tsx";

/** A label for what shows none. Never the only way to read something. */
export function Tooltip(props: {
  readonly text: string;
  readonly shortcut?: string | undefined;
  readonly side?: "top" | "right" | "bottom";
  readonly children: ReactNode;
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{props.children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={props.side ?? "bottom"}
          sideOffset={6}
          collisionPadding={8}
          className="float z-60 flex max-w-96 items-center gap-2 px-2 py-1 text-xs"
        >
          {props.text}
          {props.shortcut ? <Kbd shortcut={props.shortcut} /> : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export const TooltipProvider = Radix.Provider;
