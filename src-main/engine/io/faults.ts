/**
 * Named points between durable steps, where tests stop the world. A point costs one comparison when no test asks.
 * `COPPICE_FAULT=checkpoint:segment-written:kill` kills this process with SIGKILL the first time the point is reached;
 * `…:kill:3` the third time. In-process tests install `setFaultHandler` instead.
 */
export const FAULT_POINTS = [
  "segment:part-written",
  "segment:synced",
  "segment:published",
  "commit:begun",
  "commit:applied",
  "commit:done",
  "import:copied",
  "import:stored",
  "checkpoint:captured",
  "checkpoint:stored",
  "checkpoint:committed",
  "move:autosaved",
  "move:committed",
  "materialise:written",
  "materialise:renamed",
  "patch:folded",
  "patch:written",
  "patch:renamed",
  "patch:done",
  "merge:written",
  "merge:committed",
  "pool:filled",
  "pool:taken",
  "retire:moved",
  "gc:committed",
  "gc:damage-removed",
  "gc:file-removed",
] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

type FaultHandler = (point: FaultPoint) => void;
let handler: FaultHandler | null = handlerFromEnvironment(process.env["COPPICE_FAULT"]);

export function reach(point: FaultPoint): void {
  if (handler) handler(point);
}

export function setFaultHandler(next: FaultHandler | null): void {
  handler = next;
}

function handlerFromEnvironment(text: string | undefined): FaultHandler | null {
  const match = /^(.+):kill(?::(\d+))?$/.exec(text ?? "");
  if (!match) return null;
  let left = Number(match[2] ?? 1);
  return (point) => {
    if (point !== match[1]) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  };
}
