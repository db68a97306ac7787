/** Programs of others that are measured beside ours where they happen to be installed; none is required. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Bench } from "../suite.ts";

export interface Peer {
  readonly name: string;
  readonly path: string;
  /** First line of what it says about its version; "unknown" when it says nothing. */
  readonly version: string;
}

/** How each is asked for its version. */
const QUESTIONS = {
  offshoot: ["version"],
  sqlite3: ["--version"],
  sqldiff: ["--version"],
  cp: ["--version"],
} as const;
export type PeerName = keyof typeof QUESTIONS;
export const PEER_NAMES: readonly PeerName[] = ["offshoot", "sqlite3", "sqldiff", "cp"];

const VERSION_MS_MAX = 10_000;

/** Null when it is not on PATH, or does not run. */
export function findPeer(name: PeerName, path = process.env["PATH"] ?? ""): Peer | null {
  const program = findOnPath(name, path);
  if (program === null) return null;
  const { stdout, error } = spawnSync(program, QUESTIONS[name], { encoding: "utf8", timeout: VERSION_MS_MAX });
  if (error) return null;
  const version = stdout.split("\n")[0]?.trim() ?? "";
  // sqldiff knows no such option: that it ran is enough.
  return { name, path: program, version: version === "" ? "unknown" : version };
}

function findOnPath(name: string, path: string): string | null {
  for (const folder of path.split(delimiter)) {
    // An empty entry means the working folder, which is nobody's to run programs from.
    if (folder === "") continue;
    const candidate = join(folder, name);
    if (isProgram(candidate)) return candidate;
  }
  return null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Which there are on this machine, as facts of the step. */
export function notePeers(bench: Bench): void {
  for (const name of PEER_NAMES) bench.fact(name, findPeer(name)?.version ?? "not on PATH");
}

export const missingPeer = (name: PeerName): string => `${name} is not on PATH`;
