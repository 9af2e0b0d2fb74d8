import { batch, computed, signal } from "@preact/signals";
import type { ConsoleEvents, EventLog, HistorySpan, LogEvent, MetricsHistory } from "../../formats/console-api.ts";
import type { Status, TableRevision } from "../../formats/table-api.ts";
import { call, hasExpired, inOrder, type Problem } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { knownTable, loadTable } from "../app/session.ts";
import type { Regions } from "../lookup/ask.ts";
import { follows, lastOf, mergeHistory } from "./history.ts";
import { resetCursor } from "./plot/cursor.ts";

/** The data of the overview, kept up to date while it is open. */

export type Range = "15 min" | "1 h" | "6 h" | "24 h" | "7 days" | "30 days";

const DAY_SECONDS = 86_400;

/** How far each goes back, and where its figures are kept. */
export const RANGES: Readonly<Record<Range, { readonly span: HistorySpan; readonly seconds: number }>> = {
  "15 min": { span: "hour", seconds: 900 },
  "1 h": { span: "hour", seconds: 3_600 },
  "6 h": { span: "day", seconds: 21_600 },
  "24 h": { span: "day", seconds: DAY_SECONDS },
  "7 days": { span: "month", seconds: 7 * DAY_SECONDS },
  "30 days": { span: "month", seconds: 30 * DAY_SECONDS },
};

export const range = signal<Range>("1 h");

/** After `last`. */
export const rangeText = (of: Range): string => (of === "1 h" ? "hour" : of);

/** The last hour, whatever the range is: what is wrong now is read from it. */
export const hour = signal<MetricsHistory | undefined>(undefined);
/** A day or a month, while the range needs it. */
const longer = signal<MetricsHistory | undefined>(undefined);
export const historyProblem = signal<Problem | undefined>(undefined);
export const regions = signal<Regions | undefined>(undefined);
export const regionsProblem = signal<Problem | undefined>(undefined);
/** Unix ms: when the states were last read. */
export const regionsAtMs = signal(0);
/** Unix ms, updated every few seconds: ages grow while no update arrives. */
export const clock = signal(gatewayNow());
/** Older states are none of now: two answers in turn did not come. */
const OLD_MS = 10_000;
export const areStatesOld = computed(() => regionsAtMs.value > 0 && clock.value - regionsAtMs.value > OLD_MS);
export const status = signal<Status | undefined>(undefined);
export const revisions = signal<readonly TableRevision[] | undefined>(undefined);
export const log = signal<EventLog | undefined>(undefined);
export const logProblem = signal<Problem | undefined>(undefined);
export const isLive = signal(false);

/** The figures of the range. */
export const shown = computed((): MetricsHistory | undefined => {
  const { span, seconds } = RANGES[range.value];
  const own = span === "hour" ? hour.value : longer.value;
  return own?.span === span ? lastOf(own, seconds) : undefined;
});

const askHistory = inOrder();

export async function loadHistory(): Promise<void> {
  const { span } = RANGES[range.value];
  const isNews = askHistory();
  const [short, long] = await Promise.all([
    call<MetricsHistory>("/-/metrics/history?span=hour"),
    span === "hour" ? undefined : call<MetricsHistory>(`/-/metrics/history?span=${span}`),
  ]);
  if (!isNews()) return;
  if (short.ok) hour.value = short.value;
  if (long?.ok) longer.value = long.value;
  const failed = [short, long].find((answer) => answer?.ok === false);
  historyProblem.value = failed?.ok === false ? failed.problem : undefined;
}

export function setRange(next: Range): void {
  range.value = next;
  resetCursor();
  void loadHistory();
}

const IN_TROUBLE: ReadonlySet<string> = new Set(["down", "degraded", "testing"]);

/** The steps that are new, before the stream brings them. */
async function loadNews(): Promise<void> {
  const from = hour.value?.at.at(-1);
  if (from === undefined) return;
  const answer = await call<MetricsHistory>(`/-/metrics/history?span=hour&from=${from}`);
  if (answer.ok) takeTraffic(answer.value);
}

const askRegions = inOrder();

export async function loadRegions(): Promise<void> {
  const isNews = askRegions();
  const answer = await call<Regions>("/-/regions");
  // Figures of before would say that all is well.
  if (answer.ok && Object.values(answer.value.regions).some(({ state }) => IN_TROUBLE.has(state))) await loadNews();
  if (!isNews()) return;
  batch(() => {
    if (answer.ok) {
      regions.value = answer.value;
      regionsAtMs.value = gatewayNow();
    }
    regionsProblem.value = answer.ok ? undefined : answer.problem;
  });
}

