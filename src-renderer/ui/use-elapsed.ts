import { useEffect, useState } from "react";

const TICK_MS = 100;

/** Milliseconds since `startedAt`, by `performance.now`; renders ten times a second. */
export function useElapsed(startedAt: number): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, now - startedAt);
}
