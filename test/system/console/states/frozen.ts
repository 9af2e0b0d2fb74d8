import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { Request, Route } from "playwright-core";
import type { Origin, Regions } from "../../../../src/console/lookup/ask.ts";
import { judgeCanary } from "../../../../src/formats/canary-verdict.ts";
import type { DirectoryCounts, MetricsHistory } from "../../../../src/formats/console-api.ts";
import type { ConsoleStack, OpenPage } from "../console.ts";

/** Pages that are the same at each time and after whatever came before: one clock, fixed figures, fixed health. */

/** The clock of the pages. */
export const NOW = Date.parse("2026-06-01T12:00:00Z");
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

const STEPS = 360;
const wave = (size: number, period: number) =>
  Array.from({ length: STEPS }, (_, at) => Math.round(size * (2 + Math.sin(at / period))));
/** Where a region was in trouble for a while. */
const isTrouble = (at: number) => at > 240 && at < 270;

const series = (size: number, troubles = isTrouble) => ({
  requests: wave(size, 30),
  errors: wave(size, 30).map((count, at) => (troubles(at) ? count >> 2 : 0)),
  refused: wave(size, 50).map((count) => count >> 3),
  faults: wave(size, 30).map((_, at) => (troubles(at) ? 2 : 0)),
  busyMs: wave(size * 4, 30),
  classes: {
    "2xx": wave(size, 30).map((count, at) => count - (count >> 3) - (troubles(at) ? count >> 2 : 0)),
    "404": wave(size, 50).map((count) => count >> 4),
    "4xx": wave(size, 50).map((count) => count >> 4),
    "5xx": wave(size, 30).map((count, at) => (troubles(at) ? count >> 2 : 0)),
  },
  p50: wave(2, 40),
  p99: wave(9, 20),
  originP50: wave(1, 40),
  originP99: wave(7, 20),
});

/** The steps of a table while a canary runs: since the last quarter of an hour. */
const stepsOf = (size: number, refused: number) => {
  const since = (values: number[]) => values.map((value, at) => (at < STEPS - 90 ? 0 : value));
  return {
    requests: since(wave(size, 30)),
    errors: since(wave(size / 500, 9)),
    refused: since(wave(size * refused, 12)),
    p50: wave(2, 40),
    p99: wave(9, 20),
    classes: {},
  };
};

const IN_FORCE = {
  "2xx": 46_000,
  "3xx": 1_000,
  "404": 520,
  "421": 0,
  "4xx": 404,
  "5xx": 96,
  elsewhere: 0,
  left: 100,
};
/** Orders of one country get 404 where the canary sends them. */
const OF_CANARY = {
  "2xx": 2_200,
  "3xx": 50,
  "404": 123,
  "421": 0,
  "4xx": 24,
  "5xx": 5,
  elsewhere: 2,
  left: 6,
};

export const FIGURES: MetricsHistory = {
  source: "all",
  span: "hour",
  stepSeconds: 10,
  since: ago(14_400),
  at: Array.from({ length: STEPS }, (_, at) => NOW / 1000 - (STEPS - at) * 10),
  total: series(90),
  regions: { eu: series(50), us: series(25), ap: series(15) },
  problems: { "unknown-id": wave(3, 20), "unassigned-key": wave(1, 9) },
  tables: {
    stable: { requests: 48_120, errors: 96, classes: IN_FORCE, p50: 4, p99: 38, steps: stepsOf(260, 0.02) },
    canary: { requests: 2_410, errors: 5, classes: OF_CANARY, p50: 4, p99: 41, steps: stepsOf(13, 0.07) },
  },
  canaryVerdict: judgeCanary(IN_FORCE, OF_CANARY),
  routes: [
    { revision: 2, pointer: "/routes/0", requests: 4_210 },
    { revision: 2, pointer: "/routes/1", requests: 2_006 },
    { revision: 2, pointer: "/routes/2", requests: 18_440 },
    { revision: 2, pointer: "/routes/3", requests: 21_705 },
    { revision: 2, pointer: "/routes/4", requests: 30_220 },
    { revision: 2, pointer: "(other)", requests: 310 },
    { revision: null, pointer: "(none)", requests: 1_204 },
  ],
  isolates: {
    count: 2,
    shown: [
      { isolate: "3fa90c12", revision: 2, canary: null, confirmedAt: ago(31), reportedAt: ago(4) },
      { isolate: "b07de455", revision: 1, canary: null, confirmedAt: ago(12), reportedAt: ago(2) },
    ],
  },
};

const origin = (port: number): Origin => ({
  host: `127.0.0.1:${port}`,
  weight: 100,
  breaker: "closed",
  openUntil: null,
  lastFault: null,
  lastAnswer: ago(2),
  lastCheck: null,
});

const HEALTHY = { state: "healthy", basis: "No request of the last minute failed." } as const;

const REGIONS: Regions = {
  source: "all",
  since: ago(14_400),
  regions: {
    eu: { ...HEALTHY, origins: [origin(18101)] },
    us: { ...HEALTHY, origins: [origin(18102)] },
    ap: { ...HEALTHY, origins: [origin(18103)] },
  },
};

