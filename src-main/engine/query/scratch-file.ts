import { assert } from "#shared/assert.ts";
import type { VersionNumber } from "#shared/ids.ts";
import type { VersionRecord } from "../catalog/records.ts";
import { cloneOfNeighbour, isMostlyShared, overwriteFile } from "../branches/neighbour.ts";
import { temporaryPath, type Parts } from "../branches/parts.ts";
import type { Place } from "../branches/resolve.ts";
import { versionOf } from "../branches/working-file.ts";
import { materialise } from "../segments/materialise.ts";
import type { Work } from "../segments/page-source.ts";

/**
 * A file of our own that is carried from version to version: only the pages that set two of them apart are written. So a
 * question to two hundred versions costs one file, and not two hundred.
 */
export class ScratchFile {
  readonly #parts: Parts;
  #held: { readonly path: string; readonly version: VersionRecord } | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Makes it hold the version and returns its path. No connection may be on it. */
  async bring(place: Place, number: VersionNumber, work: Work): Promise<string> {
    const version = versionOf(this.#parts, place, number);
    const held = this.#held;
    this.#held = null;
    try {
      const path = held && (await this.#patch(held, version)) ? held.path : await this.#make(place, version, work, held?.path);
      this.#held = { path, version };
      return path;
    } catch (error) {
      if (held) removeFile(this.#parts, held.path);
      throw error;
    }
  }

  remove(): void {
    if (this.#held) removeFile(this.#parts, this.#held.path);
    this.#held = null;
  }

  async #patch({ path, version: from }: { readonly path: string; readonly version: VersionRecord }, to: VersionRecord): Promise<boolean> {
    assert(from.database === to.database, "one question is about one database");
    if (from.number === to.number) return true;
    if (from.pageSize !== to.pageSize) return false;
    const differing = await this.#parts.lineages.differing(to.database, from.number, to.number);
    if (!isMostlyShared(to, differing)) return false;
    await overwriteFile(this.#parts, to, path, differing);
    return true;
  }

  async #make(place: Place, version: VersionRecord, work: Work, former: string | undefined): Promise<string> {
    if (former !== undefined) removeFile(this.#parts, former);
    const { disk, native, clock, lineages } = this.#parts;
    const path = temporaryPath(this.#parts, "query.db");
    if (await cloneOfNeighbour(this.#parts, place, version, path, work)) return path;
    const reader = await lineages.reader(version.database, version.number);
    await materialise(reader, { disk, native, path, journal: "wal", changeCounter: clock.now() >>> 0, checksum: version.checksum }, work);
    return path;
  }
}

function removeFile({ disk }: Parts, path: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) disk.remove(path + ending);
}
