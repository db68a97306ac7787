/**
 * A process that commits forks to a catalog: `committer.ts PATH SEED COUNT IN_FLIGHT`. Prints the name of each branch
 * once its operation is acknowledged; killed by the test, or by a fault point, it leaves off anywhere.
 */
import { writeSync } from "node:fs";
import { Catalog } from "#engine/catalog/catalog.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { Drafts } from "./drafts.ts";

const [path = "", seed = "0", count = "0", inFlight = "1"] = process.argv.slice(2);
const catalog = Catalog.open(path, { disk: nodeDisk, native: loadNative() });
const drafts = new Drafts(Number(seed), `process-${seed}`);
const database = catalog.databases.byName("shop");
const found = database && catalog.branches.byName(database.id, "main");
if (!found) throw new Error("the test makes shop@main first");
const main = found;

let next = 0;
async function commitInTurn(): Promise<void> {
  while (next < Number(count)) {
    const name = `p${seed}-${next}`;
    next += 1;
    await catalog.commit(drafts.fork(main, [name]));
    writeSync(1, `${name}\n`);
  }
}
await Promise.all(Array.from({ length: Number(inFlight) }, commitInTurn));
catalog.close();
