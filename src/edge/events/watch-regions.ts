import type { LogEvent } from "../../formats/console-api.ts";
import {
  durationText,
  FEW_ERRORS,
  judgeRegion,
  MANY_SHARE,
  type RecentTraffic,
  type RegionSince,
  shareText,
} from "../../formats/region-state.ts";
import type { OriginStatus } from "../../ports/gateway.ts";
import { dueOf, type HoldMs, type Settled, settle, type WatchedStates } from "./settled.ts";

/** An event before it has a place in the log. */
export interface EventDraft extends Omit<LogEvent, "id" | "time"> {
  readonly atMs: number;
}

interface Watched {
  readonly drafts: readonly EventDraft[];
  /** When a state is due to be told that has not held for long enough yet; Unix ms. */
  readonly dueMs: number;
}

export interface Observed {
  /** Origins of the table in force. */
  readonly origins: readonly OriginStatus[];
  /** Figures of the last minute, by region; "" for none. */
  readonly recent: ReadonlyMap<string, RecentTraffic>;
  /** Whether that table is the one in force for certain. */
  readonly isCertain: boolean;
}

interface Evidence {
  readonly name: string;
  readonly origins: readonly OriginStatus[];
  readonly recent: RecentTraffic | undefined;
}

/** Figures of the last minute still have the errors of an outage that is over. */
const RESIDUE_MS = 75_000;

const REGION_HOLDS: Readonly<Record<string, number>> = {
  // Its evidence has held already.
  down: 0,
  degraded: 10_000,
  // A breaker is half open between two times that it is open.
  testing: 60_000,
  healthy: 30_000,
  "not-asked": 30_000,
};

const regionHold: HoldMs = (from, to) => {
  if (from === "down" && to === "degraded") return RESIDUE_MS;
  // A region without requests is no event.
  if (from === "healthy" && to === "not-asked") return Number.POSITIVE_INFINITY;
  return REGION_HOLDS[to] ?? 0;
};

const originHold: HoldMs = (_, to) => (to === "down" ? 0 : 30_000);

/** Errors are over below this share: half of that from which they are many. */
const OVER_SHARE = MANY_SHARE / 2;

const errorsHold: HoldMs = (_, to) => (to === "many" ? 10_000 : 60_000);

const HEALTHY: Settled = { state: "healthy" };
const UP: Settled = { state: "up" };
const FEW: Settled = { state: "few" };

const regionKey = (region: string): string => `region ${region}`;
const errorsKey = (region: string): string => `errors ${region}`;
const originKey = ({ region, host }: Pick<OriginStatus, "region" | "host">): string => `origin ${region} ${host}`;

/** Since when a region is as it is shown: a key beside the state that was told, which is slower. */
const shownKey = (region: string): string => `shown ${region}`;

/** Judges all regions of the table, their origins, and the shares of errors. */
export function watchRegions(
  states: WatchedStates,
  { origins: all, recent, isCertain }: Observed,
  nowMs: number,
): Watched {
  const names = [...new Set(all.map(({ region }) => region))];
  const watched = names.map((name) => {
    const origins = all.filter(({ region, weight }) => region === name && weight > 0);
    const evidence = { name, origins, recent: recent.get(name) };
    return [
      watchRegion(states, evidence, nowMs),
      ...origins
        // The region says all about a single origin.
        .filter((origin) => origins.length > 1 || states.get(originKey(origin)) !== undefined)
        .map((origin) => watchOrigin(states, origin, nowMs)),
      watchErrors(states, evidence, nowMs),
    ];
  });
  const elsewhere = watchErrors(states, { name: "", origins: [], recent: recent.get("") }, nowMs);
  const gone = isCertain ? dropOthers(states, names, all, nowMs) : [];
  const parts = [...watched.flat(), elsewhere];
  return {
    drafts: [...parts.flatMap(({ drafts }) => drafts), ...gone],
    dueMs: Math.min(...parts.map(({ dueMs }) => dueMs)),
  };
}

/** By region; only of those whose time is known. */
export function shownStates(states: WatchedStates): ReadonlyMap<string, RegionSince> {
  const prefix = shownKey("");
  return new Map(
    states.keys(prefix).flatMap((key) => {
      const { state = "", sinceMs } = states.get(key) ?? {};
      return sinceMs === undefined ? [] : [[key.slice(prefix.length), { state, sinceMs }] as const];
    }),
  );
}

