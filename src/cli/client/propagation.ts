import { InvalidArgumentError } from "commander";
import type { Status } from "../../formats/table-api.ts";
import { option } from "../command.ts";
import { countingNumber } from "../lib/input.ts";
import { ERASE, escapeControls } from "../lib/output.ts";
import type { Runtime } from "../runtime.ts";
import type { GatewayClient } from "./client.ts";
import { formatFailure, type GatewayFailure } from "./http.ts";

export type Tally = Awaited<ReturnType<typeof probe>>;

export type ReadyVersion = TableVersion & { readonly source: string };

interface Probing {
  readonly count: number;
  /** Called with each version. Probing stops when it returns false. */
  readonly isWanted?: (version: ReadyVersion) => boolean;
  readonly onBatch?: (asked: number) => void;
}

/** Concurrent requests: probing must not be a load of its own. */
const BATCH = 8;

/** `seen`: most frequent first. `failure`: of the first failed request; no more were sent after it. */
export const probe = async (gateway: GatewayClient, { count, isWanted = () => true, onBatch }: Probing) => {
  const counts = new Map<string, ReadyVersion & { readonly count: number }>();
  let asked = 0;
  let failure: GatewayFailure | undefined;
  let isGoing = true;
  const ask = async (): Promise<void> => {
    const version = await gateway.ready();
    if (!version.ok) {
      failure ??= version.error;
      isGoing = false;
      return;
    }
    asked += 1;
    const { revision, source, canary } = version.value;
    const key = `${revision} ${source} ${canary}`;
    counts.set(key, { ...version.value, count: (counts.get(key)?.count ?? 0) + 1 });
    if (!isWanted(version.value)) isGoing = false;
  };
  while (asked < count && isGoing) {
    await Promise.all(Array.from({ length: Math.min(BATCH, count - asked) }, ask));
    onBatch?.(asked);
  }
  return { asked, seen: [...counts.values()].sort((a, b) => b.count - a.count), failure };
};

/** The same, with progress on a terminal. */
export const probeWatched = async (gateway: GatewayClient, count: number, runtime: Runtime): Promise<Tally> => {
  const show = runtime.isReportWatched ? runtime.report : () => undefined;
  const tally = await probe(gateway, { count, onBatch: (asked) => show(`\rprobed ${asked} of ${count}`) });
  show("\n");
  return tally;
};

/** The revision that routes, and the canary beside it. */
interface TableVersion {
  readonly revision: number;
  /** `undefined`: no canary is running. */
  readonly canary: number | undefined;
}

/** Where the last change is missing, in the order of propagation. */
export type Lag = "pending" | "kv" | "isolate" | "probes";

export const publishedVersion = ({ controlPlane: published, canary }: Status): TableVersion =>
  versionOf({ revision: published.revision, canary });

/** The version of KV or of an isolate. */
export const versionOf = ({ revision, canary }: Pick<Status["isolate"], "revision" | "canary">): TableVersion => ({
  revision,
  canary: canary?.revision,
});

export const isSame = (a: TableVersion, b: TableVersion): boolean => a.revision === b.revision && a.canary === b.canary;

/** `revision 41, canary 42`. */
export const formatVersion = ({ revision, canary }: TableVersion): string =>
  canary === undefined ? `revision ${revision}` : `revision ${revision}, canary ${canary}`;

/** All places that lag. `seen`: what probes saw. Revision 0 is the table of the build, which KV does not have. */
export const lagsOf = (status: Status, seen: readonly TableVersion[]): readonly Lag[] => {
  const published = publishedVersion(status);
  const { kv, isolate, pending } = status;
  const isInKv = kv ? isSame(versionOf(kv), published) : published.revision === 0;
  const lags: readonly (readonly [Lag, boolean])[] = [
    ["pending", pending],
    ["kv", !pending && !isInKv],
    ["isolate", !isSame(versionOf(isolate), published)],
    ["probes", !seen.every((version) => isSame(version, published))],
  ];
  return lags.flatMap(([lag, isBehind]) => (isBehind ? [lag] : []));
};

