/**
 * What the tests need from the machine. As root on Debian or Ubuntu it is installed; elsewhere what is missing is named,
 * and the tests that need it are skipped, unless `COPPICE_REQUIRE` lists it.
 */
import { existsSync } from "node:fs";
import { hasProgram, run } from "./run.ts";

interface Need {
  /** As in `COPPICE_REQUIRE`. */
  readonly for: "chromium" | "filesystems" | "real-databases" | "addon" | "clients";
  readonly debianPackage: string;
  readonly isThere: () => boolean;
}

const NEEDS: readonly Need[] = [
  { for: "chromium", debianPackage: "chromium", isThere: () => existsSync(process.env["COPPICE_CHROMIUM"] ?? "/usr/bin/chromium") },
  { for: "filesystems", debianPackage: "xfsprogs", isThere: () => hasProgram("mkfs.xfs") || existsSync("/sbin/mkfs.xfs") },
  { for: "filesystems", debianPackage: "btrfs-progs", isThere: () => hasProgram("mkfs.btrfs") || existsSync("/sbin/mkfs.btrfs") },
  { for: "real-databases", debianPackage: "proj-data", isThere: () => existsSync("/usr/share/proj/proj.db") },
  { for: "real-databases", debianPackage: "qtsvg5-doc", isThere: () => existsSync("/usr/share/qt5/doc/qtsvg.qch") },
  {
    for: "real-databases",
    debianPackage: "ibus-table-latex",
    isThere: () => existsSync("/usr/share/ibus-table/tables/mathwriter-ibus.db"),
  },
  { for: "addon", debianPackage: "g++", isThere: () => hasProgram("c++") || hasProgram("g++") || hasProgram("clang++") },
  { for: "addon", debianPackage: "make", isThere: () => hasProgram("make") },
  { for: "addon", debianPackage: "python3", isThere: () => hasProgram("python3") },
  { for: "clients", debianPackage: "sqlite3", isThere: () => hasProgram("sqlite3") },
];

/** Installs what is missing where that is possible; returns what is still missing, by name. */
export async function setUpMachine(): Promise<ReadonlySet<Need["for"]>> {
  const packages = missing().map((need) => need.debianPackage);
  if (packages.length > 0 && process.getuid?.() === 0 && hasProgram("apt-get")) {
    console.log(`Installing ${packages.join(", ")} …`);
    const quiet = { DEBIAN_FRONTEND: "noninteractive" };
    // One at a time: a name that this Debian does not know must not stop the others.
    await run("apt-get", ["-qq", "update"], quiet);
    for (const name of packages) await run("apt-get", ["-qq", "install", "-y", "--no-install-recommends", name], quiet);
  }
  const left = missing();
  if (left.length > 0) console.log(`Missing, so tests that need them are skipped: ${left.map((need) => need.debianPackage).join(", ")}`);
  return new Set(left.map((need) => need.for));
}

/** True when the caller insists on tests that need it. */
export function isRequired(what: string): boolean {
  return (process.env["COPPICE_REQUIRE"] ?? "").split(",").includes(what);
}

function missing(): Need[] {
  return NEEDS.filter((need) => !need.isThere());
}
