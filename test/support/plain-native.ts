import { createXXHash128 } from "hash-wasm";
import type { Native } from "#engine/io/native.ts";
const x = await createXXHash128();
export function loadNative(): Native {
  return {
    kind: "fallback", problem: null, facilities: () => [],
    hashPages(pages, size) { const out = new Uint8Array(pages.length / size * 16); for (let i = 0; i < pages.length / size; i++) out.set(x.init().update(pages.subarray(i * size, (i + 1) * size)).digest("binary"), i * 16); return out; },
    foldHashes(h, first) { const o = new Uint8Array(16); const v = new DataView(o.buffer); const hv = new DataView(h.buffer, h.byteOffset, h.length); for (let i = 0; i < h.length / 16; i++) { const n = BigInt(first + i) * 0x9e3779b97f4a7c15n; for (const k of [0, 8]) { let a = BigInt.asUintN(64, hv.getBigUint64(i * 16 + k) ^ n ^ BigInt(k)); a = BigInt.asUintN(64, a * 0xbf58476d1ce4e5b9n); a ^= a >> 29n; v.setBigUint64(k, v.getBigUint64(k) ^ a); } } return o; },
    cloneFile: () => false, lockRange: () => true, unlockRange: () => {}, hasRangeLocks: false, willRead: () => {},
  };
}
