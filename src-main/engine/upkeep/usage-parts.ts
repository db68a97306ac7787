/** A store's bytes, each in the one part that it belongs to. */
import { assert } from "#shared/assert.ts";
import type { UsagePart, UsagePartName } from "#shared/usage-views.ts";

const UNITS: { readonly [K in UsagePartName]: UsagePart["unit"] } = {
  unique: "branches",
  shared: "branches",
  history: "versions",
  trash: "branches",
  garbage: "segments",
  files: "files",
  caches: "files",
  temporary: "files",
  kept: "files",
  catalog: "files",
};

interface Sum {
  count: number;
  storedBytes: number;
  physicalBytes: number | null;
}

export class PartSums {
  readonly #sums = new Map<UsagePartName, Sum>();

  constructor() {
    for (const name of PART_NAMES) this.#sums.set(name, { count: 0, storedBytes: 0, physicalBytes: 0 });
  }

  /** `physical` null: nobody tells. Either may be negative: what is counted elsewhere. */
  add(name: UsagePartName, count: number, stored: number, physical: number | null): void {
    const sum = this.#sum(name);
    sum.count += count;
    sum.storedBytes += stored;
    sum.physicalBytes = sum.physicalBytes === null || physical === null ? null : sum.physicalBytes + physical;
  }

  #sum(name: UsagePartName): Sum {
    const sum = this.#sums.get(name);
    assert(sum, `there is a part ${name}`);
    return sum;
  }

  list(): UsagePart[] {
    return PART_NAMES.map((name) => ({ name, unit: UNITS[name], ...this.#sum(name) }));
  }
}

/** In the order of the contract: a block that several parts have counts in the first. */
const PART_NAMES = Object.keys(UNITS).filter(isPartName);

function isPartName(name: string): name is UsagePartName {
  return Object.hasOwn(UNITS, name);
}
