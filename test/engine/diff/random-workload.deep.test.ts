import { expect, test } from "vitest";
import { makeCases, tryCase } from "./workload.ts";

test.each(makeCases(100, Number(process.env["COPPICE_DIFF_SEEDS"] ?? 80)))(
  "DIFF-1: random work, seed $seed: the rows found are those of a plain full comparison ($pageSize B, $encoding, auto_vacuum $autoVacuum, $edits edits)",
  async (each) => {
    const { shared, full, expected } = await tryCase(each, 2000);
    expect(shared).toEqual(expected);
    expect(full).toEqual(expected);
  },
);
