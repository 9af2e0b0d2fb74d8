import { signal } from "@preact/signals";
import type { ConsoleEvents, HistorySpan, MetricsHistory } from "../../formats/console-api.ts";
import { call, hasExpired, type Problem } from "../app/api.ts";
import { knownTable, loadTable } from "../app/session.ts";
import type { Regions } from "../lookup/ask.ts";
import { mergeHistory } from "./history.ts";

/** The data of the overview, kept up to date while it is open. */

export const span = signal<HistorySpan>("hour");
export const history = signal<MetricsHistory | undefined>(undefined);
export const historyProblem = signal<Problem | undefined>(undefined);
export const regions = signal<Regions | undefined>(undefined);
export const isLive = signal(false);

export async function loadHistory(): Promise<void> {
  const answer = await call<MetricsHistory>(`/-/metrics/history?span=${span.value}`);
  if (answer.ok) history.value = answer.value;
  historyProblem.value = answer.ok ? undefined : answer.problem;
}

export async function loadRegions(): Promise<void> {
  const answer = await call<Regions>("/-/regions");
  if (answer.ok) regions.value = answer.value;
}

const AGAIN_MS = 10_000;

/** Opens the stream of events, and asks in turn while it is closed. Returns how to end both. */
export function watchLive(): () => void {
  let stream: EventSource | undefined;
  const eventsOf = <Name extends keyof ConsoleEvents>(name: Name, take: (data: ConsoleEvents[Name]) => void): void =>
    stream?.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data)));
  const open = () => {
    stream = new EventSource("/-/events");
    stream.addEventListener("open", () => {
      isLive.value = true;
    });
    stream.addEventListener("error", () => {
      isLive.value = false;
    });
    eventsOf("traffic", (news) => {
      if (span.value === "hour") history.value = history.value ? mergeHistory(history.value, news) : news;
    });
    eventsOf("table", ({ revision }) => {
      if (revision !== knownTable.value?.revision) void loadTable();
    });
    eventsOf("end", () => {
      stream?.close();
      isLive.value = false;
      // A session that was used since goes on, and so does the view. One that has ended says so.
      void loadRegions();
    });
  };
  open();
  void loadHistory();
  void loadRegions();
  const timer = setInterval(() => {
    void loadRegions();
    if (!isLive.value || span.value === "day") void loadHistory();
    // A browser gives a stream up after some answers.
    if (stream?.readyState === EventSource.CLOSED && !hasExpired.value) open();
  }, AGAIN_MS);
  return () => {
    clearInterval(timer);
    stream?.close();
    isLive.value = false;
  };
}
