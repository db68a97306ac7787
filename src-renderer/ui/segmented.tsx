import type { LucideIcon } from "lucide-react";
import { ToggleGroup } from "radix-ui";
import { cx } from "./cx.ts";

export interface Segment<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly icon?: LucideIcon;
}

/** One of a few: always exactly one is on. */
export function Segmented<T extends string>(props: {
  readonly label: string;
  readonly value: T;
  readonly segments: readonly Segment<T>[];
  readonly onChange: (value: T) => void;
  readonly size?: "md" | "sm";
}) {
  return (
    <ToggleGroup.Root
      type="single"
      aria-label={props.label}
      value={props.value}
      onValueChange={(value) => value !== "" && props.onChange(value as T)}
      className={cx(
        "inline-flex shrink-0 rounded-md border border-line-strong bg-raised",
        props.size === "sm" ? "h-control-sm text-xs" : "h-control text-sm",
      )}
    >
      {props.segments.map(({ value, label, icon: Icon }) => (
        <ToggleGroup.Item
          key={value}
          value={value}
          className="flex items-center gap-1.5 border-r border-line px-2.5 text-ink-2 first:rounded-l-[4px] last:rounded-r-[4px] last:border-r-0 hover:bg-hover data-[state=on]:bg-selected-quiet data-[state=on]:font-medium data-[state=on]:text-ink"
        >
          {Icon ? <Icon size={14} aria-hidden /> : null}
          {label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}
