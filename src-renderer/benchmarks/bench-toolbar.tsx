import { ChevronDown, FolderOpen, HardDrive, Play, SlidersHorizontal, Square } from "lucide-react";
import { memo, useState } from "react";
import type { BenchOptionView, BenchRunHead, BenchSuiteView } from "#shared/bench-views.ts";
import { formatBytes, formatDuration } from "#shared/units.ts";
import { requestOrReport } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { useAppState } from "../app-state.ts";
import { commandShortcut } from "../commands/commands.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { Menu, type MenuEntry } from "../ui/menu.tsx";
import { shortenHome } from "../ui/paths.ts";
import { Popover } from "../ui/popover.tsx";
import { Segmented } from "../ui/segmented.tsx";
import { startBenchmark, stopBenchmark } from "./bench-acts.ts";
import { benchView, changeBenchView, chooseSuite, toOrder, type BenchChoice } from "./bench-view.ts";

interface ToolbarProps {
  readonly suites: readonly BenchSuiteView[];
  readonly choice: BenchChoice | null;
  /** Where runs go when no folder was chosen. */
  readonly standardFolder: string;
  readonly active: BenchRunHead | null;
  /** The run on the screen. */
  readonly shown: BenchRunHead | null;
  readonly exportMenu: React.ReactNode;
}

/** What is measured, how much of it, how, and where; Run. */
export function BenchToolbar({ suites, choice, standardFolder, active, shown, exportMenu }: ToolbarProps) {
  return (
    <header data-pane="toolbar" className="flex min-h-11 flex-none items-center gap-2 border-b border-line px-3 tiny:flex-wrap tiny:py-2">
      <h1 className="shrink-0 font-semibold tiny:sr-only">Benchmarks</h1>
      {choice ? <Choices suites={suites} choice={choice} standardFolder={standardFolder} /> : null}
      <span className="ml-auto flex shrink-0 gap-2">
        {exportMenu}
        <RunButton choice={choice} active={active} shown={shown} />
      </span>
    </header>
  );
}

interface ChoicesProps {
  readonly suites: readonly BenchSuiteView[];
  readonly choice: BenchChoice;
  readonly standardFolder: string;
}

/** Nothing of it moves while a run goes on. */
const Choices = memo(function Choices({ suites, choice, standardFolder }: ChoicesProps) {
  return (
    <>
      <SuiteMenu suites={suites} current={choice.suite} />
      <Segmented
        label="Size"
        value={choice.size.id}
        onChange={(size) => changeBenchView({ size })}
        segments={choice.suite.sizes.map((size) => ({ value: size.id, label: sizeLabel(size, size.id === choice.size.id) }))}
      />
      {choice.suite.options.length > 0 ? <Options options={choice.suite.options} chosen={choice.options} /> : null}
      <FolderMenu standard={standardFolder} chosen={choice.folder} />
      <span className="name-cut text-2xs text-ink-3 tabular-nums" title="Needed while it runs, and given back afterwards">
        {estimate(choice.size)}
      </span>
    </>
  );
});

/** The chosen size says what it is ("M · 100 MB"); the others are one letter. */
function sizeLabel(size: BenchSuiteView["sizes"][number], chosen: boolean): string {
  const short = size.id === "quick" ? "Quick" : size.id;
  return chosen && size.label.toLowerCase() !== short.toLowerCase() ? `${short} · ${size.label}` : short;
}

export function estimate(size: BenchSuiteView["sizes"][number]): string {
  return `about ${formatDuration(size.seconds * 1_000)}, ${formatBytes(size.diskBytes)} of disk`;
}

function SuiteMenu({ suites, current }: { readonly suites: readonly BenchSuiteView[]; readonly current: BenchSuiteView }) {
  const entries = suites.map((suite): MenuEntry => ({
    kind: "item",
    id: suite.id,
    label: suite.title,
    checked: suite.id === current.id,
    run: () => chooseSuite(suite.id),
  }));
  return (
    <Menu label="Suite" entries={entries}>
      <Button aria-label={`Suite: ${current.title}`} title={current.about} className="ml-1">
        {current.title}
        <ChevronDown size={12} aria-hidden />
      </Button>
    </Menu>
  );
}

