import { runProcess } from "./process-runtime.ts";
import { run } from "./program.ts";

/** The entry point of `waybill`. */

await runProcess("waybill", run);
