import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RequestInput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { ImportReport } from "#shared/views.ts";
import { createCheckoutFiles } from "#engine/checkouts/keeper-client.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { inspectSource } from "#engine/transfer/prepare-import.ts";
import type { JobWork } from "./jobs.ts";

/** The import report of a file while no store is open: its copy goes to the system's temporary folder and leaves with it. */
export async function inspectFile({ file }: RequestInput<"database.inspect">, work: JobWork): Promise<ImportReport> {
  const temporary = mkdtempSync(join(tmpdir(), "coppice-inspect-"));
  const files = createCheckoutFiles({ ownProcess: false, disk: nodeDisk, native: loadNative(), temporary });
  try {
    const request = { file, into: join(temporary, "copy.db"), waitMs: LIMITS.checkoutBusyWaitMs };
    return await inspectSource(nodeDisk, (copy, copyWork) => files.copySource(copy, copyWork), request, work);
  } finally {
    await files.close();
    rmSync(temporary, { recursive: true, force: true });
  }
}
