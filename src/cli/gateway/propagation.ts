import { InvalidArgumentError } from "commander";
import type { Status } from "../../published/table-api.ts";
import { option } from "../command.ts";
import { countingNumber } from "../lib/input.ts";
import { EXIT, type ExitCode, type Runtime } from "../runtime.ts";
import type { GatewayClient, ReadyVersion } from "./client.ts";
import { formatFailure, type GatewayFailure } from "./http.ts";

/** Which revisions a number of requests met. */
export interface Tally {
  readonly asked: number;
  /** Most frequent first. */
  readonly seen: readonly (ReadyVersion & { readonly count: number })[];
  /** The first request that failed; those after it were not sent. */
  readonly failure: GatewayFailure | undefined;
}

interface Probing {
  readonly count: number;
  /** Told of each sight when it comes. No more are sent after one that it does not want. */
  readonly isWanted?: (version: ReadyVersion) => boolean;
  readonly onBatch?: (asked: number) => void;
}

/** So many at once: a probe must not be a load of its own. */
const BATCH = 8;

/** Sends requests in small batches, and counts what they saw. */
export const probe = async (
  gateway: GatewayClient,
  { count, isWanted = () => true, onBatch }: Probing,
): Promise<Tally> => {
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

/** The same, told on a terminal how far it is. */
export const probeWatched = async (gateway: GatewayClient, count: number, runtime: Runtime): Promise<Tally> => {
  if (!runtime.isReportWatched) return probe(gateway, { count });
  const tally = await probe(gateway, { count, onBatch: (asked) => runtime.report(`\rprobed ${asked} of ${count}`) });
  runtime.report("\n");
  return tally;
};

/** How far a change has come: the truth first, then KV, then isolates. What is seen of it at one of these places. */

/** By which table requests go: a revision, and for some IDs the canary's beside it. */
export interface TableVersion {
  readonly revision: number;
  /** `undefined`: none runs. */
  readonly canary: number | undefined;
}

/** Where the last change has not come yet, in the order in which it comes there. */
export type Lag = "pending" | "kv" | "isolate" | "probes";

export const EXIT_OF_LAG: Readonly<Record<Lag, ExitCode>> = {
  pending: EXIT.pending,
  kv: EXIT.kvBehind,
  isolate: EXIT.isolateBehind,
  probes: EXIT.probesBehind,
};

export const publishedVersion = ({ controlPlane: published, canary }: Status): TableVersion =>
  versionOf({ revision: published.revision, canary });

/** The same of KV and of an isolate, as the status shows them. */
export const versionOf = ({ revision, canary }: Pick<Status["isolate"], "revision" | "canary">): TableVersion => ({
  revision,
  canary: canary?.revision,
});

export const isSame = (a: TableVersion, b: TableVersion): boolean => a.revision === b.revision && a.canary === b.canary;

/** `revision 41, canary 42`. */
export const formatVersion = ({ revision, canary }: TableVersion): string =>
  canary === undefined ? `revision ${revision}` : `revision ${revision}, canary ${canary}`;

/** As something that is to come: no canary is a part of it too. */
export const formatPublishedVersion = ({ revision, canary }: TableVersion): string =>
  `revision ${revision} ${canary === undefined ? "without a canary" : `with canary ${canary}`}`;

/** Everything that lags; `seen` is what probes saw. Nothing was ever published where the truth is the table of the build. */
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

/** How long to wait, and how many probes in a row must have seen the last change. */
export interface WaitOptions {
  readonly seconds: number;
  readonly probes: number;
  /** Wait for the object, KV and the isolate that tells of them too. */
  readonly isThorough?: boolean;
}

/** What came of waiting. Times are in ms from the beginning of the wait. */
export interface PropagationResult {
  readonly isSeen: boolean;
  /** What was waited for: the last change, whoever made it. `undefined`: the gateway never told. */
  readonly awaited: TableVersion | undefined;
  /** When the first probe saw it, and when the last of a whole row had. */
  readonly firstSeenMs: number | undefined;
  readonly lastSeenMs: number | undefined;
  /** Of a last row that did not become whole. */
  readonly failure: GatewayFailure | undefined;
}

/** An arrival for programs. */
export type Propagation = { readonly seen: boolean } & Pick<PropagationResult, "firstSeenMs" | "lastSeenMs">;

export const propagationOf = ({ isSeen, firstSeenMs, lastSeenMs }: PropagationResult): Propagation => ({
  seen: isSeen,
  firstSeenMs,
  lastSeenMs,
});

/** KV may show what is old for 60 s, and an isolate looks every 33 s by default. */
const SECONDS_DEFAULT = 120;

/** In a row, where nobody says how many. */
export const PROBES_DEFAULT = 10;

const EVERY_MS = 1_000;

const ERASE = "\r\u001b[K";

/** Without seconds behind it, it waits for as long as a change should take. */
export const waitOption = () =>
  option(
    "--wait [seconds]",
    `wait until probes see the change, ${SECONDS_DEFAULT} s at most by default`,
    waitSeconds,
  ).preset(String(SECONDS_DEFAULT));

/** The word behind it counts as its seconds, so what is none may be a file that was to be changed. */
const waitSeconds = (text: string): number => {
  try {
    return countingNumber(text);
  } catch {
    const hint = "Put the arguments before --wait, or write --wait=60.";
    throw new InvalidArgumentError(`It must be a whole number of seconds, at least 1. ${hint}`);
  }
};

/** Asks once a second for the last change, and then sends probes until one has not seen it, or all of a row have. */
export const waitUntilPropagated = async (
  gateway: GatewayClient,
  options: WaitOptions,
  runtime: Runtime,
): Promise<PropagationResult> => {
  const { nowMs, pause } = runtime;
  const startMs = nowMs();
  const endMs = startMs + options.seconds * 1000;
  let result: PropagationResult = NOTHING_SEEN;
  for (;;) {
    result = await probeOnce(gateway, options, result, startMs, runtime);
    if (result.isSeen || isFinal(result.failure) || nowMs() >= endMs) break;
    await pause(Math.min(EVERY_MS, endMs - nowMs()));
  }
  if (runtime.isReportWatched) runtime.report(ERASE);
  return result;
};

const NOTHING_SEEN: PropagationResult = {
  isSeen: false,
  awaited: undefined,
  firstSeenMs: undefined,
  lastSeenMs: undefined,
  failure: undefined,
};

/** What no patience helps against: a token that does not count, or answers of something else than a gateway. */
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
  // Somebody else changed it meanwhile: what was seen before was seen of another one.
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
    report(
      `${ERASE}waiting for ${formatPublishedVersion(awaited)}: ${count} of ${probes} probes, ${passed} s of ${seconds} s`,
    );
  };
  const { failure } = await probe(gateway, { count: probes, isWanted, onBatch });
  const isSeen = count === probes && (!isThorough || isEverywhere(status.value));
  return { isSeen, awaited, firstSeenMs, lastSeenMs: isSeen ? nowMs() - startMs : undefined, failure };
};

const isEverywhere = (status: Status): boolean => lagsOf(status, []).length === 0;

/** For stdout: how long it took. */
export const formatPropagation = (
  { awaited, firstSeenMs, lastSeenMs }: PropagationResult,
  { probes }: WaitOptions,
): string =>
  awaited === undefined || lastSeenMs === undefined
    ? ""
    : `${formatPublishedVersion(awaited)} was seen first after ${firstSeenMs} ms, and by ${probes} consecutive probes after ${lastSeenMs} ms\n`;

/** For stderr: why it did not come to that. */
export const formatNotPropagated = (
  url: string,
  { awaited, firstSeenMs, failure }: PropagationResult,
  { seconds, probes }: WaitOptions,
): string => {
  const what = awaited === undefined ? "the last change" : formatPublishedVersion(awaited);
  const first = firstSeenMs === undefined ? "no probe saw it" : `the first one saw it after ${firstSeenMs} ms`;
  const why = failure === undefined ? "" : formatFailure(url, failure);
  return `${why}error: ${probes} consecutive probes did not see ${what} within ${seconds} s; ${first}\n`;
};
