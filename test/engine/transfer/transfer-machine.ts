import { nodeDisk as plain } from "../../support/plain-disk.ts";
import { loadNative } from "../../support/plain-native.ts";
import { realpathSync, openSync, statSync } from "node:fs";
import type { TransferIo } from "#engine/transfer/source-files.ts";
const nodeDisk = { ...plain, realPath: (p: string) => realpathSync(p), stat: (p: string) => { const s = plain.stat(p); return s && s.kind === "directory" && !statSync(p).isDirectory() ? { ...s, kind: "other" as const } : s; } };

export const machine: TransferIo = { disk: nodeDisk, native: loadNative(), holders: () => [] };
