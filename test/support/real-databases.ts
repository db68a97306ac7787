/** Databases that nobody here made, as Debian packages ship them. */
import { existsSync } from "node:fs";
import type { TestContext } from "vitest";

export interface RealDatabase {
  readonly name: string;
  readonly path: string;
  readonly package: string;
  readonly install: string;
}

export const REAL_DATABASES: readonly RealDatabase[] = [
  fromDebian("the coordinate systems of PROJ (views, 35 triggers)", "/usr/share/proj/proj.db", "proj-data"),
  fromDebian("the help of Qt SVG (compressed pages as blobs)", "/usr/share/qt5/doc/qtsvg.qch", "qtsvg5-doc"),
  fromDebian("the input method tables of IBus for mathematics", "/usr/share/ibus-table/tables/mathwriter-ibus.db", "ibus-table-latex"),
];

function fromDebian(name: string, path: string, debianPackage: string): RealDatabase {
  return { name, path, package: debianPackage, install: `apt-get install -y --no-install-recommends ${debianPackage}` };
}

/** Skips the test when the file is missing, or fails it when `COPPICE_REQUIRE` lists "real-databases". */
export function requireRealDatabase(real: RealDatabase, context: TestContext): void {
  if (existsSync(real.path)) return;
  const problem = `${real.path} is missing: run ${real.install}`;
  if ((process.env["COPPICE_REQUIRE"] ?? "").split(",").includes("real-databases")) throw new Error(problem);
  context.skip(problem);
}
