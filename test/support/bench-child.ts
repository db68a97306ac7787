/** The process of a benchmark with the suites of the tests. */
import { serveBench } from "#host/serve-bench.ts";
import { TEST_SUITES } from "./bench-suites.ts";

serveBench(async (id) => TEST_SUITES.find((suite) => suite.id === id) ?? null);
