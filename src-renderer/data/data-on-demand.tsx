import { Suspense, lazy } from "react";
import { Skeleton } from "../ui/states.tsx";

/** The editor is as large as several screens: it comes with the first look at data. */
const Screen = lazy(async () => ({ default: (await import("./data-screen.tsx")).DataScreen }));

export function DataScreen() {
  return (
    <Suspense fallback={<Skeleton lines={12} className="px-4 py-2" />}>
      <Screen />
    </Suspense>
  );
}
