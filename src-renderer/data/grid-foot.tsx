import { ClipboardCopy } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { formatCount } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { copyEntries, type CopySource } from "./grid-acts.ts";
import { isSingle } from "./grid-selection.ts";

/** The bar beneath a grid: what is shown, what is chosen, and how to copy it. */
export function GridFoot({ status, source }: { readonly status: ReactNode; readonly source: CopySource }) {
  const { range } = source;
  return (
    <div className="flex h-7 flex-none items-center gap-3 border-t border-line px-3 text-xs text-ink-3 tabular-nums">
      <span className="name-cut flex min-w-0 flex-1 items-center gap-2">{status}</span>
      {range && !isSingle(range) ? (
        <span className="shrink-0">
          {formatCount(range.bottom - range.top + 1)} × {formatCount(range.right - range.left + 1)} cells
        </span>
      ) : null}
      <Menu label="Copy cells" align="end" entries={copyEntries(source)}>
        <Button size="sm" variant="ghost" icon={ClipboardCopy} disabled={range === null}>
          Copy
        </Button>
      </Menu>
    </div>
  );
}
