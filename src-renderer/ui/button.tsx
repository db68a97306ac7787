import { ChevronDown, LoaderCircle, type LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { cx } from "./cx.ts";
import { Kbd } from "./kbd.tsx";
import { Menu, type MenuEntry } from "./menu.tsx";
import { Tooltip } from "./tooltip.tsx";

export type ButtonVariant = "default" | "primary" | "ghost" | "danger";
export type ButtonSize = "md" | "sm";

const VARIANTS: Readonly<Record<ButtonVariant, string>> = {
  default: "border-line-strong bg-raised text-ink hover:bg-hover",
  primary: "border-accent bg-accent text-accent-ink hover:border-accent-hover hover:bg-accent-hover",
  ghost: "border-transparent text-ink-2 hover:bg-selected-quiet",
  danger: "border-line-strong bg-raised text-bad hover:bg-bad-bg",
};
/** What a toggle that is on looks like, without a word beside it. */
const ON = "aria-pressed:bg-selected-quiet aria-pressed:text-ink";
const OFF = "disabled:bg-transparent disabled:text-ink-off";
/** What is off has a quiet outline, unless it never had one. */
const outlineOff = (variant: ButtonVariant): string => (variant === "ghost" ? "" : "disabled:border-line");
const SHAPE =
  "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors duration-(--fast) select-none";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: ButtonVariant;
  readonly size?: ButtonSize;
  readonly icon?: LucideIcon;
  readonly shortcut?: string;
  /** Names the act under way ("Forking…"); the button stays where it is and cannot be pressed. */
  readonly busy?: string | null | undefined;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({
  variant = "default",
  size = "md",
  icon: Icon,
  shortcut,
  busy,
  className,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  const sizing = size === "md" ? "h-control px-2.5 text-sm" : "h-control-sm px-2 text-xs";
  return (
    <button
      type="button"
      {...rest}
      aria-busy={busy ? true : undefined}
      disabled={disabled || Boolean(busy)}
      className={cx(SHAPE, VARIANTS[variant], busy ? "" : cx(OFF, outlineOff(variant)), sizing, className)}
    >
      {busy ? (
        <LoaderCircle size={14} className="animate-[turn_1s_linear_infinite]" aria-hidden />
      ) : Icon ? (
        <Icon size={14} aria-hidden />
      ) : null}
      {busy ?? children}
      {shortcut && !busy ? <Kbd shortcut={shortcut} /> : null}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, "children" | "busy"> {
  readonly icon: LucideIcon;
  /** Spoken name and tooltip. */
  readonly label: string;
}

export function IconButton({ variant = "ghost", size = "sm", icon: Icon, label, shortcut, className, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} shortcut={shortcut}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        className={cx(
          SHAPE,
          VARIANTS[variant],
          ON,
          OFF,
          outlineOff(variant),
          size === "md" ? "size-control" : "size-control-sm",
          className,
        )}
      >
        <Icon size={size === "md" ? 16 : 14} aria-hidden />
      </button>
    </Tooltip>
  );
}

/** The usual act, and its variants behind the arrow. */
export function SplitButton(props: {
  readonly variant?: "default" | "primary";
  readonly icon?: LucideIcon;
  readonly label: ReactNode;
  readonly menuLabel: string;
  readonly onClick: () => void;
  readonly entries: readonly MenuEntry[];
  readonly disabled?: boolean;
  readonly className?: string;
}) {
  const variant = props.variant ?? "default";
  const shared = { variant, disabled: props.disabled ?? false };
  return (
    <span className={cx("inline-flex", props.className)}>
      <Button {...shared} {...(props.icon ? { icon: props.icon } : {})} onClick={props.onClick} className="min-w-0 flex-1 rounded-r-none">
        {props.label}
      </Button>
      <Menu label={props.menuLabel} entries={props.entries} align="end">
        <Button
          {...shared}
          aria-label={props.menuLabel}
          className={cx("-ml-px w-6 rounded-l-none px-0!", variant === "primary" && "border-l-accent-ink/35!")}
        >
          <ChevronDown size={14} aria-hidden />
        </Button>
      </Menu>
    </span>
  );
}
