import { History, ListChecks } from "lucide-react";
import { useState } from "react";
import { useRequest } from "../api/queries.ts";
import { Segmented } from "../ui/segmented.tsx";
import { JobList } from "./job-list.tsx";
import { OperationLog } from "./operation-log.tsx";

type Tab = "operations" | "jobs";

/** What was done to the store, by whom, and what is going on now. */
export function ActivityScreen() {
  const [tab, setTab] = useState<Tab>("operations");
  const running = (useRequest("job.list", {}).data ?? []).filter((job) => job.state === "running" || job.state === "cancelling").length;
  const tabs = (
    <Segmented
      label="Show"
      value={tab}
      onChange={setTab}
      segments={[
        { value: "operations", label: "Operations", icon: History },
        { value: "jobs", label: running > 0 ? `Jobs (${running})` : "Jobs", icon: ListChecks },
      ]}
    />
  );
  return (
    <section aria-label="Activity" className="flex min-h-0 min-w-0 flex-1 flex-col bg-canvas">
      {tab === "operations" ? <OperationLog tabs={tabs} /> : <JobList tabs={tabs} onShowOperations={() => setTab("operations")} />}
    </section>
  );
}
