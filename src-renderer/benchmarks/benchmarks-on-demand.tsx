import { Suspense, lazy } from "react";
import { Skeleton } from "../ui/states.tsx";

/** The charts' library is as large as all other screens together: it comes with the first look at a benchmark. */
const Screen = lazy(async () => ({ default: (await import("./benchmarks-screen.tsx")).BenchmarksScreen }));

export function BenchmarksScreen() {
  return (
    <Suspense fallback={<Skeleton lines={12} className="px-4 py-2" />}>
      <Screen />
    </Suspense>
  );
}
