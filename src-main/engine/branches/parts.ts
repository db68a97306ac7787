import { join } from "node:path";
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CheckoutFiles } from "../checkouts/checkout-files.ts";
import type { Clock, Randomness } from "../io/clock.ts";
import type { Disk } from "../io/disk.ts";
import type { Native } from "../io/native.ts";
import type { SegmentParts } from "../segments/segment-parts.ts";
import type { CopyElsewhere } from "../transfer/prepare-import.ts";
import type { Lineages } from "./lineages.ts";
import type { StorePaths } from "./store-paths.ts";
import type { WarmPool } from "./warm-pool.ts";
import type { WritersGate } from "./writers-gate.ts";

/** The wired engine: what every verb works with. */
export interface Parts {
  readonly paths: StorePaths;
  readonly disk: Disk;
  readonly native: Native;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly catalog: Catalog;
  readonly segments: SegmentParts;
  readonly files: CheckoutFiles;
  /** Reads a file outside the store, where no SQLite connection of this process is on it. */
  readonly copySource: CopyElsewhere;
  readonly lineages: Lineages;
  readonly pool: WarmPool;
  readonly writers: WritersGate;
  /** Told of each version that was committed here. Does nothing before the caller's turn ends, and never throws. */
  readonly noteVersion: (database: DatabaseId, version: VersionNumber, parent: VersionNumber | null) => void;
  readonly actor: string;
}

/** The version that a draft brings, the first of its list unless said otherwise, before it has a number. */
export const newVersion = (index = 0): { readonly new: number } => ({ new: index });

/** A path in this process's own temporary folder, on the filesystem of the store. Makes the folder. */
export function temporaryPath(parts: Pick<Parts, "disk" | "randomness" | "segments">, ending: string): string {
  parts.disk.makeDirectory(parts.segments.temporaryFolder);
  return join(parts.segments.temporaryFolder, `${Buffer.from(parts.randomness.bytes(8)).toString("hex")}-${ending}`);
}
