/** A failed assertion is a bug in Coppice, never a user's mistake: those are `EngineError`s. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Closes a switch over a union: a new member makes every such switch a type error. */
export function assertNever(value: never): never {
  throw new Error(`assertion failed: unexpected value ${String(value)}`);
}
