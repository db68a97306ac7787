import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import type { TransferIo } from "#engine/transfer/source-files.ts";

export const machine: TransferIo = { disk: nodeDisk, native: loadNative() };
