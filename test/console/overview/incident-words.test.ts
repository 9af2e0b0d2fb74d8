import { describe, expect, it } from "vitest";
import type { Origin } from "../../../src/console/lookup/ask.ts";
import type { Incident } from "../../../src/console/overview/incident.ts";
import { type IncidentContext, tellIncident } from "../../../src/console/overview/incident-words.ts";
import { lastAnswerText, originEvidence, originState } from "../../../src/console/overview/origins.ts";
import { lastedText, momentText, rateText, shareText } from "../../../src/console/overview/plot/words.ts";

const NOW_MS = new Date(2026, 0, 1, 21, 48).getTime();
const ago = (seconds: number) => new Date(NOW_MS - seconds * 1000).toISOString();

const ORIGIN: Origin = {
  host: "us-1.test",
  weight: 1,
  breaker: "closed",
  openUntil: null,
  lastFault: null,
  lastAnswer: ago(2),
  lastCheck: null,
};
const OPEN: Origin = {
  ...ORIGIN,
  breaker: "open",
  openUntil: new Date(NOW_MS + 20_000).toISOString(),
  lastFault: { fault: "connection_refused", at: ago(4) },
  lastAnswer: ago(540),
};

const INCIDENT: Incident = {
  region: "us",
  level: "down",
  state: "down",
  basis: "3 of its 3 origins get no request: their circuit breakers are open.",
  sinceMs: NOW_MS - 9 * 60_000,
  isAtLeast: false,
  failedPerSecond: 1_152.4,
  failedShare: 0.973,
  trafficShare: 0.28,
  problem: "origin-unreachable",
};
const CONTEXT: IncidentContext = {
  nowMs: NOW_MS,
  origins: [OPEN, OPEN, OPEN],
  failover: [],
  hasFailoverWrites: false,
  revisions: [{ revision: 42, kind: "publish", time: ago(48 * 60) }],
  problemOf: (slug) => ({ status: slug === "origin-unreachable" ? 502 : 503, title: `Title of ${slug}` }),
};

const tell = (incident: Partial<Incident>, context: Partial<IncidentContext> = {}) =>
  tellIncident({ ...INCIDENT, ...incident }, { ...CONTEXT, ...context });

describe("an incident in words", () => {
  it("says since when, how much gets what, and what was published", () => {
    expect(tell({})).toEqual({
      title: "us is down since 21:39: 1,152 requests a second get 502",
      sentences: [
        "None of its 3 origins answers.",
        "It has no failover region.",
        "28 % of all requests go there.",
        "Nothing was published in the 39 min before.",
      ],
    });
  });

  it.each<[string, Partial<Incident>, string]>([
    ["no figures", { failedPerSecond: undefined, failedShare: undefined }, "us is down since 21:39"],
    [
      "no requests",
      { failedPerSecond: 0, failedShare: undefined },
      "us is down since 21:39: no request went there in the last minute",
    ],
    ["another region answers", { failedPerSecond: 0, failedShare: 0 }, "us is down since 21:39"],
    ["the first seconds", { failedPerSecond: undefined }, "us is down since 21:39: 97.3 % of its requests get 502"],
    ["an unknown beginning", { sinceMs: undefined }, "us is down: 1,152 requests a second get 502"],
    [
      "a beginning before all that is known",
      { isAtLeast: true },
      "us is down since 21:39 or before: 1,152 requests a second get 502",
    ],
    [
      "errors of the origin",
      { level: "failing", problem: undefined },
      "us fails 97.3 % of its requests since 21:39: 1,152 requests a second get 5xx",
    ],
    ["a warning", { level: "warn", state: "degraded" }, "us is degraded since 21:39"],
    ["a test", { level: "warn", state: "testing" }, "us is being tested since 21:39"],
    [
      "no region",
      { level: "failing", region: undefined, state: undefined, problem: "table-unavailable" },
      "Requests of no region fail since 21:39: 1,152 requests a second get 503",
    ],
  ])("has a title for %s", (_, incident, title) => expect(tell(incident).title).toBe(title));

  it("counts an origin that is tried again among those that do not answer", () => {
    const tried: Origin = { ...OPEN, breaker: "half-open", openUntil: null };
    const first = (...origins: readonly Origin[]) => tell({}, { origins }).sentences[0];
    expect(first(OPEN, tried)).toBe("None of its 2 origins answers.");
    expect(first(OPEN)).toBe("Its origin does not answer.");
    // Then the gateway's own words hold.
    expect(first(ORIGIN, OPEN)).toMatch(/^3 of its 3 origins get no request/);
    expect(first(tried, tried)).toMatch(/^3 of its 3 origins get no request/);
  });

  it("names origins that answer with errors themselves", () => {
    const told = tell({ level: "failing", problem: undefined }, { origins: [ORIGIN] });
    expect(told.sentences[0]).toBe("Its origins answer with errors themselves.");
  });

  it.each<[string, Partial<IncidentContext>, string]>([
    ["one region", { failover: ["eu"] }, "Reads go to eu while no origin can be reached."],
    ["several", { failover: ["eu", "ap", "sa"] }, "Reads go to eu, ap or sa while no origin can be reached."],
    [
      "writes too",
      { failover: ["eu"], hasFailoverWrites: true },
      "Reads, and writes that are safe to repeat, go to eu while no origin can be reached.",
    ],
  ])("says who answers meanwhile: %s", (_, context, sentence) => expect(tell({}, context).sentences[1]).toBe(sentence));

  it.each<[string, NonNullable<IncidentContext["revisions"]>, string | undefined]>([
    [
      "just before",
      [{ revision: 43, kind: "publish", time: ago(9 * 60 + 20) }],
      "Revision 43 was published just before.",
    ],
    ["minutes before", [{ revision: 43, kind: "canary", time: ago(13 * 60) }], "Canary 43 was published 4 min before."],
    [
      "after it",
      [
        { revision: 43, kind: "publish", time: ago(60) },
        { revision: 42, kind: "publish", time: ago(3 * 3_600) },
      ],
      "Nothing was published in the 3 h before.",
    ],
    [
      "days before",
      [{ revision: 43, kind: "publish", time: ago(5 * 86_400) }],
      "Nothing was published in the 24 h before.",
    ],
    ["never", [{ revision: 0, kind: "bundled" }], undefined],
  ])("says what was published %s", (_, revisions, sentence) => {
    expect(tell({}, { revisions }).sentences[3]).toBe(sentence);
  });
});

