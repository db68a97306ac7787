import { Fragment, type ReactNode } from "react";
import { cx } from "./cx.ts";

export interface Fact {
  readonly label: string;
  readonly value: ReactNode;
  /** For what may be cut off. */
  readonly title?: string;
}

/** Label and value, one line each. Facts whose value is null are left out. */
export function Facts({ facts, className }: { readonly facts: readonly Fact[]; readonly className?: string }) {
  return (
    <dl className={cx("grid grid-cols-[88px_minmax(0,1fr)] text-xs", className)}>
      {facts
        .filter((fact) => fact.value !== null)
        .map((fact) => (
          <Fragment key={fact.label}>
            <dt className="name-cut leading-5.5 text-ink-3">{fact.label}</dt>
            <dd title={fact.title} className="name-cut leading-5.5 tabular-nums">
              {fact.value}
            </dd>
          </Fragment>
        ))}
    </dl>
  );
}

/** A titled part of an inspector. */
export function Section({ title, aside, children }: { readonly title: string; readonly aside?: ReactNode; readonly children: ReactNode }) {
  return (
    <section className="border-t border-line px-3 pt-2 pb-2.5">
      <div className="flex h-6 items-center justify-between gap-2 text-2xs">
        <h3 className="font-semibold text-ink-2">{title}</h3>
        <span className="name-cut text-ink-3 tabular-nums">{aside}</span>
      </div>
      {children}
    </section>
  );
}
