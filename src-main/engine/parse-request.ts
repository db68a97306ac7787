import * as v from "valibot";
import { REQUESTS, type RequestInput, type RequestName } from "#shared/contract.ts";
import { EngineError } from "./io/errors.ts";

export interface ParsedRequest {
  readonly name: RequestName;
  /** Has the shape of `RequestInput<name>`. */
  readonly input: unknown;
}

/**
 * Checks a request from outside against the contract; nothing of it is used before. Unknown requests, unknown keys and
 * wrong values are refused with `bad-argument`, names that break the rules with `bad-name`, what is no checkpoint, version
 * or time with `bad-target`.
 */
export function parseRequest(name: unknown, input: unknown): ParsedRequest {
  if (typeof name !== "string" || !isRequestName(name)) {
    throw new EngineError("bad-argument", `There is no request "${String(name).slice(0, 80)}"`);
  }
  const schema = REQUESTS[name];
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new EngineError(
      "bad-argument",
      `${name}: expected an object, found ${input === null ? "null" : Array.isArray(input) ? "an array" : typeof input}`,
    );
  }
  const unknown = Object.keys(input).find((key) => !Object.hasOwn(schema.entries, key));
  if (unknown !== undefined) throw new EngineError("bad-argument", `${name}: unknown argument "${unknown.slice(0, 80)}"`);
  const parsed = v.safeParse(schema as v.GenericSchema, input, { abortEarly: true });
  if (parsed.success) return { name, input: parsed.output };
  const issue = parsed.issues[0];
  const where = v.getDotPath(issue);
  throw new EngineError(
    issue.type === "check" ? "bad-name" : issue.type === "custom" ? "bad-target" : "bad-argument",
    `${name}${where ? `, ${where}` : ""}: ${issue.message}`,
    where ? { details: { name: where } } : {},
  );
}

/** The same for the input of a known request. */
export function parseInput<K extends RequestName>(name: K, input: unknown): RequestInput<K> {
  return parseRequest(name, input).input as RequestInput<K>;
}

function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(REQUESTS, name);
}
