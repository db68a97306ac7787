import { Check, Copy, Stethoscope, TriangleAlert } from "lucide-react";
import type { DoctorView } from "#shared/views.ts";
import { useRun } from "../api/use-run.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { Facts } from "../ui/facts.tsx";
import { formatPlural } from "../ui/format.ts";
import { describeHolder } from "../ui/states.tsx";
import { Panel, PlainTable, RunState } from "./panel.tsx";

export function DoctorPanel() {
  const run = useRun("store.doctor");
  return (
    <Panel
      title="Doctor"
      text="Looks at this machine: file system, addon, SQLite, and who holds files."
      action={
        <Button icon={Stethoscope} busy={run.running ? "Looking…" : null} onClick={() => void run.start({})}>
          Examine
        </Button>
      }
    >
      {run.running || run.error ? <RunState run={run} /> : run.result ? <Result doctor={run.result} /> : null}
    </Panel>
  );
}

function Result({ doctor }: { readonly doctor: DoctorView }) {
  const { store, problems } = doctor;
  const holders = doctor.holders.flatMap(({ target, holders: found }) => found.map((holder) => [target, describeHolder(holder)]));
  return (
    <>
      <div className="flex items-center gap-2">
        {problems.length === 0 ? (
          <Badge tone="ok" icon={Check}>
            Nothing wrong
          </Badge>
        ) : (
          <Badge tone="warn" icon={TriangleAlert}>
            {formatPlural(problems.length, "problem")}
          </Badge>
        )}
        <Button size="sm" icon={Copy} className="ml-auto" onClick={() => void copyText(JSON.stringify(doctor, null, 2), "report")}>
          Copy report
        </Button>
      </div>
      {problems.map((problem) => (
        <p key={problem} className="rounded-md bg-warn-bg px-3 py-2 text-xs text-warn">
          {problem}
        </p>
      ))}
      <Facts
        className="grid-cols-[168px_minmax(0,1fr)]!"
        facts={[
          { label: "Coppice", value: doctor.program },
          { label: "Node", value: doctor.node },
          { label: "SQLite", value: doctor.sqlite },
          { label: "System", value: doctor.platform },
          {
            label: "Addon",
            value: doctor.addon === "loaded" ? "loaded" : `missing${doctor.addonProblem ? `: ${doctor.addonProblem}` : ""}`,
            title: doctor.addonProblem ?? "",
          },
          {
            label: "File system",
            value: store && `${store.filesystem}${store.network ? ", on the network" : ""}${store.writable ? "" : ", read-only"}`,
          },
          { label: "Shared copies (reflink)", value: store && (store.reflink ? "yes" : "no, files are copied") },
        ]}
      />
      {doctor.facilities.length > 0 ? (
        <PlainTable
          label="Facilities"
          heads={["For", "Uses"]}
          rows={doctor.facilities.map((facility) => [facility.name, facility.using])}
        />
      ) : null}
      {holders.length > 0 ? <PlainTable label="Holders" heads={["File", "Held by"]} rows={holders} /> : null}
    </>
  );
}
