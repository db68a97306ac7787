import type { RequestInput } from "#shared/contract.ts";
import type { DoctorView, ImportReport, RepairReport } from "#shared/views.ts";
import type { DemoWork } from "#engine/demo/build-demo.ts";
import type { OpenOptions, Store } from "#engine/store-api.ts";
import type { JobWork } from "./jobs.ts";

/** The engine as the worker starts it. A port, so that tests can serve a small store of their own. */
export interface EngineEntry {
  openStore(spec: string, options: OpenOptions): Promise<Store>;
  createStore(spec: string, options: OpenOptions): Promise<Store>;
  /** Gives a store that is not open a new catalog when its own is lost. */
  repairStore(spec: string, work: JobWork): Promise<RepairReport>;
  /** Looks at a file before any store is open. */
  inspectFile(input: RequestInput<"database.inspect">, work: JobWork): Promise<ImportReport>;
  /** The machine, and the store when one is open. */
  diagnose(store: Store | null): Promise<DoctorView>;
  /** Fills an empty store with the demo database and its history; throws `cancelled`. */
  fillDemo(store: Store, work: DemoWork): Promise<void>;
}
