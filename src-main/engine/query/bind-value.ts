import type { DataValue } from "#shared/query-views.ts";
import { EngineError } from "../io/errors.ts";
import type { Bound } from "./read-rows.ts";

export interface Binding {
  /** What stands in the SQL for it: has no affinity, like a parameter. */
  readonly sql: string;
  readonly value: Bound;
}

const INTEGER_MIN = -(2n ** 63n);
const INTEGER_MAX = 2n ** 63n - 1n;

/** A value that a client gives (back), for a statement. Throws `bad-argument` for one that was cut, or is no value. */
export function bindValue(value: DataValue): Binding {
  if (value === null || typeof value === "string") return { sql: "?", value };
  // A JavaScript number would be bound as a real.
  if (typeof value === "number") return { sql: "?", value: Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value };
  if ("integer" in value) {
    const integer = BigInt(value.integer);
    if (integer < INTEGER_MIN || integer > INTEGER_MAX) throw new EngineError("bad-argument", `${value.integer} is no 64-bit integer`);
    return { sql: "?", value: integer };
  }
  if ("real" in value) return { sql: "?", value: Number(value.real) };
  if ("text" in value) throw new EngineError("bad-argument", `A text of ${value.bytes} bytes was cut: the whole one is needed here`);
  const bytes = Buffer.from("blob" in value ? value.blob : value.invalidText, "hex");
  if (bytes.length !== value.bytes)
    throw new EngineError("bad-argument", `A value of ${value.bytes} bytes was cut: the whole one is needed here`);
  // The plus takes away the affinity that a cast has.
  return { sql: "blob" in value ? "?" : "+CAST(? AS TEXT)", value: bytes };
}