function watchRegion(states: WatchedStates, { name, origins, recent }: Evidence, nowMs: number): Watched {
  const health = judgeRegion(origins, recent, nowMs);
  const key = regionKey(name);
  const before = states.get(key) ?? HEALTHY;
  // Their share is an event of its own.
  const calm = judgeRegion(origins, recent && { ...recent, errors: 0 }, nowMs);
  const isByErrors = health.state === "degraded" && calm.state !== "degraded" && before.state !== "down";
  const after = settle(before, isByErrors ? calm.state : health.state, nowMs, regionHold);
  states.set(key, after);
  noteShown(states, name, health.state, after, nowMs);
  if (after.state === before.state) return { drafts: [], dueMs: dueOf(after, regionHold) };
  const isOver = after.state === "healthy" || after.state === "not-asked";
  const { words, lastedMs } = regionWords(name, before, after, health.basis);
  const draft: EventDraft = {
    atMs: after.sinceMs ?? nowMs,
    kind: "region",
    type: `region.${after.state}`,
    words,
    region: name,
    evidence: {
      origins: origins.length,
      originsDown: origins.filter((origin) => stateOf(origin, nowMs) === "down").length,
      ...figuresOf(recent),
      ...(lastedMs === undefined ? {} : { lastedSeconds: Math.round(lastedMs / 1000) }),
    },
    ...(isOver && { isOver }),
  };
  return { drafts: [draft], dueMs: Number.POSITIVE_INFINITY };
}

function regionWords(name: string, before: Settled, after: Settled, basis: string) {
  const lastedMs =
    before.sinceMs === undefined || after.sinceMs === undefined ? undefined : after.sinceMs - before.sinceMs;
  const was = before.state === "not-asked" ? "not asked" : before.state;
  const afterThat = lastedMs === undefined ? "" : `, after ${durationText(lastedMs)} ${was}`;
  const words: Readonly<Record<string, string>> = {
    down: `${name} is down. ${basis}`,
    degraded:
      before.state === "down" ? `${name} answers again, but is degraded. ${basis}` : `${name} is degraded. ${basis}`,
    testing: `${name} is being tested${afterThat}. ${basis}`,
    healthy: `${name} is healthy again${afterThat}.`,
    "not-asked": `${name} is no longer asked${afterThat}. ${basis}`,
  };
  return { words: words[after.state] ?? `${name} is ${after.state}.`, lastedMs };
}

/** A region that is down is tested now and then: it is down since it was first. */
function noteShown(states: WatchedStates, name: string, state: string, told: Settled, nowMs: number): void {
  const key = shownKey(name);
  const before = states.get(key);
  if (before?.state === state) return;
  const toldMs = told.state === state ? told.sinceMs : undefined;
  states.set(key, before === undefined && toldMs === undefined ? { state } : { state, sinceMs: toldMs ?? nowMs });
}

/** `undefined`: it is being found out. */
function stateOf({ breaker, lastCheck }: OriginStatus, nowMs: number): "up" | "down" | undefined {
  if (breaker === "open") return "down";
  const hasFailed = lastCheck?.isGood === false && nowMs - lastCheck.atMs < CHECK_FRESH_MS;
  if (hasFailed) return "down";
  return breaker === "half-open" ? undefined : "up";
}

/** As `judgeRegion` has it. */
const CHECK_FRESH_MS = 300_000;

function watchOrigin(states: WatchedStates, origin: OriginStatus, nowMs: number): Watched {
  const key = originKey(origin);
  const before = states.get(key) ?? UP;
  const after = settle(before, stateOf(origin, nowMs) ?? before.state, nowMs, originHold);
  if (states.get(key) !== undefined || after !== UP) states.set(key, after);
  if (after.state === before.state) return { drafts: [], dueMs: dueOf(after, originHold) };
  const { host, region } = origin;
  const isOver = after.state === "up";
  const lastedMs = isOver ? (after.sinceMs ?? nowMs) - (before.sinceMs ?? nowMs) : undefined;
  // It was down all the time that anything is known of it.
  if (isOver) states.drop(key);
  const draft: EventDraft = {
    atMs: after.sinceMs ?? nowMs,
    kind: "origin",
    type: `origin.${after.state}`,
    words:
      lastedMs === undefined
        ? `${host} of ${region} is down: ${whyDown(origin)}.`
        : `${host} of ${region} answers again, after ${durationText(lastedMs)}.`,
    region,
    evidence: {
      host,
      breaker: origin.breaker,
      ...(origin.lastCheck?.status === undefined ? {} : { checkStatus: origin.lastCheck.status }),
      ...(origin.lastFault === undefined ? {} : { lastFault: origin.lastFault.fault }),
      ...(lastedMs === undefined ? {} : { lastedSeconds: Math.round(lastedMs / 1000) }),
    },
    ...(isOver && { isOver }),
  };
  return { drafts: [draft], dueMs: Number.POSITIVE_INFINITY };
}

