import * as fs from "node:fs";
import type { Disk, FileStat } from "#engine/io/disk.ts";
import { EngineError } from "#engine/io/errors.ts";

const stat = (s: fs.BigIntStats): FileStat => ({ device: s.dev, inode: s.ino, kind: s.isFile() ? "file" : "directory", size: Number(s.size), allocated: Number(s.blocks) * 512, mtimeNs: s.mtimeNs, ctimeNs: s.ctimeNs, mode: Number(s.mode), links: Number(s.nlink) });
export const nodeDisk: Disk = {
  open: (p, f) => { try { return fs.openSync(p, f); } catch (e) { throw new EngineError((e as NodeJS.ErrnoException).code === "ENOENT" ? "file-not-found" : "file-exists", `open ${p}`); } },
  close: (f) => fs.closeSync(f),
  read: (f, b, p) => { let n = 0; while (n < b.length) { const k = fs.readSync(f, b, n, b.length - n, p + n); if (k === 0) break; n += k; } return n; },
  write: (f, b, p) => { let n = 0; while (n < b.length) n += fs.writeSync(f, b, n, b.length - n, p + n); },
  truncate: (f, s) => fs.ftruncateSync(f, s),
  sync: (f) => fs.fdatasyncSync(f),
  syncDirectory: () => {},
  statFile: (f) => stat(fs.fstatSync(f, { bigint: true })),
  stat: (p) => { const s = fs.statSync(p, { bigint: true, throwIfNoEntry: false }); return s ? stat(s) : null; },
  readWhole: (p) => fs.readFileSync(p),
  rename: (a, b) => fs.renameSync(a, b),
  link: (a, b) => fs.linkSync(a, b),
  remove: (p) => { try { fs.unlinkSync(p); return true; } catch { return false; } },
  removeTree: (p) => fs.rmSync(p, { recursive: true, force: true }),
  makeDirectory: (p) => { fs.mkdirSync(p, { recursive: true }); },
  list: (p) => fs.readdirSync(p).sort(),
  setModified: () => {}, setMode: () => {}, clone: () => "copied", realPath: (p) => p, freeBytes: () => 1e12,
};
