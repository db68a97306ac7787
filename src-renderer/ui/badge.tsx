import { Check, CircleDot, LoaderCircle, Minus, TriangleAlert, X, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "./cx.ts";

export type Tone = "ok" | "bad" | "warn" | "info" | "busy";

const TONES: Readonly<Record<Tone, string>> = {
  ok: "bg-ok-bg text-ok",
  bad: "bg-bad-bg text-bad",
  warn: "bg-warn-bg text-warn",
  info: "bg-info-bg text-info",
  busy: "bg-busy-bg text-busy",
};

export function Badge(props: { readonly tone: Tone; readonly icon?: LucideIcon; readonly title?: string; readonly children: ReactNode }) {
  const Icon = props.icon;
  return (
    <span
      title={props.title}
      className={cx(
        "inline-flex h-4.5 max-w-full shrink-0 items-center gap-1 rounded-sm pr-1.5 pl-1.25 text-2xs font-medium whitespace-nowrap",
        TONES[props.tone],
      )}
    >
      {Icon ? <Icon size={12} strokeWidth={2.2} aria-hidden className="shrink-0" /> : null}
      <span className="name-cut">{props.children}</span>
    </span>
  );
}

const STATUSES: Readonly<Record<string, { readonly tone: Tone; readonly icon: LucideIcon; readonly word: string }>> = {
  pass: { tone: "ok", icon: Check, word: "Pass" },
  fail: { tone: "bad", icon: X, word: "Fail" },
  running: { tone: "busy", icon: LoaderCircle, word: "Running" },
};

/** A branch's own label (`meta.status`): icon, word and colour for the known three, the word alone for any other. */
export function StatusBadge({ status }: { readonly status: string }) {
  const known = STATUSES[status];
  return (
    <Badge tone={known?.tone ?? "busy"} icon={known?.icon ?? Minus} title={`status: ${status}`}>
      {known?.word ?? status}
    </Badge>
  );
}

/** Work in the file that no version holds, and the case where the head moved meanwhile. */
export function FileBadge({ state }: { readonly state: "unsaved" | "conflict" | "missing" }) {
  if (state === "unsaved")
    return (
      <Badge tone="warn" icon={CircleDot}>
        Unsaved
      </Badge>
    );
  if (state === "conflict")
    return (
      <Badge tone="bad" icon={TriangleAlert}>
        Conflict
      </Badge>
    );
  return (
    <Badge tone="warn" icon={TriangleAlert}>
      Missing
    </Badge>
  );
}

/** A toggle with a count: a ready-made filter. */
export function Chip(props: {
  readonly on?: boolean;
  readonly icon?: LucideIcon;
  readonly count?: string;
  readonly onClick: () => void;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const Icon = props.icon;
  return (
    <button
      type="button"
      aria-pressed={props.on ?? false}
      onClick={props.onClick}
      className={cx(
        "inline-flex h-6 shrink-0 items-center gap-1.5 rounded-md border px-2 text-xs whitespace-nowrap hover:bg-hover",
        props.on ? "border-line-strong bg-selected-quiet font-medium text-ink" : "border-line text-ink-2",
        props.className,
      )}
    >
      {Icon ? <Icon size={12} strokeWidth={2.2} aria-hidden /> : null}
      {props.children}
      {props.count === undefined ? null : <b className="font-medium text-ink tabular-nums">{props.count}</b>}
    </button>
  );
}
