import { homedir } from "node:os";
import { join } from "node:path";

/** Fields of requests that hold a path somebody may have typed. */
const FIELDS: ReadonlySet<string> = new Set(["spec", "from", "file"]);

/** A request with `~` and `~/…` as the home folder, as the screens print it. */
export function readTypedPaths(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return input;
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, FIELDS.has(name) ? readPath(value) : (value as unknown)]));
}

function readPath(value: unknown): unknown {
  return typeof value === "string" && (value === "~" || value.startsWith("~/")) ? join(homedir(), value.slice(1)) : value;
}
