import { expect, it } from "vitest";
import { consoleSessions } from "../../src/edge/console/sessions.ts";
import { behindProxies, parseTrustedProxies } from "../../src/edge/trusted-proxies.ts";
import { readContentDigest } from "../../src/features/create/serve/content-digest.ts";
import { nextOfLink } from "../../src/features/lists/serve/link-header.ts";
import { positionOf } from "../../src/features/lists/serve/order.ts";
import { shapeOf } from "../../src/features/shadow/serve.ts";
import { chooseCoding, preferred } from "../../src/gateway/negotiate.ts";
import { codingsOf } from "../../src/proxy/codings.ts";
import { isTraceparent, isTracestate, namedByConnection, withoutSession } from "../../src/proxy/headers.ts";
import { isNamed } from "../../src/proxy/origin-request.ts";
import { cookieValues } from "../../src/routing/lookup/values.ts";
import { bearerToken } from "../../src/routing/resolve/region-sources.ts";

/** One thread serves all clients, so a field of the greatest length must not hold it: readers take time in proportion. */

/** The runtime takes a little less in all fields of a request. */
const LENGTH = 128 * 1024;

/** Far above what a reader needs that looks at each character a few times, and far below one that looks at all for each. */
const MS_MAX = 1_000;

/** Repeated to the full length, with what stands before and behind. */
const HOSTILE: readonly (readonly [before: string, repeated: string, after: string])[] = [
  ["a", " ", "b"],
  ["a", "\t", "b"],
  ["a=(", " ", "?"],
  ["a=::;", " ", "?"],
  ["a=::", ";a", "?"],
  ['a="', '\\"', "x"],
  ["", '"', "x"],
  ["", '\\"', ""],
  ["", ",", "x"],
  ["", ";", "x"],
  ["", ", ", "x"],
  ["", "=", "x"],
  ["<", "<", ""],
  ["<a>;", " ", '"'],
  ["<a>", ";a", '"'],
  ["0.1", "0", "1"],
  ["bearer ", " ", "é"],
  ["a, a=", " a", " ="],
];

const trusted = (field: string) => {
  const parsed = parseTrustedProxies(`10.0.0.0/8, field=${field}`);
  if (!parsed.ok) throw new Error(parsed.error);
  return behindProxies(() => ({ address: "10.0.0.1" }) as never, parsed.value);
};
const byForwarded = trusted("forwarded");

const sessions = consoleSessions({
  tokens: [],
  host: "console.test",
  clock: { nowMs: () => 0 },
  subtle: crypto.subtle,
  fillRandom: () => undefined,
});

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  accept: (text) => preferred(text, ["application/json", "text/html"]),
  "accept-encoding": chooseCoding,
  authorization: bearerToken,
  "cache-control of an answer": (text) => shapeOf(answerWith("cache-control", text)),
  "cdn-loop": (text) => isNamed("waybill", text),
  connection: namedByConnection,
  "content-digest": readContentDigest,
  "content-encoding": codingsOf,
  cookie: (text) => [cookieValues(text, "a"), withoutSession(text)],
  "cookie of the console": (text) => sessions.read(text),
  forwarded: (text) => byForwarded(requestWith("forwarded", text)),
  "link of an answer": nextOfLink,
  "a number of a list": (text) => positionOf(text, "id", "number"),
  "a time of a list": (text) => positionOf(`2026-01-01T00:00:00.${text.slice(2)}Z`, "id", "time"),
  traceparent: isTraceparent,
  tracestate: isTracestate,
};

const requestWith = (name: string, value: string) => ({ headers: fieldsWith(name, value) }) as Request;
const answerWith = (name: string, value: string) => ({ status: 200, headers: fieldsWith(name, value) }) as Response;
/** Without the checks of a runtime. */
const fieldsWith = (name: string, value: string) =>
  ({ get: (asked: string) => (asked === name ? value : null), has: (asked: string) => asked === name }) as Headers;

it.each(Object.entries(READERS))("%s is read in proportion to its length", async (_, read) => {
  for (const [before, repeated, after] of HOSTILE) {
    const text = before + repeated.repeat(LENGTH / repeated.length) + after;
    const startedMs = performance.now();
    await read(text);
    const ms = performance.now() - startedMs;
    expect(ms, JSON.stringify([before, repeated, after])).toBeLessThan(MS_MAX);
  }
});
