/** Entry of the process in which a benchmark runs. */
import { loadSuite } from "#bench/suites.ts";
import { serveBench } from "./serve-bench.ts";

serveBench(loadSuite);