describe("an origin", () => {
  it.each<[ReturnType<typeof originState>, Partial<Origin>, string]>([
    ["healthy", {}, "it answers"],
    ["healthy", { lastCheck: { at: ago(3), good: true, status: 200, fault: null } }, "check passed 3 s ago"],
    ["down", OPEN, `connection refused, 4 s ago; next try 21:48:20`],
    ["down", { lastCheck: { at: ago(3), good: false, status: 503, fault: null } }, "check failed (503) 3 s ago"],
    [
      "down",
      { lastCheck: { at: ago(3), good: false, status: null, fault: "dns_error" } },
      "check failed (dns error) 3 s ago",
    ],
    [
      "testing",
      { ...OPEN, breaker: "half-open", openUntil: null },
      "one request at a time goes there; the others wait for it; connection refused, 4 s ago",
    ],
    [
      "degraded",
      { lastFault: { fault: "http_response_timeout", at: ago(4) }, lastAnswer: ago(100) },
      "http response timeout, 4 s ago",
    ],
    ["not-asked", { lastAnswer: ago(4_000) }, "no request was answered lately"],
    ["not-asked", { lastAnswer: null }, "no request was answered lately"],
    ["drained", { ...OPEN, weight: 0 }, "its weight is 0: it gets no request"],
    // A fault beside answers is one of many requests.
    ["healthy", { lastFault: { fault: "dns_error", at: ago(1) } }, "it answers"],
  ])("is %s", (state, change, evidence) => {
    const origin = { ...ORIGIN, ...change };
    expect([originState(origin, NOW_MS), originEvidence(origin, NOW_MS)]).toEqual([state, evidence]);
  });

  it("says its last answer", () => {
    expect([lastAnswerText(ORIGIN), lastAnswerText({ ...ORIGIN, lastAnswer: null })]).toEqual([
      "last answer 21:47:58",
      "no answer yet",
    ]);
  });
});

describe("figures", () => {
  it.each([
    [0, "0 %"],
    [1, "100 %"],
    [0.99999, "99.9 %"],
    [0.000001, "0.01 %"],
    [0.27712, "27.7 %"],
    [0.0194, "1.9 %"],
    [undefined, "–"],
  ])("the share %d is %s", (share, text) => expect(shareText(share)).toBe(text));

  it.each([
    [1_152.4, "1,152"],
    [58.33, "58.3"],
    [1.26, "1.3"],
    [0, "0"],
    [0.0123, "0.012"],
  ])("the rate %d is %s", (rate, text) => expect(rateText(rate)).toBe(text));

  it.each([
    [4_000, "4 s"],
    [540_000, "9 min"],
    [7_200_000, "2 h"],
    [300_000_000, "3 days"],
  ])("%d ms last %s", (ms, text) => expect(lastedText(ms)).toBe(text));

  it("say the day of what is long ago", () => {
    expect(momentText(NOW_MS - 60_000, NOW_MS)).toBe("21:47");
    expect(momentText(NOW_MS - 86_400_000, NOW_MS)).toBe("Dec 31, 21:48");
  });
});
