import { type Context, Hono } from "hono";
import type { ConsoleEvents, EventLog, HistorySpan } from "../../src/formats/console-api.ts";
import { PAGE_ENTRIES_MAX } from "../../src/formats/table-requests.ts";
import type { Gateway, ServedTable } from "../../src/ports/gateway.ts";
import { CATALOGUE } from "../../src/problems/catalogue.ts";
import { callerOf, requireScope } from "../lib/auth.ts";
import { contextOf, jsonResponse, type PageEnv, respond } from "../lib/http.ts";
import { readPageQuery, wholeNumber } from "../table/request.ts";

/** Live views of one isolate. Each keeps a request open, and asks the counters as often as it is told. */
const STREAMS_MAX = 24;

/** A stream ends after this, and its page opens another: so none is left behind by a page that is gone. */
const STREAM_MS = 30 * 60_000;

/** How soon a revision is told, and about how long a stream outlives its page. */
const TICK_MS = 1_000;

/** Events of the log that a new page gets. */
const LOG_FIRST = 20;

/** As often as isolates report. */
const TRAFFIC_MS = 10_000;

const SPANS: readonly HistorySpan[] = ["hour", "day", "month"];

/** Whether the history may name it in `problems`. */
const isProblem = (slug: string): boolean => Object.hasOwn(CATALOGUE, slug) || slug === "client-left";

const STREAM = { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } };

/** The traffic over time, the last requests with a problem, what changes from now on, and the log of what happened. */
export const history = (gateway: Gateway) => {
  const viewer = requireScope(gateway, "viewer");
  const streams = new Set<{ readonly untilMs: number }>();
  return new Hono<PageEnv>()
    .get("/-/metrics/history", viewer, async (c) => {
      const span = SPANS.find((name) => name === (c.req.query("span") ?? "hour"));
      const from = wholeNumber(c.req.query("from") ?? "0");
      if (span !== undefined && from !== undefined) return jsonResponse(await gateway.metrics.history(span, from));
      const detail = "`span` is hour, day or month; `from` is Unix seconds.";
      return contextOf(c).fail({ reason: "malformed-request", detail });
    })
    .get("/-/metrics/problems/:slug", viewer, async (c) => {
      const slug = c.req.param("slug");
      return isProblem(slug)
        ? jsonResponse(await gateway.metrics.problem(slug))
        : contextOf(c).fail({ reason: "not-found", path: contextOf(c).path });
    })
    .get("/-/events/log", viewer, async (c) => {
      const pageQuery = readPageQuery(c);
      if (!pageQuery.ok) return respond(c, pageQuery);
      const { limit } = pageQuery.value;
      const read = await gateway.metrics.events(pageQuery.value);
      const { events = [], webhook = null } = read ?? {};
      const next = events.length < limit ? null : (events.at(-1)?.id ?? null);
      const log: EventLog = { source: read === undefined ? "none" : "all", events, next, webhook };
      return jsonResponse(log);
    })
    .get("/-/events", viewer, (c) => {
      // Nothing would read the stream of a HEAD, so nothing would end it.
      if (c.req.method === "HEAD") return new Response(null, STREAM);
      const nowMs = gateway.clock.nowMs();
      // The runtime may end a request without a word to it.
      for (const stream of streams) if (stream.untilMs < nowMs) streams.delete(stream);
      if (streams.size >= STREAMS_MAX) return contextOf(c).fail({ reason: "console-unavailable", why: "streams" });
      const sessionMs = callerOf(c).session?.untilMs ?? Number.POSITIVE_INFINITY;
      const stream = { untilMs: Math.min(nowMs + STREAM_MS, sessionMs) };
      streams.add(stream);
      const { readable, writable } = new IdentityTransformStream();
      const why = stream.untilMs === sessionMs ? "session" : "time";
      const told = tell(gateway, c, writable.getWriter(), { untilMs: stream.untilMs, why });
      c.executionCtx.waitUntil(told.finally(() => streams.delete(stream)));
      return new Response(readable, STREAM);
    });
};

type End = Readonly<{ untilMs: number }> & ConsoleEvents["end"];

/** Writes events until the end, or until the page has left. */
async function tell(gateway: Gateway, c: Context, writer: WritableStreamDefaultWriter, { untilMs, why }: End) {
  const { signal } = c.req.raw;
  const encoder = new TextEncoder();
  const send = <Name extends keyof ConsoleEvents>(name: Name, data: ConsoleEvents[Name]) =>
    writer.write(encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`));
  let told: string | undefined;
  let fromSeconds = Math.floor((gateway.clock.nowMs() - TRAFFIC_MS) / 1000);
  let dueMs = 0;
  let loggedId = 0;
  const tellLog = async (limit: number): Promise<void> => {
    const { events = [] } = (await gateway.metrics.events({ limit })) ?? {};
    for (const event of events.filter(({ id }) => id > loggedId).toReversed()) await send("log", event);
    loggedId = events[0]?.id ?? loggedId;
  };
  try {
    while (!signal.aborted) {
      const nowMs = gateway.clock.nowMs();
      if (nowMs >= untilMs) {
        await send("end", { why });
        break;
      }
      const served = gateway.tables.peek((work) => c.executionCtx.waitUntil(work)) ?? (await loaded(gateway));
      if (served !== undefined && tableOf(served) !== told) {
        told = tableOf(served);
        const { table, canary } = served;
        await send("table", { revision: table.revision, label: served.label, canary: canary?.table.revision ?? null });
      }
      if (nowMs >= dueMs || nowMs < dueMs - TRAFFIC_MS) {
        // Routes are of all steps of an answer: those of the last two would be taken for the hour's.
        const { routes: _, ...traffic } = await gateway.metrics.history("hour", fromSeconds);
        await send("traffic", traffic);
        const { lastEvent = 0 } = traffic;
        if (lastEvent > loggedId) await tellLog(loggedId === 0 ? LOG_FIRST : PAGE_ENTRIES_MAX);
        fromSeconds = traffic.at.at(-1) ?? fromSeconds;
        dueMs = nowMs + TRAFFIC_MS;
      }
      // A page that has left shows when it is written to.
      await writer.write(encoder.encode(":\n\n"));
      await gateway.pause(Math.max(0, Math.min(TICK_MS, untilMs - nowMs)));
    }
    await writer.close();
  } catch {
    // The page has left, and nothing is to be told.
  }
}

/** The first request of an isolate may be this one. */
async function loaded({ tables }: Gateway) {
  const table = await tables.load();
  return table.ok ? table.value : undefined;
}

/** Its label also has its age. */
const tableOf = ({ table, digest, canary }: ServedTable): string =>
  JSON.stringify([table.revision, digest, canary?.table.revision, canary?.digest]);
