import { Popover as Radix } from "radix-ui";
import type { ReactNode } from "react";

/** Something to read or act on, hung on the control given as `trigger`. */
export function Popover(props: {
  readonly label: string;
  readonly trigger: ReactNode;
  readonly side?: "top" | "bottom";
  readonly align?: "start" | "end";
  readonly children: ReactNode;
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{props.trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={props.label}
          side={props.side ?? "bottom"}
          align={props.align ?? "start"}
          sideOffset={6}
          collisionPadding={8}
          className="float z-50 max-w-[calc(100vw-32px)] p-3"
        >
          {props.children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
