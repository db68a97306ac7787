import { ChevronDown, type LucideIcon } from "lucide-react";
import { useId, type InputHTMLAttributes, type ReactNode, type Ref, type SelectHTMLAttributes } from "react";
import { cx } from "./cx.ts";

const BOX =
  "flex h-control min-w-0 items-center gap-1.5 rounded-md border bg-raised px-2 focus-within:outline-2 focus-within:outline-focus";

export interface TextInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "size"> {
  readonly icon?: LucideIcon;
  /** Shown at the right end inside the box: a unit, "free", a shortcut. */
  readonly trailing?: ReactNode;
  readonly invalid?: boolean;
  readonly boxClassName?: string;
  readonly ref?: Ref<HTMLInputElement>;
}

export function TextInput({ icon: Icon, trailing, invalid = false, boxClassName, className, ...rest }: TextInputProps) {
  return (
    <span className={cx(BOX, invalid ? "border-bad" : "border-line-strong", boxClassName)}>
      {Icon ? <Icon size={14} aria-hidden className="shrink-0 text-ink-3" /> : null}
      <input
        spellCheck={false}
        autoComplete="off"
        {...rest}
        aria-invalid={invalid || undefined}
        className={cx("min-w-0 flex-1 bg-transparent text-sm outline-none placeholder:text-ink-3 disabled:text-ink-off", className)}
      />
      {trailing ? <span className="shrink-0 text-xs text-ink-3">{trailing}</span> : null}
    </span>
  );
}

/** A labelled input with what is wrong with it, or a hint, beneath. */
export function Field({
  label,
  problem,
  hint,
  ...input
}: Omit<TextInputProps, "id" | "invalid"> & { readonly label: string; readonly problem?: string | null; readonly hint?: ReactNode }) {
  const id = useId();
  const below = problem ?? hint;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-xs text-ink-2">
        {label}
      </label>
      <TextInput id={id} invalid={Boolean(problem)} aria-describedby={below ? `${id}-below` : undefined} {...input} />
      {below ? (
        <div id={`${id}-below`} role={problem ? "alert" : undefined} className={cx("text-xs", problem ? "text-bad" : "text-ink-3")}>
          {below}
        </div>
      ) : null}
    </div>
  );
}

export function SelectField({
  label,
  hint,
  children,
  className,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & { readonly label: string; readonly hint?: ReactNode }) {
  const id = useId();
  return (
    <div className={cx("flex min-w-0 flex-col gap-1", className)}>
      <label htmlFor={id} className="text-xs text-ink-2">
        {label}
      </label>
      <span className="relative flex">
        <select
          id={id}
          {...rest}
          className="name-cut h-control w-full min-w-0 appearance-none rounded-md border border-line-strong bg-raised pr-7 pl-2 text-sm hover:bg-hover"
        >
          {children}
        </select>
        <ChevronDown size={14} aria-hidden className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 text-ink-2" />
      </span>
      {hint ? <div className="text-xs text-ink-3">{hint}</div> : null}
    </div>
  );
}

export function CheckField({
  label,
  hint,
  ...rest
}: Omit<InputHTMLAttributes<HTMLInputElement>, "type"> & { readonly label: ReactNode; readonly hint?: ReactNode }) {
  return (
    <label className="flex items-start gap-2 text-sm">
      <input type="checkbox" {...rest} className="mt-0.75 size-3.5 shrink-0 accent-accent" />
      <span>
        {label}
        {hint ? <span className="block text-xs text-ink-3">{hint}</span> : null}
      </span>
    </label>
  );
}
