import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import Database from "better-sqlite3";
import { DirectCheckoutFiles } from "#engine/checkouts/direct-checkout-files.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk as disk } from "#engine/io/node-disk.ts";
const native = loadNative();
const med = (xs: number[]) => xs.toSorted((a, b) => a - b)[xs.length >> 1]!.toFixed(2);
for (const kind of (process.argv[2] ?? "xfs,btrfs").split(",")) {
  const root = `/tmp/w1/${kind}/perf`; rmSync(root, { recursive: true, force: true }); mkdirSync(`${root}/tmp`, { recursive: true });
  const path = `${root}/main.db`;
  const db = new Database(path); db.pragma("journal_mode=wal"); db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, d BLOB)");
  const ins = db.prepare("INSERT INTO t(d) VALUES (randomblob(3500))"); for (let k = 0; k < 20; k++) db.transaction(() => { for (let i = 0; i < 6000; i++) ins.run(); })(); db.close();
  execFileSync("sync");
  const { size } = disk.stat(path)!; console.log(kind, "MB", size >> 20);
  const files = new DirectCheckoutFiles({ disk, native, temporary: `${root}/tmp`, shadows: `${root}/shadows` });
  let fp: string | null = null;
  const t: Record<string, number[]> = { hold: [], changes: [], read: [], fingerprint: [], release: [], all: [], };
  const low = new Uint8Array(0); let proof = "";
  for (let r = 0; r < 25; r++) {
    execFileSync("sqlite3", [path, `UPDATE t SET d = randomblob(3500) WHERE id IN (${Array.from({ length: 10 }, () => 1 + Math.floor(Math.random() * 120000)).join()})`]);
    const a = performance.now(); const held = await files.hold(path, "write", 1000);
    const b = performance.now(); const ch = await held.changes({ fingerprint: fp, pageSize: 4096, pageHashes: async () => low });
    const c = performance.now(); if (r > 0) for await (const _ of ch.batches) { /* read */ }
    const d = performance.now(); fp = await held.fingerprint();
    const e = performance.now(); await held.release(); const f = performance.now();
    proof = ch.proof + " " + ch.candidates;
    if (r > 2) { t.hold!.push(b - a); t.changes!.push(c - b); t.read!.push(d - c); t.fingerprint!.push(e - d); t.release!.push(f - e); t.all!.push(f - a); }
  }
  const fd = disk.open(path, "r");
  console.log(kind, proof, "extents", native.extentCount(fd), Object.entries(t).map(([k, v]) => `${k} ${med(v)}`).join("  "));
  await files.close();
}
