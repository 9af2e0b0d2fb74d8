import type { RejectedChange } from "../ports/admin.ts";
import type { RequestLine } from "../ports/gateway.ts";
import type { TableChangeError } from "../problems/errors.ts";
import { ModuleUnavailable } from "../problems/loadable.ts";
import type { RefusedCredentials } from "./auth/authenticate.ts";
import type { MissingBindings } from "./platform.ts";
import type { SettingFault } from "./settings.ts";
import type { LoadFailure } from "./table/kv.ts";

/** One data point a request, sampled by entity, without path and ID. Positions never change: queries name them. */
export function analyticsWriter(dataset: Pick<AnalyticsEngineDataset, "writeDataPoint">): (line: RequestLine) => void {
  return (line) =>
    dataset.writeDataPoint({
      indexes: [line.entity ?? ""],
      blobs: [line.entity ?? "", line.region ?? "", line.layout ?? "", line.outcome, line.method],
      doubles: [line.status, line.ms, line.originMs ?? NO_ORIGIN_MS, line.attempts, line.revision ?? 0],
    });
}

/** Stands for "no origin answered": an average must leave it out, and a 0 would be a time. */
const NO_ORIGIN_MS = -1;

/** The log for operators: one JSON object a line, each with an `event`. The lines of a feature stand with it. */
export const writeEvent = (event: string, evidence: object, level: "warn" | "error" = "warn"): void =>
  console[level](JSON.stringify({ event, time: new Date().toISOString(), ...evidence }));

/** One line a request, when its answer begins. */
export function writeRequestLine({
  atMs,
  isElsewhere: _,
  isOwn: __,
  asked: ___,
  rule: ____,
  ...line
}: RequestLine): void {
  console.log(JSON.stringify({ event: "request", time: new Date(atMs).toISOString(), ...line }));
}

/** A form of a published table that the control plane could not write: isolates check and compile the table. */
export const reportFormFailure = (why: string): void => writeEvent("table-form-failed", { why });

export const reportLoadFailure = (failure: LoadFailure): void => writeEvent("table-load-failed", failure);

/** The table that a start handed over is not in force: nothing is served, and the start ends. */
export const reportStartFailure = (error: TableChangeError): void => writeEvent("start-failed", error, "error");

/** A breaker of this isolate: it leaves an origin alone from now on, or sends it requests again. */
export const reportBreaker = (region: string, url: string, state: "open" | "closed"): void =>
  writeEvent(`breaker-${state}`, { region, host: new URL(url).host });

/** Counts that could not be reported, or sums that could not be read. They go with the next report. */
export const reportMetricsFailure = (why: string): void => writeEvent("traffic-report-failed", { why });

/** A table that sends requests through bindings that this deployment lacks: its origins cannot be asked. */
export const reportMissingBindings = (missing: MissingBindings): void => writeEvent("bindings-missing", missing);

/** Credentials that were refused, without anything of them. */
export const reportRefusedCredentials = (refused: RefusedCredentials): void =>
  writeEvent("credentials-refused", refused);

/** The keys of Cloudflare Access could not be fetched: those that are known stay in use. */
export const reportKeyFailure = (why: string): void => writeEvent("access-keys-failed", { why });

/** A change of the table that was refused to a known caller, and that the audit lacks. */
export const reportLostRejection = (refused: RejectedChange, why: string): void =>
  writeEvent("audit-entry-lost", { ...refused, why });

/** Settings that are invalid, and for which safe values are taken. */
export const reportInvalidSettings = (faults: readonly SettingFault[]): void =>
  writeEvent("settings-invalid", { faults }, "error");

/** A module of the build that cannot be loaded: requests that need it are answered 503. */
const reportModule = ({ module, message, cause }: ModuleUnavailable): void =>
  writeEvent(
    "module-unavailable",
    { module, error: cause instanceof Error ? (cause.stack ?? message) : message },
    "error",
  );

export function reportDefect(error: unknown): void {
  if (error instanceof ModuleUnavailable) reportModule(error);
  else
    writeEvent("defect", { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, "error");
}

/** An answer whose body ended before its end. A client that has left is only counted: it is not worth a line. */
export function reportBrokenBody(entity: string, reason: string): void {
  if (reason !== "sink-failed") writeEvent("body-broken", { entity, reason });
}