export interface WaitOptions {
  readonly seconds: number;
  readonly probes: number;
  /** Also wait for control plane, KV and the responding isolate. */
  readonly isThorough?: boolean;
  /** The start of the times; by default that of the wait. */
  readonly sinceMs?: number;
}

/** The result of a wait. Times in ms from its start, or from when the change was sent. */
export interface PropagationResult {
  readonly isSeen: boolean;
  /** The last change, of any author. Absent: the status was never available. */
  readonly awaited?: TableVersion;
  /** When the first probe saw it, and when all consecutive probes had. */
  readonly firstSeenMs?: number | undefined;
  readonly lastSeenMs?: number | undefined;
  /** Failure of the last series of probes. */
  readonly failure?: GatewayFailure | undefined;
}

export const propagationOf = ({ isSeen, firstSeenMs, lastSeenMs }: PropagationResult) => ({
  seen: isSeen,
  firstSeenMs,
  lastSeenMs,
});

/** KV may be stale for 60 s, and an isolate checks every 33 s by default. */
const SECONDS_DEFAULT = 120;

export const PROBES_DEFAULT = 10;
const EVERY_MS = 1_000;

const ON_CLOUDFLARE = "on Cloudflare within 2 minutes";

/** When a change counts. */
export const IN_FORCE_BY = `at once in a gateway of one process, within seconds in a cluster, ${ON_CLOUDFLARE}`;

/** The same, for the one who confirms it. */
export const EFFECT = `takes effect ${IN_FORCE_BY}\n`;

export const NOT_AWAITED = "not yet known to be in force; watch it with `waybill table status --wait`\n";

/** Seconds to wait for probes, at a terminal by default, unless JSON is read. `here`: for the isolate that answers. `false`: for nothing. */
export const waitFor = (
  { wait, json = false }: { readonly wait?: number | false; readonly json?: boolean },
  { isReportWatched }: Pick<Runtime, "isReportWatched">,
): number | "here" | false => wait ?? (isReportWatched && !json ? SECONDS_DEFAULT : "here");

/** A gateway of one process needs less. Others follow by their own times. */
const HERE_MS = 2_000;
const HERE_POLL_MS = 100;

/** The last status, and when the isolate that answered had the last change, in ms since it was sent; `undefined`: it has not. */
export interface InForceHere {
  readonly status?: Status;
  readonly afterMs?: number;
}

/** Asks for two seconds at most until the isolate that answers has the last change. */
export const untilHere = async (
  gateway: GatewayClient,
  sinceMs: number,
  { nowMs, pause }: Pick<Runtime, "nowMs" | "pause">,
): Promise<InForceHere> => {
  const endMs = nowMs() + HERE_MS;
  for (;;) {
    const answer = await gateway.status();
    const here: InForceHere = answer.ok ? { status: answer.value } : {};
    if (answer.ok && !lagsOf(answer.value, []).includes("isolate")) return { ...here, afterMs: nowMs() - sinceMs };
    if (nowMs() >= endMs || (!answer.ok && isFinal(answer.error))) return here;
    await pause(HERE_POLL_MS);
  }
};

const secondsText = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

/** For stdout. `status`: the answer of a gateway in a cluster has its machines. */
export const formatHere = (afterMs: number, status?: Status): string => {
  const elsewhere = status?.machines ? "within seconds on all edges" : `${ON_CLOUDFLARE} everywhere`;
  return `in force here after ${secondsText(afterMs)}; ${elsewhere}\n`;
};

/** For stderr. */
export const formatNotHere = ({ status }: InForceHere): string => {
  if (status === undefined) return NOT_AWAITED;
  const why = status.lastError ? ` (${escapeControls(status.lastError)})` : "";
  const what = status.pending ? `stored, but not yet in KV${why}` : "not yet in force here";
  const elsewhere = status.machines ? "" : `${ON_CLOUDFLARE}; `;
  return `${what}, ${HERE_MS / 1000} s after it was accepted; ${elsewhere}watch it with \`waybill table status --wait\`\n`;
};

