import type { CopyFailure } from "../features/directory/edge/copies.ts";
import type { DirectoryComparison } from "../features/directory/port.ts";
import type { SequenceUse } from "../features/mint/edge/use.ts";
import type { PackFailure } from "../features/packs/edge/packs.ts";
import type { LoggedDifference } from "../features/shadow/serve.ts";
import type { RejectedChange } from "../ports/admin.ts";
import type { RequestLine } from "../ports/gateway.ts";
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

/** The log for operators: one JSON object a line, each with an `event`. */
const write = (event: string, what: object, level: "warn" | "error" = "warn"): void =>
  console[level](JSON.stringify({ event, time: new Date().toISOString(), ...what }));

/** One line a request, when its answer begins. */
export function writeRequestLine({ atMs, isElsewhere: _, isOwn: __, ...line }: RequestLine): void {
  console.log(JSON.stringify({ event: "request", time: new Date(atMs).toISOString(), ...line }));
}

export const reportLoadFailure = (failure: LoadFailure): void => write("table-load-failed", failure);

/** A pack of the table, or a page of one, that could not be had: IDs that need it are answered 503. */
export const reportPackFailure = (failure: PackFailure): void => write("pack-load-failed", failure);

/** A breaker of this isolate: it leaves an origin alone from now on, or sends it requests again. */
export const reportBreaker = (region: string, url: string, state: "open" | "closed"): void =>
  write(`breaker-${state}`, { region, host: new URL(url).host });

/** Counts that could not be reported, or sums that could not be read. They go with the next report. */
export const reportMetricsFailure = (why: string): void => write("traffic-report-failed", { why });

/** An answer of a directory under verification that the routes do not give. */
export const reportDirectoryComparison = (comparison: DirectoryComparison): void =>
  write("directory-differs", comparison);

/** An object of a directory that did not answer. */
export const reportDirectoryFailure = (error: unknown): void =>
  write("directory-failed", { why: error instanceof Error ? error.message : String(error) });

/** A published copy that failed; the objects were asked. */
export const reportCopyFailure = (failure: CopyFailure): void => write("directory-copy-failed", failure);

/** A table that sends requests through bindings that this deployment lacks: its origins cannot be asked. */
export const reportMissingBindings = (missing: MissingBindings): void => write("bindings-missing", missing);

/** A shadow whose answer was not the client's: what differs, and of what entity. */
export const reportDifference = (difference: LoggedDifference): void => write("shadow-differs", difference);

/** Credentials that were refused, without anything of them. */
export const reportRefusedCredentials = (refused: RefusedCredentials): void => write("credentials-refused", refused);

/** The keys of Cloudflare Access could not be fetched: those that are known stay in use. */
export const reportKeyFailure = (why: string): void => write("access-keys-failed", { why });

/** A change of the table that was refused to a known caller, and that the audit lacks. */
export const reportLostRejection = (refused: RejectedChange, why: string): void =>
  write("audit-entry-lost", { ...refused, why });

/** A sequence that has reached 90 or 99 percent of its range: beyond the last number nothing is minted. */
export const reportSequenceUse = ({ name, last, max, percent }: SequenceUse): void =>
  write("sequence-nearly-used", { sequence: name, percent, last, max });

/** Settings that are invalid, and for which safe values are taken. */
export const reportInvalidSettings = (faults: readonly SettingFault[]): void =>
  write("settings-invalid", { faults }, "error");

/** A module of the build that cannot be loaded: requests that need it are answered 503. */
const reportModule = ({ module, message, cause }: ModuleUnavailable): void =>
  write("module-unavailable", { module, error: cause instanceof Error ? (cause.stack ?? message) : message }, "error");

export function reportDefect(error: unknown): void {
  if (error instanceof ModuleUnavailable) reportModule(error);
  else write("defect", { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, "error");
}

/** An answer whose body ended before its end. A client that has left is only counted: it is not worth a line. */
export function reportBrokenBody(entity: string, reason: string): void {
  if (reason !== "sink-failed") write("body-broken", { entity, reason });
}
