/** Who published a figure, when, and on what machine it was taken. */
import type { Origin } from "./build-references.ts";

const M5 = "Apple M5, 10 cores, macOS 27.0, APFS, Go 1.27.1";

export const OFFSHOOT: Origin = {
  system: "offshoot 0.2.12",
  source: "offshoot, benchmark page of v0.2.12",
  date: "2026-09-30",
  hardware: M5,
};
/** The page sets its figures against those of the version before, taken on the same machine. */
export const OFFSHOOT_BEFORE: Origin = {
  system: "offshoot before 0.2.12",
  source: "offshoot, benchmark page of v0.2.12, column “before”",
  date: "2026-09-30",
  hardware: M5,
};
export const OFFSHOOT_11: Origin = { ...OFFSHOOT_BEFORE, system: "offshoot 0.2.11" };
/** Postgres, SQLite's backup and cp as measured by that page. */
export const BESIDE_OFFSHOOT: Origin = { ...OFFSHOOT, system: "beside offshoot 0.2.12" };

export const OFFSHOOT_7: Origin = {
  system: "offshoot 0.2.7",
  source: "offshoot, benchmark page of v0.2.7",
  date: null,
  hardware: "Apple M4",
};

export const OFFSHOOT_LINUX: Origin = {
  system: "offshoot 0.2.9, Linux",
  source: "offshoot v0.2.9 + 48 commits, built from source and run for this comparison",
  date: "2026-11-30",
  hardware: "2-core virtual machine, Debian 12, ext4",
};
export const OFFSHOOT_LINUX_XFS: Origin = {
  ...OFFSHOOT_LINUX,
  system: "offshoot 0.2.9, Linux, XFS",
  hardware: "2-core virtual machine, Debian 12, XFS on a loop image",
};

const HARNESS = "BranchBench harness, raw run files (ElaineAng/db-fork at b0b7b04), tallied for this comparison";

export function hosted(system: string): Origin {
  return { system, source: HARNESS, date: null, hardware: "hosted service or server of the harness's authors, scale 5" };
}

export function micro(system: string): Origin {
  return {
    system,
    source: "BranchBench harness, microbenchmarks (ElaineAng/db-fork at b0b7b04)",
    date: null,
    hardware: "hosted service or server of the harness's authors",
  };
}

export const PAPER: Origin = {
  system: "BranchBench paper",
  source: "arXiv 2604.17180, abstract",
  date: null,
  hardware: "see the paper",
};

export const SANDBASE: Origin = {
  system: "Sandbase",
  source: "Sandbase, published figures of managed Postgres branching",
  date: null,
  hardware: "Kubernetes with ZFS volumes",
};
