import { resetAcrossResults } from "./across-session.ts";
import { resetBrowse } from "./browse-session.ts";
import { resetPlace } from "./data-session.ts";
import { resetSqlWork } from "./sql-session.ts";
import { resetEdits } from "./staged-edits.ts";

/** When the store changes: nothing that is shown, chosen or staged is about the new one. */
export function resetData(): void {
  resetPlace();
  resetBrowse();
  resetEdits();
  resetSqlWork();
  resetAcrossResults();
}
