import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seriesKey } from "../../../src/edge/metrics/catalogue.ts";
import { TrafficHistory } from "../../../src/edge/metrics/history.ts";
import { RecentProblems } from "../../../src/edge/metrics/problem-samples.ts";
import { RequestShares, type RouteCount } from "../../../src/edge/metrics/request-shares.ts";
import type { RequestLine } from "../../../src/ports/gateway.ts";
import type { Rule } from "../../../src/routing/table.ts";
import { REQUEST_LINE } from "../../fixtures/request-line.ts";

const START_MS = Date.UTC(2026, 10, 23, 10);
const DAY_MS = 86_400_000;

const requests = (region: string, by: number, outcome = "2xx") =>
  [[seriesKey("requests_total", "order", region, outcome), by]] as const;
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const route = (index: number): Rule => ({ kind: "route", index });
const line = (more: Partial<RequestLine> = {}): RequestLine => ({ ...REQUEST_LINE, atMs: START_MS, ...more });

/** Routes of a history, by revision and pointer. */
const routesOf = (history: TrafficHistory, nowMs = START_MS, span: "hour" | "day" | "month" = "hour") =>
  new Map(
    (history.read(span, { nowMs, sinceMs: 0 }).routes ?? []).map(({ revision, pointer, requests: count }) => [
      `${revision} ${pointer}`,
      count,
    ]),
  );

