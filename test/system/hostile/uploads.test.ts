import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, askAndRead } from "./ask.ts";
import {
  type Expected,
  type FaultyRegion,
  HASTY,
  incomplete,
  late,
  lines,
  lost,
  ok,
  passed,
  unread,
} from "./faults/fault.ts";
import { outcomeExpected, outcomeOf } from "./faults/try-fault.ts";
import { type EntityName, type HostileStack, originOf, startHostileStack } from "./gateway.ts";
import type { Behaviour, Step } from "./origin.ts";
import { settles } from "./settle.ts";

const BYTES = 1_000_000;
const PART_BYTES = 200_000;
/** More than sockets hold for one that does not read. */
const FLOOD_BYTES = 16_000_000;
const PATIENCE_MS = 30_000;

/** An origin that does not wait for the end of an upload, and how much of it the client sends before it waits for the answer. */
interface Row extends FaultyRegion {
  readonly expected: Expected;
  readonly bytes: number;
  readonly sentBytes: number;
}

const row = (
  name: string,
  { after = "head", steps, isDeaf = false }: Behaviour,
  expected: Expected,
  more: Partial<Row> = {},
): Row => {
  const sizes = { bytes: BYTES, sentBytes: after === "request" ? BYTES : PART_BYTES };
  return { name, origin: { after, steps, isDeaf }, expected, ...sizes, ...more };
};

const TOO_LARGE = lines("HTTP/1.1 413 Content Too Large", "content-length: 5", "connection: close");
const GOOD: readonly Step[] = [ok("content-length: 2"), "ok"];
const wait = { pauseMs: 50 };
const flood = { region: HASTY, bytes: FLOOD_BYTES, sentBytes: FLOOD_BYTES };

const ROWS: readonly Row[] = [
  row("answers-early", { steps: [TOO_LARGE, "large", wait, "close!"] }, passed(413, "large")),
  row("answers-early-and-stays", { steps: [TOO_LARGE, "large"] }, passed(413, "large")),
  row("answers-early-then-resets", { steps: [TOO_LARGE, "large", wait, "reset!"] }, passed(413, "large")),
  row("answers-early-and-reads-nothing", { steps: [TOO_LARGE, "large"], isDeaf: true }, passed(413, "large"), flood),
  row("reads-nothing", { steps: ["hang!"], isDeaf: true }, unread, flood),
  row("breaks-off-early-answer", { steps: [TOO_LARGE, "la", wait, "close!"] }, incomplete),
  row("closes-in-upload", { steps: [wait, "close!"] }, lost),
  row("resets-in-upload", { steps: [wait, "reset!"] }, lost),
  row("closes-before-upload", { after: "connection", steps: ["close!"] }, lost),
  row("resets-before-upload", { after: "connection", steps: ["reset!"] }, lost),
  row("closes-after-upload", { after: "request", steps: ["close!"] }, lost),
  row("resets-after-upload", { after: "request", steps: ["reset!"] }, lost),
  row("silent-after-upload", { after: "request", steps: ["hang!"] }, late, { region: HASTY }),
  row("good", { after: "request", steps: GOOD }, passed(200, "ok")),
];

/** The first request gets no answer, any other one does. */
const ONCE: Behaviour = { steps: [["reset!"], GOOD] };
const NEVER: Behaviour = { steps: ["reset!"] };

/** Sent again only what may be: the method says so, or a key, and the body is still at hand (RFC 9110 §9.2.2). */
const AGAIN = [
  { name: "post", origin: ONCE, method: "POST", entity: "box", expected: lost, seen: 1 },
  {
    name: "post-with-key",
    origin: ONCE,
    method: "POST",
    fields: ["idempotency-key: 1"],
    entity: "box",
    expected: passed(200, "ok"),
    seen: 2,
  },
  {
    name: "post-with-key-streamed",
    origin: ONCE,
    method: "POST",
    fields: ["idempotency-key: 1"],
    entity: "parcel",
    expected: lost,
    seen: 1,
  },
  {
    name: "post-with-key-never",
    origin: NEVER,
    method: "POST",
    fields: ["idempotency-key: 1"],
    entity: "box",
    expected: lost,
    seen: 2,
  },
  { name: "patch", origin: ONCE, method: "PATCH", entity: "box", expected: lost, seen: 1 },
  { name: "put", origin: ONCE, method: "PUT", entity: "box", expected: passed(200, "ok"), seen: 2 },
  { name: "put-streamed", origin: ONCE, method: "PUT", entity: "parcel", expected: lost, seen: 1 },
  { name: "put-never", origin: NEVER, method: "PUT", entity: "box", expected: lost, seen: 2 },
  { name: "delete", origin: ONCE, method: "DELETE", entity: "box", expected: passed(200, "ok"), seen: 2 },
] as const satisfies readonly Again[];

