import { useState } from "react";

/** The first of values that say the same: what depends on it is not done again. For small, plain objects. */
export function useSame<T extends object>(value: T): T {
  const [held, setHeld] = useState(value);
  if (JSON.stringify(held) === JSON.stringify(value)) return held;
  setHeld(value);
  return value;
}