describe("requests by what decided them", () => {
  it("names each rule by its place in the table", () => {
    const history = new TrafficHistory();
    const rules: readonly (readonly [Rule | undefined, string])[] = [
      [route(0), "/routes/0"],
      [{ kind: "route", index: 0, part: 1 }, "/routes/0"],
      [route(199), "/routes/199"],
      [route(200), "(other)"],
      [{ kind: "canary", index: 3 }, "/routes/3/canary"],
      [{ kind: "canary", index: 900 }, "(other)"],
      [{ kind: "default" }, "/default"],
      [{ kind: "moved" }, "/moved"],
      [{ kind: "moving" }, "/moves"],
      [{ kind: "source" }, "/withoutId"],
      [{ kind: "directory", directory: "slug", state: "stale" }, "/directory/slug"],
      [undefined, "(none)"],
    ];
    history.add(requests("eu", rules.length), START_MS, { routes: rules.map(([rule]) => [7, rule, 1] as const) });
    const expected = new Map<string, number>();
    for (const [, pointer] of rules) expected.set(`7 ${pointer}`, (expected.get(`7 ${pointer}`) ?? 0) + 1);
    expect(routesOf(history)).toEqual(expected);
  });

  it("has the sum of all requests, whatever is sent in which order", () => {
    const rules: readonly Rule[] = Array.from({ length: 1_500 }, (_, index) => route(index));
    const request = fc.record({ revision: fc.integer({ min: 1, max: 30 }), at: fc.integer({ min: 0, max: 1_500 }) });
    fc.assert(
      fc.property(fc.array(fc.array(request, { maxLength: 80 }), { maxLength: 8 }), (reports) => {
        const shares = new RequestShares(false);
        const history = new TrafficHistory();
        let nowMs = START_MS;
        const sent = new Map<string, number>();
        for (const report of reports) {
          for (const { revision, at } of report) {
            shares.add(line({ revision, rule: rules[at] }));
            if (at < 200) sent.set(`${revision} /routes/${at}`, (sent.get(`${revision} /routes/${at}`) ?? 0) + 1);
          }
          history.add(requests("eu", report.length), nowMs, shares.drain());
          nowMs += 7_000;
        }
        const counted = routesOf(history, nowMs);
        expect(sum([...counted.values()])).toBe(sum(reports.map(({ length }) => length)));
        // A figure is whole where nothing was left without a revision, and never too high.
        const isWhole = !counted.has("null (other)");
        for (const [key, count] of sent) {
          if (isWhole) expect([key, counted.get(key)]).toEqual([key, count]);
          else expect(counted.get(key) ?? 0).toBeLessThanOrEqual(count);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("has bounds under 10,000 routes and a revision for each request, and the first 200 are whole", () => {
    const shares = new RequestShares(false);
    const rules = Array.from({ length: 10_000 }, (_, index) => route(index));
    // The later ones come first: what is counted does not hang on the order.
    for (const rule of rules.toReversed()) shares.add(line({ revision: 3, rule }));
    const { routes } = shares.drain();
    expect(routes.length).toBe(201);
    const history = new TrafficHistory();
    history.add(requests("eu", rules.length), START_MS, { routes });
    const counted = routesOf(history);
    expect([counted.size, counted.get("3 /routes/0"), counted.get("3 (other)")]).toEqual([201, 1, 9_800]);
    for (let revision = 0; revision < 10_000; revision++) shares.add(line({ revision, rule: rules[revision] }));
    const many = shares.drain().routes;
    expect(many.length).toBeLessThanOrEqual(9_000);
    history.add(requests("eu", 10_000), START_MS, { routes: many });
    expect(routesOf(history).size).toBeLessThanOrEqual(1_001);
    expect(sum([...routesOf(history).values()])).toBe(20_000);
    const [row] = history.takeChanges(START_MS).rows;
    expect(row?.step.length).toBeLessThan(16_000);
  });

  it("answers with those of the newest revisions where there are too many", () => {
    const history = new TrafficHistory();
    for (let revision = 1; revision <= 3_000; revision++) {
      history.add(requests("eu", 1), START_MS + revision * 1_000, { routes: [[revision, route(0), 1]] });
    }
    const counted = routesOf(history, START_MS + 3_000_000);
    expect([counted.size, counted.get("3000 /routes/0"), counted.get("null (other)")]).toEqual([1_001, 1, 2_000]);
  });

  it("leaves out nothing but what isolates of a former version report", () => {
    const history = new TrafficHistory();
    history.add(requests("eu", 5), START_MS);
    history.add(requests("eu", 2), START_MS, { routes: [[1, route(0), 2]], classes: [["eu", [2]]] });
    const read = history.read("hour", { nowMs: START_MS, sinceMs: START_MS });
    expect([read.total.requests, read.routes]).toEqual([[7], [{ revision: 1, pointer: "/routes/0", requests: 2 }]]);
    expect(read.regions["eu"]?.classes).toEqual({ "2xx": [2] });
  });
});

describe("answers by class", () => {
  it("has them by region and step, without the classes that never came", () => {
    const history = new TrafficHistory();
    const classes = (region: string, ...counts: number[]) => ({ classes: [[region, counts]] as const });
    history.add(requests("eu", 3), START_MS, classes("eu", 2, 0, 1));
    history.add(requests("us", 1), START_MS + 10_000, classes("us", 0, 0, 0, 0, 0, 1));
    history.add(requests("eu", 4), START_MS + 20_000, classes("eu", 4, 0, 0, 0, 0, 0, 0, 0));
    const { regions, total } = history.read("hour", { nowMs: START_MS + 20_000, sinceMs: START_MS });
    expect(regions["eu"]?.classes).toEqual({ "2xx": [2, 0, 4], "404": [1, 0, 0] });
    expect(regions["us"]?.classes).toEqual({ "5xx": [0, 1, 0] });
    expect(total.classes).toEqual({ "2xx": [2, 0, 4], "404": [1, 0, 0], "5xx": [0, 1, 0] });
  });

  it("has the table in force and the canary over time", () => {
    const history = new TrafficHistory();
    const answers = (side: string, outcome: string, name: string, by: number) =>
      [
        [seriesKey("canary_requests_total", side, outcome), by],
        [seriesKey("canary_responses_total", side, name), by],
        [seriesKey("canary_duration_seconds", side, "0"), by],
      ] as const;
    history.add([...answers("stable", "good", "2xx", 90), ...answers("canary", "good", "421", 9)], START_MS);
    history.add(answers("canary", "error", "4xx", 1), START_MS + 20_000);
    const { tables } = history.read("hour", { nowMs: START_MS + 20_000, sinceMs: START_MS });
    expect(tables.stable.steps).toMatchObject({ requests: [90, 0, 0], refused: [0, 0, 0], errors: [0, 0, 0] });
    expect(tables.canary.steps).toMatchObject({
      requests: [9, 0, 1],
      errors: [0, 0, 1],
      refused: [9, 0, 1],
      classes: { "421": [9, 0, 0], "4xx": [0, 0, 1] },
    });
    expect(tables.canary.steps?.p50).toEqual([2.5, null, 2.5]);
  });
});

describe("the month", () => {
  const read = (history: TrafficHistory, nowMs: number) => history.read("month", { nowMs, sinceMs: 0 });
  const total = (history: TrafficHistory, nowMs: number) => sum(read(history, nowMs).total.requests);
  const routes: readonly RouteCount[] = [[1, route(0), 1]];
  const counts = { routes, classes: [["eu", [1]]] as const };

  it("has 30 days by 2 h, and no more", () => {
    const history = new TrafficHistory();
    for (let hour = 0; hour < 40 * 24; hour++) history.add(requests("eu", 1), START_MS + hour * 3_600_000, counts);
    const nowMs = START_MS + 40 * DAY_MS - 1;
    const { at, stepSeconds, total: all, routes: counted } = read(history, nowMs);
    expect([at.length, stepSeconds, sum(all.requests)]).toEqual([360, 7_200, 720]);
    expect(counted).toEqual([{ revision: 1, pointer: "/routes/0", requests: 720 }]);
    expect(history.takeChanges(nowMs).rows.length).toBeLessThanOrEqual(360 + 288 + 360);
  });

  /** An object: it stores its rows and how many reports it had. */
  const start = (rows: readonly object[], nowMs: number, reports: number) =>
    new TrafficHistory(rows as never, { nowMs, sinceMs: START_MS - 90 * DAY_MS, reports });

  it("survives a restart, and knows what the day had before an upgrade", () => {
    const former = new TrafficHistory();
    for (let hour = 0; hour <= 30; hour++) former.add(requests("eu", 1), START_MS + hour * 3_600_000, counts);
    const nowMs = START_MS + 30 * 3_600_000;
    const rows = former.takeChanges(nowMs).rows.filter(({ span }) => span !== "month");
    const upgraded = start(rows, nowMs, 31);
    expect([total(upgraded, nowMs), read(upgraded, nowMs).since]).toEqual([
      24,
      new Date(nowMs - DAY_MS + 300_000).toISOString(),
    ]);
    const again = start(upgraded.takeChanges(nowMs, 31).rows, nowMs + DAY_MS * 5, 31);
    expect(read(again, nowMs)).toMatchObject({ since: read(upgraded, nowMs).since });
    expect([total(again, nowMs), sum([...routesOf(again, nowMs, "month").values()])]).toEqual([24, 24]);
  });

  it("takes from the day what a former version counted, and says so where that was longer ago", () => {
    const history = start([], START_MS, 0);
    history.add(requests("eu", 5), START_MS, counts);
    const stored = history.takeChanges(START_MS, 1).rows;
    const month = stored.filter(({ span }) => span === "month");
    // Rolled back: the former version counts one report in three, and stores no month.
    const withFormer = (nowMs: number) => {
      const former = new TrafficHistory(stored.filter(({ span }) => span !== "month"));
      former.add(requests("eu", 3), nowMs);
      return [...stored, ...former.takeChanges(nowMs).rows.filter(({ span }) => span !== "month")];
    };
    const soonMs = START_MS + 3 * 3_600_000;
    const soon = start(withFormer(soonMs), soonMs, 2);
    expect([total(soon, soonMs), read(soon, soonMs).since]).toEqual([8, read(history, START_MS).since]);
    const lateMs = START_MS + 3 * DAY_MS;
    const late = start(withFormer(lateMs), lateMs, 2);
    expect([total(late, lateMs), read(late, lateMs).since]).toEqual([
      3,
      new Date(lateMs - DAY_MS + 300_000).toISOString(),
    ]);
    expect(month.length).toBe(1);
  });

  it("takes reports of own pages alone for no gap", () => {
    const history = start([], START_MS, 0);
    history.add(requests("eu", 5), START_MS);
    const stored = new Map(history.takeChanges(START_MS, 1).rows.map((row) => [`${row.span} ${row.at}`, row]));
    const laterMs = START_MS + 3 * DAY_MS;
    history.add([[seriesKey("requests_total", "", "", "own"), 1]], laterMs);
    for (const row of history.takeChanges(laterMs, 2).rows) stored.set(`${row.span} ${row.at}`, row);
    const again = start([...stored.values()], laterMs, 2);
    expect([total(again, laterMs), read(again, laterMs).since]).toEqual([5, read(history, laterMs).since]);
  });
});

describe("the last requests with a problem", () => {
  const one = (atMs: number, path = "/orders/1") => ({ atMs, method: "GET", path, region: "eu", status: 504 });

  it("reports the last five of each, their paths cut", () => {
    const shares = new RequestShares(true);
    for (let at = 0; at < 1_000; at++)
      shares.add(line({ outcome: "origin-timeout", status: 504, atMs: START_MS + at, path: `/${"x".repeat(300)}` }));
    shares.add(line());
    const { problems } = shares.drain();
    expect(problems.map(([slug, kept]) => [slug, kept.length])).toEqual([["origin-timeout", 5]]);
    expect(problems[0]?.[1].at(-1)).toEqual({ ...one(START_MS + 999, `/${"x".repeat(199)}…`) });
    expect(shares.drain().problems).toEqual([]);
    const off = new RequestShares(false);
    off.add(line({ outcome: "origin-timeout" }));
    expect(off.drain().problems).toEqual([]);
  });

  it("keeps 64 problems, five requests of each, for an hour", () => {
    const kept = new RecentProblems();
    for (let at = 0; at < 1_000; at++)
      kept.add(
        [[`problem-${at}`, Array.from({ length: 8 }, (_, n) => one(START_MS + at * 10 + n))]],
        START_MS + at * 10,
      );
    const nowMs = START_MS + 10_000;
    expect(kept.read("problem-999", nowMs).map(({ at }) => Date.parse(at) - START_MS)).toEqual([
      9_990, 9_990, 9_990, 9_990, 9_990,
    ]);
    expect(kept.read("problem-935", nowMs)).toEqual([]);
    expect(kept.takeChanges(nowMs).filter(([, requests]) => requests !== undefined).length).toBe(64);
    expect(kept.read("problem-999", nowMs + 3_600_000)).toEqual([]);
    const late = kept.takeChanges(nowMs + 3_600_000);
    expect([late.length, late.every(([, requests]) => requests === undefined)]).toEqual([64, true]);
    expect(kept.dueMs).toBe(Number.POSITIVE_INFINITY);
  });

  it("says when the first is to go, and is the same after it was stored", () => {
    const kept = new RecentProblems();
    kept.add([["a", [one(START_MS)]]], START_MS + 5);
    kept.add(
      [
        ["a", [one(START_MS + 99_000)]],
        ["b", [one(START_MS + 1)]],
      ],
      START_MS + 6,
    );
    expect(kept.dueMs).toBe(START_MS + 3_600_000);
    const again = new RecentProblems(kept.takeChanges(START_MS + 6) as never);
    expect(again.read("a", START_MS + 6)).toEqual(kept.read("a", START_MS + 6));
    // A clock that is ahead keeps nothing longer.
    expect(again.read("a", START_MS + 6)[0]?.at).toBe(new Date(START_MS + 6).toISOString());
  });
});
