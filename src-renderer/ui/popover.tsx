import { Popover as Radix } from "radix-ui";
import { useState, type ReactNode } from "react";
import { cx } from "./cx.ts";

/** Something to read or act on, hung on the control given as `trigger`. A function as `children` is given how to close it. */
export function Popover(props: {
  readonly label: string;
  readonly trigger: ReactNode;
  readonly side?: "top" | "bottom";
  readonly align?: "start" | "end";
  /** In place of the usual padding. */
  readonly className?: string;
  readonly children: ReactNode | ((close: () => void) => ReactNode);
}) {
  const { children } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <Radix.Root open={isOpen} onOpenChange={setOpen}>
      <Radix.Trigger asChild>{props.trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={props.label}
          side={props.side ?? "bottom"}
          align={props.align ?? "start"}
          sideOffset={6}
          collisionPadding={8}
          className={cx("float z-50 max-w-[calc(100vw-32px)]", props.className ?? "p-3")}
        >
          {typeof children === "function" ? children(() => setOpen(false)) : children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