interface Again extends FaultyRegion {
  readonly method: string;
  readonly fields?: readonly string[];
  readonly entity: EntityName;
  readonly expected: Expected;
  readonly seen: number;
}

const LEFT = { name: "left", origin: { steps: GOOD } };

let stack: HostileStack;
beforeAll(async () => {
  stack = await startHostileStack([...ROWS, ...AGAIN, LEFT]);
});
afterAll(() => stack?.stop());

/** A body by its length, or in chunks, of which the last is left out when the client sends but a part. */
const FRAMINGS = {
  length: (bytes: number, sentBytes: number) => `content-length: ${bytes}\r\n\r\n${"x".repeat(sentBytes)}`,
  chunks: (bytes: number, sentBytes: number) => {
    const chunk = `${sentBytes.toString(16)}\r\n${"x".repeat(sentBytes)}\r\n`;
    return `transfer-encoding: chunked\r\n\r\n${chunk}${sentBytes < bytes ? "" : "0\r\n\r\n"}`;
  },
};
const framings = Object.keys(FRAMINGS) as (keyof typeof FRAMINGS)[];

const head = (method: string, path: string, fields: readonly string[] = []) =>
  [`${method} ${path} HTTP/1.1`, "host: gw.test", "connection: close", ...fields, ""].join("\r\n");

describe("an origin that does not wait for the end of an upload", () => {
  it.each(ROWS)("$name", async ({ name, origin, expected, bytes, sentBytes }) => {
    const { requests } = originOf(stack.origins, name);
    for (const framing of framings) {
      const content = head("POST", stack.pathTo(name)) + FRAMINGS[framing](bytes, sentBytes);
      const before = requests.length;
      const client = bytes === FLOOD_BYTES ? askAndRead : ask;
      const answer = await client(stack.gateway.port, content, { patienceMs: PATIENCE_MS });
      expect(outcomeOf(answer, expected), framing).toEqual(outcomeExpected(expected));
      // The gateway may ask with a GET whether the origin is there at all.
      const seen = requests.slice(before).filter(({ startLine }) => startLine.startsWith("POST")).length;
      expect(seen, framing).toBeLessThanOrEqual(1);
      // One that ends each connection at once may see nothing of it.
      expect(seen, framing).toBeGreaterThanOrEqual(origin.after === "connection" ? 0 : 1);
    }
  });
});

describe("a request that got no answer", () => {
  it.each(AGAIN)("is sent again only when it may be: $name", async (again: Again) => {
    const { requests } = originOf(stack.origins, again.name);
    const path = stack.pathTo(again.name, again.entity);
    const bytes = `${head(again.method, path, again.fields)}${FRAMINGS.length(5, 5)}`;
    const answer = await ask(stack.gateway.port, bytes, { patienceMs: PATIENCE_MS });
    // The gateway may ask with a GET whether the origin is there at all.
    const sent = requests
      .filter(({ startLine }) => !startLine.startsWith("GET"))
      .map((one) => [one.startLine, one.body]);
    const expected = Array.from({ length: again.seen }, () => [`${again.method} ${path} HTTP/1.1`, "xxxxx"]);
    // One comparison: an answer that should not have come is read beside the requests that led to it.
    expect({ outcome: outcomeOf(answer, again.expected), sent }).toEqual({
      outcome: outcomeExpected(again.expected),
      sent: expected,
    });
  });
});

describe("a client that leaves in its upload", () => {
  it.each(framings)("never lets the origin see a whole body: %s", async (framing) => {
    const origin = originOf(stack.origins, LEFT.name);
    const before = origin.requests.length;
    const bytes = head("POST", stack.pathTo(LEFT.name)) + FRAMINGS[framing](BYTES, PART_BYTES);
    await ask(stack.gateway.port, bytes, { patienceMs: 300 });
    const seen = await settles(
      "still open",
      () => origin.connections(),
      (open) => open === 0,
      20_000,
    );
    expect(seen).toBe(0);
    expect(origin.requests.slice(before).map(({ isWhole }) => isWhole)).toEqual([false]);
  });

  it("or breaks its framing gets a 400", async () => {
    const before = originOf(stack.origins, LEFT.name).requests.length;
    const bytes = `${head("POST", stack.pathTo(LEFT.name))}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n`;
    const answer = await ask(stack.gateway.port, bytes, { patienceMs: PATIENCE_MS });
    expect([answer.status, answer.end]).toEqual([400, "whole"]);
    const seen = originOf(stack.origins, LEFT.name).requests.slice(before);
    expect(seen.filter(({ isWhole }) => isWhole)).toEqual([]);
  });
});

it("no origin has a connection in the middle of something", async () => {
  for (const origin of stack.origins.values()) origin.wake();
  const busy = () => [...stack.origins].filter(([, origin]) => origin.busy() > 0).map(([name]) => name);
  expect(await settles("still busy", busy, (names) => names.length === 0, 20_000)).toEqual([]);
});