const REVISIONS = 50;

const askPublished = inOrder();

/** The table in force and the last ones before it: again whenever another one is. */
export async function loadPublished(): Promise<void> {
  const isNews = askPublished();
  const [now, before] = await Promise.all([
    call<Status>("/-/table/status"),
    call<{ revisions: readonly TableRevision[] }>(`/-/table/revisions?limit=${REVISIONS}`),
  ]);
  if (!isNews()) return;
  if (now.ok) status.value = now.value;
  if (before.ok) revisions.value = before.value.revisions;
}

const STATUS_MS = 5_000;

/** While machines or isolates are looked at. Returns how to end it. */
export function watchStatus(): () => void {
  void loadPublished();
  const timer = setInterval(() => void loadPublished(), STATUS_MS);
  return () => clearInterval(timer);
}

const LOG_PAGE = 20;
/** More are in the answers of the gateway itself. */
const LOG_MAX = 500;

export async function loadLog(before?: number): Promise<void> {
  const answer = await call<EventLog>(
    `/-/events/log?limit=${LOG_PAGE}${before === undefined ? "" : `&before=${before}`}`,
  );
  logProblem.value = answer.ok ? undefined : answer.problem;
  if (!answer.ok) return;
  const known = before === undefined ? [] : (log.value?.events ?? []);
  log.value = { ...answer.value, events: joinEvents(known, answer.value.events) };
}

/** Newest first, each once. */
const joinEvents = (known: readonly LogEvent[], more: readonly LogEvent[]): readonly LogEvent[] =>
  [...new Map([...known, ...more].map((event) => [event.id, event])).values()]
    .toSorted((a, b) => b.id - a.id)
    .slice(0, LOG_MAX);

function takeEvent(event: LogEvent): void {
  const isNew = !(log.value?.events ?? []).some(({ id }) => id === event.id);
  if (log.value !== undefined) log.value = { ...log.value, events: joinEvents(log.value.events, [event]) };
  // The states are of the same moment, and must not wait for their turn.
  if (isNew && (event.kind === "region" || event.kind === "origin" || event.kind === "errors")) void loadRegions();
}

/** States change faster than figures: an incident must show within 10 s. */
const REGIONS_MS = 4_000;
const HISTORY_MS = 10_000;

/** Figures that cannot be read, or that do not follow those of the page, are asked for as a whole: old ones would pass for those of now. */
function takeTraffic(news: MetricsHistory): void {
  const known = hour.peek();
  if (known === undefined) hour.value = news;
  else if (follows(known, news)) hour.value = mergeHistory(known, news);
  else void loadHistory();
}

function loadAll(): void {
  void loadHistory();
  void loadRegions();
  void loadPublished();
  void loadLog();
}

/** Opens the stream of events, and asks in turn while it is closed. Returns how to end both. */
export function watchLive(): () => void {
  let stream: EventSource | undefined;
  let isAgain = false;
  const eventsOf = <Name extends keyof ConsoleEvents>(name: Name, take: (data: ConsoleEvents[Name]) => void): void =>
    stream?.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data)));
  const open = () => {
    stream = new EventSource("/-/events");
    stream.addEventListener("open", () => {
      isLive.value = true;
      // No event has the news of while it was closed.
      if (isAgain) loadAll();
      isAgain = true;
    });
    stream.addEventListener("error", () => {
      isLive.value = false;
    });
    eventsOf("traffic", takeTraffic);
    eventsOf("table", ({ revision, canary }) => {
      if (revision !== knownTable.value?.revision) void loadTable();
      const own = status.value?.isolate;
      if (revision !== own?.revision || canary !== (own.canary?.revision ?? null)) void loadPublished();
    });
    eventsOf("log", takeEvent);
    eventsOf("end", () => {
      stream?.close();
      isLive.value = false;
      // A session that was used since goes on, and so does the view. One that has ended says so.
      void loadRegions();
    });
  };
  open();
  loadAll();
  const states = setInterval(() => {
    clock.value = gatewayNow();
    void loadRegions();
  }, REGIONS_MS);
  const figures = setInterval(() => {
    if (!isLive.value || RANGES[range.value].span !== "hour") void loadHistory();
    if (!isLive.value) void loadPublished();
    // A browser gives a stream up after some answers.
    if (stream?.readyState === EventSource.CLOSED && !hasExpired.value) open();
  }, HISTORY_MS);
  return () => {
    clearInterval(states);
    clearInterval(figures);
    stream?.close();
    isLive.value = false;
    resetCursor();
  };
}
