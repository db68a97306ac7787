/**
 * Values and names as SQL that SQLite reads as exactly these, where there is no SQLite to ask. Scripts of comparisons and
 * exports find shorter texts by asking it: `diff/sql-literal.ts`.
 */
import type { DiffValue } from "./diff-views.ts";

const INTEGER_MIN = -(2n ** 63n);
/** Decimal digits that every reader of numbers rounds correctly, and the power of ten it takes. */
const SAFE_DIGITS = 15;
const SAFE_EXPONENT = 22;
/** Powers of two up to this one are integers of SQLite. */
const FACTOR_BITS = 62;

/** A name as SQL takes it, whatever is in it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function isBlob(value: DiffValue): value is Extract<DiffValue, { readonly blob: string }> {
  return typeof value === "object" && value !== null && "blob" in value;
}

/** Only its beginning is here. */
export function isCut(value: DiffValue): boolean {
  if (value === null || typeof value !== "object") return false;
  if ("text" in value) return true;
  if ("blob" in value) return value.blob.length !== value.bytes * 2;
  return "invalidText" in value && value.invalidText.length !== value.bytes * 2;
}

/** Throws a RangeError for a value of which only the beginning is here. */
export function sqlLiteral(value: DiffValue): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return textLiteral(value);
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : realLiteral(value);
  if ("integer" in value) return BigInt(value.integer) === INTEGER_MIN ? "(-9223372036854775807 - 1)" : value.integer;
  if ("real" in value) return realLiteral(Number(value.real));
  if ("text" in value) throw new RangeError(`Only the beginning of a text of ${value.bytes} bytes is here`);
  const hex = "blob" in value ? value.blob : value.invalidText;
  if (hex.length !== value.bytes * 2) throw new RangeError(`Only the beginning of a value of ${value.bytes} bytes is here`);
  return "blob" in value ? `X'${hex}'` : `CAST(X'${hex}' AS TEXT)`;
}

/** A NUL ends the text of a statement: it is put in between. */
function textLiteral(text: string): string {
  const parts = text.split("\0").map((part) => `'${part.replaceAll("'", "''")}'`);
  return parts.length === 1 ? (parts[0] ?? "''") : `(${parts.join(" || char(0) || ")})`;
}

/** SQLite rounds long decimals not always correctly: those are written as a whole number times a power of two. */
function realLiteral(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "9e999" : "-9e999";
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  const [digits = "", exponent = "0"] = text.replace(/[-.]/g, "").split("e");
  const isShort = digits.replace(/^0+/, "").length <= SAFE_DIGITS && Math.abs(Number(exponent)) <= SAFE_EXPONENT;
  if (!isShort) return asProduct(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function asProduct(value: number): string {
  let [whole, power] = [value, 0];
  while (!Number.isSafeInteger(whole)) {
    const isLarge = Math.abs(whole) > Number.MAX_SAFE_INTEGER;
    whole = isLarge ? whole / 2 : whole * 2;
    power += isLarge ? 1 : -1;
  }
  if (power === 0) return `CAST(${whole} AS REAL)`;
  const factors = Array.from({ length: Math.floor(Math.abs(power) / FACTOR_BITS) }, () => FACTOR_BITS);
  const rest = Math.abs(power) % FACTOR_BITS;
  const sign = power > 0 ? "*" : "/";
  return `(CAST(${whole} AS REAL)${[...factors, ...(rest === 0 ? [] : [rest])].map((bits) => ` ${sign} ${2n ** BigInt(bits)}`).join("")})`;
}
