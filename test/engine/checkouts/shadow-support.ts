/** Checkouts on filesystems that share blocks. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DirectCheckoutFiles } from "#engine/checkouts/direct-checkout-files.ts";
import type { CheckoutFiles, HeldCheckout, KnownContent } from "#engine/checkouts/checkout-files.ts";
import type { Disk } from "#engine/io/disk.ts";
import { isBlockSharing } from "#engine/io/filesystem.ts";
import type { Native } from "#engine/io/native.ts";
import { release } from "node:os";
import { mountLoopFilesystem, type LoopFilesystem } from "../../support/loop-filesystem.ts";
import { collect, disk, knownAs, native, onCleanup, type Place } from "./support.ts";

export interface ShadowPlace extends Place {
  readonly shadows: string;
}

export interface Content {
  readonly pages: Uint8Array;
  readonly pageSize: number;
  readonly pageCount: number;
}

export const NO_HASHES = async (): Promise<Uint8Array> => {
  throw new Error("the hashes are not needed");
};

/** On a fresh filesystem of its own; or why there is none. */
export function makeShadowPlace(kind: LoopFilesystem, megabytes = 320): ShadowPlace | string {
  if (native.kind !== "addon") return "the addon is not built";
  if (kind !== "ext4" && !isBlockSharing(kind, release())) return `Linux ${release()} is too old`;
  const mounted = mountLoopFilesystem(kind, megabytes);
  if ("missing" in mounted) return mounted.missing;
  const { folder } = mounted;
  const place = {
    folder,
    temporary: join(folder, "tmp"),
    shadows: join(folder, "cache", "shadows"),
    path: join(folder, "checkouts", "main.db"),
  };
  mkdirSync(place.temporary);
  mkdirSync(join(folder, "checkouts"));
  return place;
}

/** The system's memory says nothing, or these small files would rather be hashed. */
export const COLD: Native = { ...native, cachedBytes: () => null };

export function openShadowFiles(place: ShadowPlace, ports: { disk?: Disk; native?: Native } = {}): CheckoutFiles {
  const files = new DirectCheckoutFiles({ disk, native: COLD, ...ports, temporary: place.temporary, shadows: place.shadows });
  onCleanup(() => files.close());
  return files;
}

/** Names of what is in the folder of shadows, by their endings. */
export function listShadows(place: ShadowPlace): string[] {
  return disk.list(place.shadows).map((name) => name.replace(/^.*\./, ""));
}

export async function withHold<T>(
  files: CheckoutFiles,
  place: Place,
  mode: "write" | "exclusive",
  act: (held: HeldCheckout) => Promise<T>,
): Promise<T> {
  const held = await files.hold(place.path, mode, 5_000);
  try {
    return await act(held);
  } finally {
    await held.release();
  }
}

/** Looks under the write lock; `isSaved`: as a checkpoint does, so that a fingerprint of what was found is taken. */
export function look(
  files: CheckoutFiles,
  place: Place,
  known: { readonly content: Content; readonly fingerprint: string | null; readonly hashes?: KnownContent["pageHashes"] },
  isSaved = true,
): Promise<{ proof: string; pages: Map<number, Uint8Array>; fingerprint: string | null }> {
  return withHold(files, place, "write", async (held) => {
    const asked = knownAs(known.content, known.fingerprint);
    const changes = await held.changes({ ...asked, pageHashes: known.hashes ?? asked.pageHashes });
    const pages = await collect(changes);
    return { proof: changes.proof, pages, fingerprint: isSaved ? await held.fingerprint() : known.fingerprint };
  });
}
