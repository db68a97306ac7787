/** A process that runs operations of the microbenchmarks on files of branches, while others do the same. */
import { serveCalls } from "../branchbench/calls.ts";
import { Orders, type Operation } from "./operations.ts";

export type MicroRequest =
  /** Answers when the process is there. */
  | { readonly act: "hello" }
  /** Operations on the files in turn, through one connection each. */
  | {
      readonly act: "operate";
      readonly paths: readonly string[];
      readonly operation: Operation;
      readonly count: number;
      readonly seed: number;
      readonly stream: number;
      readonly rangeRows: number;
    };
export interface MicroAnswer {
  /** Milliseconds of each operation, in order. */
  readonly each: readonly number[];
  /** Of all of them, the opening of files left out. */
  readonly ms: number;
}

function answer(request: MicroRequest): MicroAnswer {
  if (request.act === "hello") return { each: [], ms: 0 };
  const { paths, operation, count, seed, stream, rangeRows } = request;
  const connections: Orders[] = [];
  try {
    for (const [index, path] of paths.entries()) connections.push(new Orders(path, { seed, stream: stream + index, rangeRows }));
    const start = performance.now();
    const each = Array.from({ length: count }, (_, index) => connections[index % connections.length]?.time(operation) ?? 0);
    return { each, ms: performance.now() - start };
  } finally {
    for (const connection of connections) connection.close();
  }
}

serveCalls<MicroRequest, MicroAnswer>(answer);