/** Without a value, it waits as long as a change should take. */
export const waitOption = () =>
  option(
    "--wait [seconds]",
    `wait until probes see the change, ${SECONDS_DEFAULT} s at most by default`,
    waitSeconds,
  ).preset(String(SECONDS_DEFAULT));

/** The next word is taken as seconds; if it is not a number, it may be the command's file. */
const waitSeconds = (text: string): number => {
  try {
    return countingNumber(text);
  } catch {
    const hint = "Put the arguments before --wait, or write --wait=60.";
    throw new InvalidArgumentError(`It must be a whole number of seconds, at least 1. ${hint}`);
  }
};

/** Polls the last change once a second, then probes until one does not see it, or all do. */
export const waitUntilPropagated = async (gateway: GatewayClient, options: WaitOptions, runtime: Runtime) => {
  const { nowMs, pause } = runtime;
  const endMs = nowMs() + options.seconds * 1000;
  const startMs = options.sinceMs ?? nowMs();
  let result: PropagationResult = { isSeen: false };
  for (;;) {
    result = await probeOnce(gateway, options, result, startMs, runtime);
    if (result.isSeen || isFinal(result.failure) || nowMs() >= endMs) break;
    await pause(Math.min(EVERY_MS, endMs - nowMs()));
  }
  if (runtime.isReportWatched) runtime.report(ERASE);
  return result;
};

/** Errors that retries do not fix: a rejected token, or a server that is not a gateway. */
const isFinal = (failure: GatewayFailure | undefined): boolean =>
  failure !== undefined &&
  (failure.reason === "redirected" ||
    failure.reason === "strange" ||
    (failure.reason === "problem" && failure.problem.status < 500 && failure.problem.status !== 429));

const probeOnce = async (
  gateway: GatewayClient,
  { seconds, probes, isThorough = false }: WaitOptions,
  before: PropagationResult,
  startMs: number,
  { nowMs, report, isReportWatched }: Runtime,
): Promise<PropagationResult> => {
  const status = await gateway.status();
  if (!status.ok) return { ...before, failure: status.error };
  const awaited = publishedVersion(status.value);
  // If another change landed meanwhile, earlier probes do not count.
  let firstSeenMs = before.awaited !== undefined && isSame(before.awaited, awaited) ? before.firstSeenMs : undefined;
  let count = 0;
  const isWanted = (version: TableVersion): boolean => {
    if (!isSame(version, awaited)) return false;
    firstSeenMs ??= nowMs() - startMs;
    count += 1;
    return true;
  };
  const onBatch = (): void => {
    if (!isReportWatched) return;
    const passed = Math.round((nowMs() - startMs) / 1000);
    report(`${ERASE}waiting for ${formatVersion(awaited)}: ${count} of ${probes} probes, ${passed} s of ${seconds} s`);
  };
  const { failure } = await probe(gateway, { count: probes, isWanted, onBatch });
  const isSeen = count === probes && (!isThorough || lagsOf(status.value, []).length === 0);
  return { isSeen, awaited, firstSeenMs, lastSeenMs: isSeen ? nowMs() - startMs : undefined, failure };
};

/** For stdout. */
export const formatPropagation = ({ awaited, firstSeenMs, lastSeenMs }: PropagationResult, { probes }: WaitOptions) => {
  if (awaited === undefined || lastSeenMs === undefined) return "";
  const here = `in force here after ${secondsText(firstSeenMs ?? lastSeenMs)}`;
  return `${here}; ${probes} consecutive probes saw ${formatVersion(awaited)} after ${secondsText(lastSeenMs)}\n`;
};

/** For stderr. */
export const formatNotPropagated = (
  url: string,
  { awaited, firstSeenMs, failure }: PropagationResult,
  { seconds, probes }: WaitOptions,
): string => {
  const what = awaited === undefined ? "the last change" : formatVersion(awaited);
  const first = firstSeenMs === undefined ? "no probe saw it" : `the first one saw it after ${firstSeenMs} ms`;
  const why = failure === undefined ? "" : formatFailure(url, failure);
  return `${why}error: ${probes} consecutive probes did not see ${what} within ${seconds} s; ${first}\n`;
};