function Options({ options, chosen }: { readonly options: readonly BenchOptionView[]; readonly chosen: Readonly<Record<string, string>> }) {
  const changed = options.filter((option) => chosen[option.id] !== option.values[0]?.id).length;
  return (
    <Popover
      label="Options"
      trigger={
        <Button icon={SlidersHorizontal} title={options.map((option) => describeOption(option, chosen)).join("\n")}>
          Options{changed > 0 ? ` (${changed})` : ""}
        </Button>
      }
    >
      <div className="flex w-72 flex-col gap-3">
        {options.map((option) => (
          <SelectField
            key={option.id}
            label={option.title}
            value={chosen[option.id] ?? ""}
            onChange={(event) => changeBenchView({ options: { ...benchView.get().options, [option.id]: event.target.value } })}
          >
            {option.values.map((value) => (
              <option key={value.id} value={value.id}>
                {value.title}
              </option>
            ))}
          </SelectField>
        ))}
      </div>
    </Popover>
  );
}

function describeOption(option: BenchOptionView, chosen: Readonly<Record<string, string>>): string {
  return `${option.title}: ${option.values.find((value) => value.id === chosen[option.id])?.title ?? ""}`;
}

/** Where the private sandbox is made: which disk is measured. */
function FolderMenu({ standard, chosen }: { readonly standard: string; readonly chosen: string | null }) {
  const api = useApi();
  const host = useAppState((state) => state.hello?.host);
  const home = useAppState((state) => state.hello?.home ?? "");
  const [typing, setTyping] = useState(false);
  const choose = async () => {
    if (host !== "electron") return setTyping(true);
    const folder = await requestOrReport(api, "app.chooseFolder", { title: "Measure on the disk of" });
    if (folder !== null) changeBenchView({ folder });
  };
  const entries: MenuEntry[] = [
    {
      kind: "item",
      id: "standard",
      label: `Disk of the store: ${shortenHome(standard, home)}`,
      checked: chosen === null,
      run: () => changeBenchView({ folder: null }),
    },
    ...(chosen === null ? [] : [{ kind: "item" as const, id: "chosen", label: shortenHome(chosen, home), checked: true, run: () => {} }]),
    { kind: "separator", id: "line" },
    { kind: "item", id: "choose", label: "Another folder…", icon: FolderOpen, run: () => void choose() },
  ];
  const label = chosen === null ? "Store's disk" : (chosen.split(/[\\/]/).findLast((part) => part !== "") ?? chosen);
  return (
    <>
      <Menu label="Where to measure" entries={entries}>
        <Button
          icon={HardDrive}
          aria-label={`Where to measure: ${label}`}
          title={`A private sandbox in ${chosen ?? standard}, removed afterwards`}
          className="min-w-0 shrink!"
        >
          <span className="name-cut max-w-28">{label}</span>
          <ChevronDown size={12} aria-hidden className="shrink-0" />
        </Button>
      </Menu>
      {typing ? <FolderDialog chosen={chosen ?? standard} onClose={() => setTyping(false)} /> : null}
    </>
  );
}

function FolderDialog({ chosen, onClose }: { readonly chosen: string; readonly onClose: () => void }) {
  const [folder, setFolder] = useState(chosen);
  const submit = () => {
    const trimmed = folder.trim();
    if (trimmed === "") return;
    changeBenchView({ folder: trimmed });
    onClose();
  };
  return (
    <Dialog
      title="Where to measure"
      description="A private sandbox is made in this folder and removed afterwards. Its disk is what is measured."
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={folder.trim() === ""}>
            Measure there
          </Button>
        </>
      }
    >
      <Field
        label="Folder on the machine that runs Coppice"
        autoFocus
        value={folder}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setFolder(event.target.value)}
      />
    </Dialog>
  );
}

function RunButton({ choice, active, shown }: Pick<ToolbarProps, "choice" | "active" | "shown">) {
  const api = useApi();
  const [starting, setStarting] = useState(false);
  // The run on the screen has its own Stop, beside its progress.
  if (active && active.id !== shown?.id) {
    return (
      <Button
        icon={Square}
        busy={active.state === "stopping" ? "Stopping…" : null}
        title={`${active.title} is running: what was measured is kept`}
        onClick={() => void stopBenchmark(api)}
      >
        Stop {active.title}
      </Button>
    );
  }
  const start = async () => {
    if (!choice) return;
    setStarting(true);
    await startBenchmark(api, toOrder(choice));
    setStarting(false);
  };
  return (
    <Button
      variant="primary"
      icon={Play}
      shortcut={commandShortcut("run.benchmark") ?? ""}
      disabled={!choice || active !== null}
      title={active ? "One run at a time" : ""}
      busy={starting ? "Starting…" : null}
      onClick={() => void start()}
    >
      Run
    </Button>
  );
}
