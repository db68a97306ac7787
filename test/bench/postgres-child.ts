/** A process that starts Postgres in the folder given, says the server's pid, and waits to be killed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Cluster } from "#bench/postgres/cluster.ts";
import { installRuntime } from "#bench/postgres/runtime.ts";

const folder = process.argv[2] ?? "";
const cluster = await Cluster.make(installRuntime(join(folder, "runtime")), join(folder, "data"), new AbortController().signal);
await cluster.start();
console.log(Number.parseInt(readFileSync(join(folder, "data/postmaster.pid"), "utf8"), 10));
setInterval(() => undefined, 1_000);
