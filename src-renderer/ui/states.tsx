import { CircleX, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import type { ErrorView, Holder } from "#shared/error-codes.ts";
import { describeError } from "../api/api-error.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.ts";
import { cx } from "./cx.ts";

/** Stands for text that is on its way. Invisible for the first 150 ms, so that fast answers do not flicker. */
export function Skeleton({ lines = 3, className }: { readonly lines?: number; readonly className?: string }) {
  return (
    <div role="status" aria-label="Loading" className={cx("flex animate-[appear-late_150ms] flex-col", className)}>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className="flex h-row items-center">
          <div className="h-2 rounded-sm bg-selected-quiet" style={{ width: `${38 + ((line * 37) % 45)}%` }} />
        </div>
      ))}
    </div>
  );
}

export function describeHolder(holder: Holder): string {
  return `${holder.program ?? "a process"}, pid ${holder.pid}, ${holder.access === "open" ? "has it open" : holder.access}`;
}

/** What failed, what is untouched, who holds it, Retry, Copy details. */
export function ErrorPanel(props: {
  readonly error: ErrorView;
  readonly onRetry?: (() => void) | null;
  readonly retryLabel?: string;
  readonly extra?: ReactNode;
  readonly bare?: boolean;
}) {
  const { error } = props;
  const holders = error.details.holders ?? [];
  const rest = [error.untouched, holders.length > 0 ? `Held by ${holders.map(describeHolder).join("; ")}.` : null, error.hint];
  return (
    <div
      role="alert"
      className={cx(
        "flex flex-wrap items-start gap-x-3 gap-y-2 text-xs",
        !props.bare && "rounded-lg border border-[color-mix(in_srgb,var(--bad)_45%,var(--line))] bg-bad-bg px-3 py-2.5",
      )}
    >
      <CircleX size={16} aria-hidden className="mt-px shrink-0 text-bad" />
      <div className="min-w-56 flex-1 wrap-anywhere">
        <div className="font-medium">{error.message}</div>
        {rest.some(Boolean) ? <div className="text-ink-2">{rest.filter(Boolean).join(" ")}</div> : null}
      </div>
      <div className="ml-auto flex shrink-0 gap-2">
        {props.onRetry ? (
          <Button size="sm" onClick={props.onRetry}>
            {props.retryLabel ?? "Retry"}
          </Button>
        ) : null}
        {props.extra}
        <Button size="sm" onClick={() => void copyText(describeError(error), "details")}>
          Copy details
        </Button>
      </div>
    </div>
  );
}

/** One sentence and one button. */
export function EmptyState(props: { readonly icon?: LucideIcon; readonly text: string; readonly action?: ReactNode }) {
  const Icon = props.icon;
  return (
    <div className="flex flex-1 flex-col items-center justify-center gap-3 p-8 text-center text-sm text-ink-2">
      {Icon ? <Icon size={20} aria-hidden className="text-ink-3" /> : null}
      <p className="max-w-120 text-balance">{props.text}</p>
      {props.action}
    </div>
  );
}
