import { homedir } from "node:os";
import { join } from "node:path";

/** Fields of requests that hold a path somebody may have typed, and those that hold more of them. */
const FIELDS: ReadonlySet<string> = new Set(["spec", "from", "file"]);
const SIDES: ReadonlySet<string> = new Set(["left", "right"]);

/** A request with `~` and `~/…` as the home folder, as the screens print it. */
export function readTypedPaths(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      if (SIDES.has(name)) return [name, readSide(value)];
      return [name, FIELDS.has(name) ? readPath(value) : (value as unknown)];
    }),
  );
}

/** A side of a comparison may be a file. */
function readSide(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("path" in value)) return value;
  return { ...value, path: readPath(value.path) };
}

function readPath(value: unknown): unknown {
  return typeof value === "string" && (value === "~" || value.startsWith("~/")) ? join(homedir(), value.slice(1)) : value;
}
