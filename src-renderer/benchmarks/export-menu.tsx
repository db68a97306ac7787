import { Braces, ClipboardCopy, FileDown, FileText, Image, Sheet } from "lucide-react";
import type { BenchReference, BenchRun, BenchSeries, BenchSuiteView } from "#shared/bench-views.ts";
import { comparisonToMarkdown } from "#shared/bench-comparison.ts";
import { reportName, toCsv, toJson, toMarkdown } from "#shared/bench-report.ts";
import { toErrorView } from "../api/api-error.ts";
import { Button } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { Menu, type MenuEntry } from "../ui/menu.tsx";
import { showError, showToast } from "../ui/toasts.ts";
import { makePicture, type PictureTheme } from "./chart-picture.ts";
import { saveFile, saveText } from "../ui/save-file.ts";

interface ExportMenuProps {
  readonly run: BenchRun | null;
  readonly suite: BenchSuiteView | null;
  readonly series: BenchSeries | null;
  readonly references: readonly BenchReference[];
  /** Two or more; empty when nothing is compared. */
  readonly compared: readonly BenchRun[];
}

async function savePicture(
  run: BenchRun,
  suite: BenchSuiteView,
  series: BenchSeries,
  references: readonly BenchReference[],
  theme: PictureTheme,
) {
  const name = `${reportName(run)}-${series.id.replace(/[^\w.-]+/g, "-")}-${theme}.png`;
  try {
    saveFile(name, await makePicture({ run, suite, series, references, theme }));
    showToast({ text: `Saved ${name}`, tone: "plain" });
  } catch (error) {
    showError(toErrorView(error), () => void savePicture(run, suite, series, references, theme));
  }
}

/** The run that is shown, as files: every figure in them is computed by the code that computes the screen's. */
export function ExportMenu(props: ExportMenuProps) {
  const entries = props.run ? entriesFor(props.run, props) : [];
  return (
    <Menu label="Export" align="end" entries={entries}>
      <Button icon={FileDown} disabled={entries.length === 0}>
        Export
      </Button>
    </Menu>
  );
}

function entriesFor(run: BenchRun, { suite, series, references, compared }: ExportMenuProps): readonly MenuEntry[] {
  const name = reportName(run);
  const picture = (theme: PictureTheme): MenuEntry => ({
    kind: "item",
    id: `png-${theme}`,
    label: `Chart as PNG, ${theme}`,
    icon: Image,
    disabled: !series || series.samples.length === 0,
    run: () => void (series && suite && savePicture(run, suite, series, references, theme)),
  });
  return [
    picture("light"),
    picture("dark"),
    { kind: "separator", id: "files" },
    { kind: "item", id: "csv", label: "All samples as CSV", icon: Sheet, run: () => saveText(`${name}.csv`, toCsv(run), "text/csv") },
    {
      kind: "item",
      id: "markdown",
      label: "Report as Markdown",
      icon: FileText,
      run: () => saveText(`${name}.md`, toMarkdown(run, references), "text/markdown"),
    },
    { kind: "item", id: "json", label: "Run as JSON", icon: Braces, run: () => saveText(`${name}.json`, toJson(run), "application/json") },
    {
      kind: "item",
      id: "copy",
      label: "Copy report as Markdown",
      icon: ClipboardCopy,
      run: () => void copyText(toMarkdown(run, references), "report"),
    },
    ...comparisonEntries(compared),
  ];
}

function comparisonEntries(compared: readonly BenchRun[]): readonly MenuEntry[] {
  const [base] = compared;
  if (!base || compared.length < 2) return [];
  return [
    { kind: "separator", id: "comparison" },
    {
      kind: "item",
      id: "comparison-markdown",
      label: `Comparison of ${compared.length} runs as Markdown`,
      icon: FileText,
      run: () => saveText(`${reportName(base)}-comparison.md`, comparisonToMarkdown(compared), "text/markdown"),
    },
  ];
}
