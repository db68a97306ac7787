import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { CONTRACT_VERSION } from "#shared/contract-version.ts";
import { readSources } from "../support/source-files.ts";

/** What a client can see of the contract: comments and layout left out. */
function hashContract(): string {
  const hash = createHash("sha256");
  for (const name of ["contract.ts", "views.ts", "bench-views.ts", "diff-views.ts", "query-views.ts", "usage-views.ts", "error-codes.ts"]) {
    const text = readSources(`src-shared/${name}`, /./)[0]?.text ?? "";
    hash.update(
      text
        .replace(/\/\*[\s\S]*?\*\//g, "")
        .replace(/(^|\s)\/\/.*$/gm, "")
        .replace(/\s+/g, "")
        .replace(/,(?=[)\]}])/g, "")
        .replaceAll("|", ""),
    );
  }
  return hash.digest("hex").slice(0, 16);
}

test("CONTRACT-1: a change of the contract raises its version", () => {
  // When this fails: raise CONTRACT_VERSION once a release, and put both new values here.
  expect({ version: CONTRACT_VERSION, hash: hashContract() }).toEqual({ version: 1, hash: "8219ee153632ec69" });
});
