/** What somebody typed, as a value; it follows what SQLite would make of it in a column of the declared type. */
import type { DataValue } from "#shared/query-views.ts";
import { isNumber } from "#shared/row-text.ts";
import { isBlob, sqlLiteral } from "#shared/sql-literal.ts";
import { plainText } from "./copy-values.ts";

export type Parsed = { readonly value: DataValue; readonly problem: null } | { readonly value: null; readonly problem: string };
export type ValueKind = "text" | "integer" | "real" | "blob" | "null";

const INTEGER_MIN = -(2n ** 63n);
const INTEGER_MAX = 2n ** 63n - 1n;
const INTEGER = /^[+-]?\d+$/;
const REAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)inf(inity)?$/i;
const HEX = /^x'((?:[0-9a-f]{2})*)'$/i;

type Affinity = "text" | "integer" | "real" | "numeric" | "none";

/** Source: https://www.sqlite.org/datatype3.html, "Determination Of Column Affinity"; ANY converts nothing, as in STRICT tables. */
function affinityOf(type: string): Affinity {
  if (/int/i.test(type)) return "integer";
  if (/char|clob|text/i.test(type)) return "text";
  if (type === "" || /blob|^any$/i.test(type)) return "none";
  return /real|floa|doub/i.test(type) ? "real" : "numeric";
}

/** `old`: what the cell held; where the column converts nothing, a number stays a number and bytes stay bytes. */
export function parseTyped(text: string, type: string, old: DataValue): Parsed {
  const affinity = affinityOf(type);
  if (affinity === "text") return given(text);
  if (affinity === "none") {
    const bytes = HEX.exec(text.trim());
    if (bytes) return blobOf(bytes[1] ?? "");
    if (!isNumber(old)) return given(text);
  }
  const typed = text.trim();
  if (affinity !== "real" && INTEGER.test(typed)) return parseAs(typed, "integer");
  if (REAL.test(typed) || INFINITE.test(typed)) return parseAs(typed, "real");
  return given(text);
}

/** A value as it is typed in one line. */
export function typedText(value: DataValue): string {
  return isBlob(value) ? sqlLiteral(value) : plainText(value);
}

/** As exactly this kind of value. */
export function parseAs(text: string, kind: ValueKind): Parsed {
  const typed = text.trim();
  if (kind === "null") return given(null);
  if (kind === "text") return given(text);
  if (kind === "integer") {
    if (!INTEGER.test(typed)) return wrong(`"${typed.slice(0, 40)}" is no whole number`);
    const integer = BigInt(typed);
    if (integer < INTEGER_MIN || integer > INTEGER_MAX) return wrong(`${typed.slice(0, 40)} does not fit into 64 bits`);
    return given(Number.isSafeInteger(Number(integer)) ? Number(integer) : { integer: integer.toString() });
  }
  if (kind === "real") return parseReal(typed);
  const hex = typed.replace(/^x'(.*)'$/is, "$1").replaceAll(/\s+/g, "");
  if (!/^([0-9a-f]{2})*$/i.test(hex)) return wrong("Bytes are written as pairs of hex digits: 00 ff 1e");
  return blobOf(hex);
}

function parseReal(typed: string): Parsed {
  const infinite = INFINITE.exec(typed);
  const value = infinite ? (infinite[1] === "-" ? -Infinity : Infinity) : REAL.test(typed) ? Number(typed) : Number.NaN;
  if (Number.isNaN(value)) return wrong(`"${typed.slice(0, 40)}" is no number`);
  if (Number.isFinite(value) && !Number.isInteger(value)) return given(value);
  if (Object.is(value, -0)) return given({ real: "-0.0" });
  const text = String(value);
  return given({ real: /^-?\d+$/.test(text) ? `${text}.0` : text });
}

function blobOf(hex: string): Parsed {
  return given({ blob: hex.toLowerCase(), bytes: hex.length / 2 });
}

function given(value: DataValue): Parsed {
  return { value, problem: null };
}

function wrong(problem: string): Parsed {
  return { value: null, problem };
}

export function kindOf(value: DataValue): ValueKind {
  if (value === null) return "null";
  if (typeof value === "string") return "text";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "real";
  if ("integer" in value) return "integer";
  if ("real" in value) return "real";
  return "blob" in value ? "blob" : "text";
}
