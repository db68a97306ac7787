/**
 * Every published figure that ours may stand beside: as data, with who published it, when, and on what machine. They are
 * of other machines, so they are shown next to what is measured and never mixed with it. What was not published is left
 * out; of "from … to …" both ends are given.
 *
 * Ids: system and version / suite / row or workload / column.
 */
import type { BenchReference } from "#shared/bench-views.ts";
import { HOSTED } from "./hosted.ts";
import { OFFSHOOT_BRANCHBENCH } from "./offshoot-branchbench.ts";
import { OFFSHOOT_ON_LINUX } from "./offshoot-linux.ts";
import { OFFSHOOT_SUITES } from "./offshoot-suites.ts";

export const REFERENCES: readonly BenchReference[] = [...OFFSHOOT_BRANCHBENCH, ...OFFSHOOT_SUITES, ...OFFSHOOT_ON_LINUX, ...HOSTED];
