/** Suites for tests of the host and the command line: quick, slow, deaf to a stop, and deadly to their process. */
import { setTimeout as sleep } from "node:timers/promises";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeStep, makeSuite } from "../bench/samples.ts";
import type { Suite } from "#bench/suite.ts";

/** Ten samples in each of two steps. */
const quick = makeSuite(
  ["one", "two"].map((id) =>
    makeStep(id, async (bench) => {
      for (let value = 1; value <= 10; value += 1) {
        await bench.pause();
        bench.record(`${id}-ms`, value);
      }
    }),
  ),
);

/** Goes on until it is stopped. */
const slow = makeSuite(
  [
    makeStep("endless", async (bench) => {
      for (let value = 1; ; value += 1) {
        await bench.pause();
        bench.record("endless-ms", value);
        await sleep(5);
      }
    }),
  ],
  { id: "density", title: "Density" },
);

/** Records one sample and ends its process. */
const deadly = makeSuite(
  [
    makeStep("kept", async (bench) => bench.record("kept-ms", 1)),
    makeStep("deadly", async (bench) => {
      writeFileSync(join(bench.folder, "left-over"), "x");
      bench.record("deadly-ms", 2);
      await sleep(300);
      console.error("these are the last words");
      process.exit(9);
    }),
  ],
  { id: "micro", title: "Micro" },
);

/** One step that ends, and one that goes on until it is stopped. */
const half = makeSuite(
  [...quick.plan({ size: "quick", options: {}, seed: 1 }).slice(0, 1), ...slow.plan({ size: "quick", options: {}, seed: 1 })],
  {
    id: "write-amplification",
    title: "Write amplification",
  },
);

/** Does not look whether it should stop, and lets nothing else in. */
const deaf = makeSuite(
  [
    makeStep("deaf", async (bench) => {
      bench.record("deaf-ms", 1);
      // Lets the sample out.
      await sleep(300);
      for (;;) writeFileSync(join(bench.folder, "busy"), "x");
    }),
  ],
  { id: "isolation", title: "Isolation" },
);

/** Needs more room than there is. */
const huge = makeSuite([], { id: "goals", title: "Goals", sizes: [{ id: "quick", label: "huge", seconds: 1, diskBytes: 2 ** 60 }] });

export const TEST_SUITES: readonly Suite[] = [quick, slow, deadly, half, deaf, huge];
