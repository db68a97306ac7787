import { formatBytes } from "#shared/units.ts";
import { cx } from "./cx.ts";
import { formatAge, formatCount, formatCountdown, formatIso } from "./format.ts";
import { readClock, useNow } from "./now.ts";

/** How often a figure of this size changes at most: a list of old things must not tick every second. */
function stepFor(distanceMs: number): number {
  return Math.abs(distanceMs) > 3_600_000 ? 60_000 : 1_000;
}

/** "12 min", with the ISO time on hover. `suffix` is for sentences: " ago". */
export function RelativeTime({
  at,
  suffix = "",
  className,
}: {
  readonly at: number;
  readonly suffix?: string;
  readonly className?: string;
}) {
  const now = useNow(stepFor(readClock() - at));
  const age = formatAge(Math.max(now - at, 0));
  return (
    <time dateTime={new Date(at).toISOString()} title={formatIso(at)} className={cx("tabular-nums", className)}>
      {age === "now" ? "now" : age + suffix}
    </time>
  );
}

/** "12.4 MiB", with the exact bytes on hover. */
export function Bytes({ value, className }: { readonly value: number; readonly className?: string }) {
  return (
    <span title={`${formatCount(value)} bytes`} className={cx("tabular-nums", className)}>
      {formatBytes(value)}
    </span>
  );
}

/** "1 d 04 h" until a moment; under an hour it warns. */
export function Countdown({ until, className }: { readonly until: number; readonly className?: string }) {
  const left = until - useNow(stepFor(until - readClock()));
  return (
    <time
      dateTime={new Date(until).toISOString()}
      title={formatIso(until)}
      className={cx("tabular-nums", left < 600_000 && "font-medium text-warn", className)}
    >
      {formatCountdown(left)}
    </time>
  );
}
