import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { openChain, type ChainReader } from "../segments/chain-reader.ts";
import { pagesDiffering } from "../segments/pages-differing.ts";
import type { SegmentParts } from "../segments/segment-parts.ts";

/** Open chains kept: one for each branch that is being worked on. Versions are immutable, so nothing expires. */
const OPEN_CHAINS_MAX = 16;

/** Versions as readable states, and what sets two of them apart. */
export class Lineages {
  readonly #catalog: Catalog;
  readonly #segments: SegmentParts;
  readonly #open = new Map<string, ChainReader>();

  constructor(catalog: Catalog, segments: SegmentParts) {
    this.#catalog = catalog;
    this.#segments = segments;
  }

  /** Throws `segment-missing` or `segment-corrupt`. */
  async reader(database: DatabaseId, version: VersionNumber): Promise<ChainReader> {
    const key = `${database}:${version}`;
    const reader =
      this.#open.get(key) ??
      (await openChain(
        this.#segments,
        version,
        (to) => this.#open.get(`${database}:${to}`) ?? this.#catalog.versions.segmentFor(database, to),
      ));
    this.#open.delete(key);
    this.#open.set(key, reader);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= OPEN_CHAINS_MAX) break;
      this.#open.delete(oldest);
    }
    return reader;
  }

  /** Page numbers, ascending, to write over a file that holds `held` so that it holds `wanted` (see `pagesDiffering`). */
  async differing(database: DatabaseId, held: VersionNumber, wanted: VersionNumber): Promise<Uint32Array> {
    return held === wanted ? new Uint32Array(0) : pagesDiffering(await this.reader(database, held), await this.reader(database, wanted));
  }

  forget(): void {
    this.#open.clear();
  }
}