function whyDown({ breaker, lastCheck, lastFault }: OriginStatus): string {
  if (lastCheck?.isGood === false) {
    return lastCheck.fault === undefined
      ? `its check got status ${lastCheck.status}`
      : `its check failed (${plain(lastCheck.fault)})`;
  }
  const after = lastFault === undefined ? "" : `, after failures (${plain(lastFault.fault)})`;
  return breaker === "open" ? `its circuit breaker is open${after}` : "it does not answer";
}

/** Error types of RFC 9209 are words with underscores. */
const plain = (fault: string): string => fault.replaceAll("_", " ");

function watchErrors(states: WatchedStates, { name, recent }: Evidence, nowMs: number): Watched {
  const key = errorsKey(name);
  const before = states.get(key) ?? FEW;
  const { requests = 0, errors = 0 } = recent ?? {};
  const share = requests === 0 ? 0 : errors / requests;
  // A region that is down is told already.
  const isDown = states.get(regionKey(name))?.state === "down";
  const isMany = share >= MANY_SHARE && errors >= FEW_ERRORS && (before.state === "many" || !isDown);
  const state = isMany ? "many" : share < OVER_SHARE || before.state === "few" ? "few" : "many";
  const after = settle(before, state, nowMs, errorsHold);
  if (states.get(key) !== undefined || after !== FEW) states.set(key, after);
  if (after.state === before.state) return { drafts: [], dueMs: dueOf(after, errorsHold) };
  if (after.state === "few") states.drop(key);
  const draft = errorsEvent(before, after, { name, recent, share, nowMs });
  return { drafts: [draft], dueMs: Number.POSITIVE_INFINITY };
}

interface Share extends Pick<Evidence, "name" | "recent"> {
  readonly share: number;
  readonly nowMs: number;
}

function errorsEvent(before: Settled, after: Settled, { name, recent, share, nowMs }: Share): EventDraft {
  const isOver = after.state === "few";
  const atMs = after.sinceMs ?? nowMs;
  const lastedMs = isOver ? atMs - (before.sinceMs ?? nowMs) : 0;
  const failed = `${count(recent?.errors ?? 0)} of ${count(recent?.requests ?? 0)}`;
  const many = `${shareText(share)} of the requests ${whereText(name)} fail: ${failed} in the last minute.`;
  const few = `The errors of requests ${whereText(name)} are over, after ${durationText(lastedMs)}: ${failed} failed in the last minute.`;
  return {
    atMs,
    kind: "errors",
    type: `errors.${after.state}`,
    words: isOver ? few : many,
    ...(name !== "" && { region: name }),
    evidence: {
      ...figuresOf(recent),
      percent: Number((share * 100).toPrecision(3)),
      boundPercent: (isOver ? OVER_SHARE : MANY_SHARE) * 100,
      ...(isOver && { lastedSeconds: Math.round(lastedMs / 1000) }),
    },
    ...(isOver && { isOver }),
  };
}

const whereText = (region: string): string => (region === "" ? "that go to no region" : `to ${region}`);

const count = (number: number): string => number.toLocaleString("en");

const figuresOf = (recent: RecentTraffic | undefined) =>
  recent === undefined ? {} : { requests: recent.requests, errors: recent.errors, faults: recent.faults };

/** Regions and origins that the table no longer has, or that get no requests: their events are over. */
function dropOthers(
  states: WatchedStates,
  names: readonly string[],
  all: readonly OriginStatus[],
  nowMs: number,
): readonly EventDraft[] {
  const used = all.filter(({ weight }) => weight > 0);
  const kept = new Set([
    ...names.flatMap((name) => [regionKey(name), errorsKey(name), shownKey(name)]),
    errorsKey(""),
    ...used.map(originKey),
  ]);
  const prefixes = [regionKey(""), errorsKey(""), shownKey(""), "origin "];
  return prefixes.flatMap((prefix) =>
    states.keys(prefix).flatMap((key): readonly EventDraft[] => {
      if (kept.has(key)) return [];
      const state = states.get(key)?.state;
      states.drop(key);
      if (prefix === shownKey("") || state === "healthy" || state === "up" || state === "few") return [];
      const name = key.slice(prefix.length);
      const [kind = ""] = prefix.split(" ");
      const [region = "", host] = name.split(" ");
      const words =
        kind === "origin"
          ? `${host} of ${region} is no longer asked: the table does not send it requests.`
          : `${name} is no longer a region of the table.`;
      const evidence = host === undefined ? {} : { host };
      return [{ atMs: nowMs, kind: kind as "region", type: `${kind}.gone`, words, region, evidence, isOver: true }];
    }),
  );
}