const DOWN = { ...FIGURES.regions, ap: series(15, (at) => isTrouble(at) || at > 330) };

/** A region whose only origin stopped five minutes ago. */
export const REGION_DOWN = {
  "/-/metrics/history": {
    ...FIGURES,
    total: {
      ...FIGURES.total,
      errors: FIGURES.at.map((_, at) => Object.values(DOWN).reduce((sum, { errors }) => sum + (errors[at] ?? 0), 0)),
    },
    regions: DOWN,
    problems: {
      ...FIGURES.problems,
      "origin-unreachable": wave(2, 20).map((count, at) => (at > 330 ? count : 0)),
    },
  } satisfies MetricsHistory,
  "/-/regions": {
    ...REGIONS,
    regions: {
      ...REGIONS.regions,
      ap: {
        state: "down",
        basis: "Its origin gets no request: its circuit breaker is open.",
        origins: [
          {
            ...origin(18103),
            breaker: "open",
            openUntil: new Date(NOW + 20_000).toISOString(),
            lastFault: { fault: "connection_refused", at: ago(4) },
            lastAnswer: ago(295),
          },
        ],
      },
    },
  } satisfies Regions,
};

const NO_SERIES = Object.fromEntries(
  Object.keys(FIGURES.total).map((name) => [name, []]),
) as unknown as MetricsHistory["total"];

/** The object of the counters does not answer. */
export const NO_COUNTERS = {
  "/-/metrics/history": {
    ...FIGURES,
    source: "none",
    since: null,
    at: [],
    total: NO_SERIES,
    regions: {},
    problems: {},
  } satisfies MetricsHistory,
};

/** A gateway that has just begun. */
export const NOTHING_YET = {
  "/-/metrics/history": {
    ...FIGURES,
    since: null,
    at: [],
    total: NO_SERIES,
    regions: {},
    problems: {},
  } satisfies MetricsHistory,
};

/** The same request with a token: what is asked in the browser's stead does not have its `Secure` cookie. */
async function ask({ url, consoleUrl }: ConsoleStack, asked: Request, token: string | undefined) {
  const target = new URL(asked.url().replace(consoleUrl, url));
  const headers = {
    host: new URL(consoleUrl).host,
    accept: "application/json",
    "content-type": "application/json",
    origin: consoleUrl,
    "sec-fetch-site": "same-origin",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const sent = request(target, { method: asked.method(), headers });
  sent.end(asked.postData() ?? undefined);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const kept = ["content-type", "etag", "waybill-revision"].flatMap((name) => {
    const value = answer.headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return { status: answer.statusCode ?? 0, headers: Object.fromEntries(kept), text: await readText(answer) };
}

const TIME = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Answers in the gateway's stead, by path. `offline`: none. `expired`: its session has ended. */
export type Instead = Readonly<Record<string, object>> | "offline" | "expired";

export interface FrozenPage extends OpenPage {
  instead: Instead;
}

/** A page whose answers have fixed figures, times near a fixed now, and the same addresses of origins each time. */
export async function openFrozen(stack: ConsoleStack, token?: string): Promise<FrozenPage> {
  const frozen: FrozenPage = { ...(await stack.open("")), instead: {} };
  const { page } = frozen;
  page.setDefaultTimeout(15_000);
  await page.clock.setFixedTime(NOW);
  const ports = stack.origins.map(({ url }) => new URL(url).host);
  const fix = (text: string) =>
    ports
      .reduce((all, host, at) => all.replaceAll(host, `127.0.0.1:1810${at + 1}`), text)
      .replaceAll(/("ageSeconds": ?)\d+/g, "$11")
      .replaceAll(/("source": ?)"(?:memory|edge|kv)"/g, '$1"memory"')
      .replace(TIME, (time) => {
        const distance = Date.parse(time) - Date.now();
        if (Math.abs(distance) > 86_400_000) return time;
        return new Date(NOW + (distance > 300_000 ? 1_800_000 : -180_000)).toISOString();
      });
  const answer = async (route: Route) => {
    const path = new URL(route.request().url()).pathname;
    const { instead } = frozen;
    // A stream would tell of figures at times of its own; without one the page asks.
    if (instead === "offline" || path === "/-/events") return route.abort();
    if (instead === "expired") return route.fulfill({ status: 401, json: { title: "Unauthorized", status: 401 } });
    const fixed = instead[path] ?? FIXED[path];
    if (fixed !== undefined) return route.fulfill({ json: fixed });
    const { status, headers, text } = await ask(stack, route.request(), token);
    return route.fulfill({ status, headers, body: fix(text) });
  };
  await page.route(/\/-\/(?!console$|console\/assets)|\/mint$/, answer);
  return frozen;
}

/** All answer in time, however busy the machine is. */
const COUNTS: DirectoryCounts = {
  directory: "slug",
  at: ago(180),
  shards: 16,
  answered: 16,
  total: { confirmed: 48_120, reserved: 12, expired: 3, missing: 0 },
};

const FIXED: Readonly<Record<string, object>> = {
  "/-/metrics/history": FIGURES,
  "/-/regions": REGIONS,
  "/-/directory/slug/-/counts": COUNTS,
};
