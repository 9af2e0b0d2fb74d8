import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DemoTable } from "../demo/demo.ts";
import { type Answer, ask } from "../hostile/ask.ts";
import { countersOf } from "../hostile/counters.ts";
import { broken, type Fault, incomplete, ok } from "../hostile/faults/fault.ts";
import { FAULTS } from "../hostile/faults/faults.ts";
import { methodsOf, outcomeExpected, outcomeOf, seenExpected, tryFault } from "../hostile/faults/try-fault.ts";
import { type HostileStack, idWith, originOf, startHostileStack } from "../hostile/gateway.ts";
import { fieldOf } from "../hostile/message.ts";
import { type HostileOrigin, type Step, startHostileOrigin } from "../hostile/origin.ts";
import { settles } from "../hostile/settle.ts";
import { type Stack, startStack } from "../stack.ts";

/** Bodies that pass as they come: an origin that breaks off breaks the client's message (RFC 9112 §8). */

const LENGTH = 10;
const LONG = 200_000;

/** The first bytes of a body in one of its framings, without its end. */
const FRAMINGS: Readonly<Record<string, (bytes: number) => string>> = {
  "a length": (bytes) => ok(`content-length: ${LENGTH}`) + "x".repeat(bytes),
  "a long length": (bytes) => ok(`content-length: ${LONG}`) + "x".repeat((bytes * LONG) / LENGTH),
  chunks: (bytes) => `${ok("transfer-encoding: chunked")}${bytes === 0 ? "" : `${bytes}\r\n${"x".repeat(bytes)}\r\n`}`,
  "a begun chunk": (bytes) => `${ok("transfer-encoding: chunked")}a\r\n${"x".repeat(bytes)}`,
};

const SENT: Readonly<Record<string, number>> = { none: 0, some: 4, "all but one": 9 };

interface Break {
  readonly name: string;
  readonly framing: string;
  readonly steps: readonly Step[];
}

const BREAKS: readonly Break[] = Object.entries(FRAMINGS).flatMap(([framing, begin]) =>
  Object.entries(SENT).flatMap(([sent, bytes]) =>
    (["close!", "reset!"] as const).map((end) => ({
      name: `${framing}, ${sent}, ${end}`,
      framing,
      steps: [begin(bytes), { pauseMs: 50 }, end],
    })),
  ),
);

type Entity = DemoTable["entities"][string];

/** How an entity or its region declares that bodies are passed, watched, or read whole if they are small. */
const WAYS = {
  standard: { isHeld: false },
  minimal: { isHeld: false, entity: { fields: "minimal" } },
  full: { isHeld: true, entity: { fields: "full" } },
  "full-passed": { isHeld: false, entity: { fields: "full", wholeAnswers: false } },
  whole: { isHeld: true, entity: { wholeAnswers: true } },
  "whole-minimal": { isHeld: true, entity: { fields: "minimal", wholeAnswers: true } },
  "whole-unlimited": { isHeld: true, entity: { wholeAnswers: true, deadlines: { idleMs: 0 } } },
  "whole-region": { isHeld: true, region: { wholeAnswers: true } },
  "not-whole": { isHeld: false, entity: { wholeAnswers: false }, region: { wholeAnswers: true } },
  deadline: { isHeld: true, entity: { deadlines: { idleMs: 10_000 } } },
} satisfies Readonly<Record<string, { isHeld: boolean; entity?: Partial<Entity>; region?: { wholeAnswers: true } }>>;

type Way = keyof typeof WAYS;
const WAY_NAMES = Object.keys(WAYS) as readonly Way[];

let stack: Stack;
const origins: HostileOrigin[] = [];
beforeAll(async () => {
  origins.push(...(await Promise.all(BREAKS.map(({ steps }) => startHostileOrigin({ steps })))));
  const regionOf = (way: Way, index: number) => `${"region" in WAYS[way] ? "whole" : "own"}-${index}`;
  const regions = origins.flatMap(({ url }, index) => {
    const region = { origins: [{ url }], breaker: false as const };
    return [
      [`own-${index}`, region],
      [`whole-${index}`, { ...region, wholeAnswers: true }],
    ] as const;
  });
  const entities = WAY_NAMES.map((way) => {
    const { entity }: { isHeld: boolean; entity?: Partial<Entity> } = WAYS[way];
    return [way, { path: `/${way}/:id`, ids: [{ layout: "hotguid" }], ...entity }] satisfies [string, Entity];
  });
  stack = await startStack(
    {
      regions: Object.fromEntries(regions),
      countries: {},
      entities: Object.fromEntries(entities),
      routes: WAY_NAMES.flatMap((way) =>
        origins.map((_, index) => ({
          when: { layout: "hotguid", entity: way, shardKey: String(index) },
          region: regionOf(way, index),
        })),
      ),
      moved: {},
    },
    { REPORT_SECONDS: "1" },
  );
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all(origins.map((origin) => origin.stop()));
});

const askFor = (way: Way, index: number, method: "GET" | "HEAD" = "GET"): Promise<Answer> => {
  const head = `${method} /${way}/${idWith(index)} HTTP/1.1\r\nhost: gw.test\r\nconnection: close\r\n\r\n`;
  return ask(stack.gateway.port, head, { patienceMs: 15_000 });
};

const isSmall = ({ framing }: Break): boolean => framing === "a length";

describe("an origin breaks off", () => {
  const rows = WAY_NAMES.flatMap((way) => BREAKS.map((each, index) => ({ way, index, each, name: each.name })));

  it.concurrent.each(rows)("$name: $way", async ({ way, index, each }) => {
    const seen = () =>
      (origins[index]?.requests ?? []).filter(({ startLine }) => startLine.includes(`/${way}/`)).length;
    const before = seen();
    const { end, status, message } = await askFor(way, index);
    if (WAYS[way].isHeld && isSmall(each)) {
      // Nothing of it has reached the client: a read is retried, and fails.
      expect([end, status]).toEqual(["whole", 502]);
      expect(message && fieldOf(message, "proxy-status")).toContain("http_response_incomplete");
      expect(seen() - before).toBe(2);
      return;
    }
    expect([end, status]).toEqual(["cut", 200]);
    expect(message?.body).toMatch(/^x*$/);
    expect(seen() - before).toBe(1);
  });

  it("and a body that passes is not counted, one that is watched is", async () => {
    const long = BREAKS.filter((each) => !isSmall(each)).length;
    const counted = () => countersOf(stack.url, "waybill_broken_bodies_total");
    const held = WAY_NAMES.filter((way) => WAYS[way].isHeld);
    const isThere = (of: ReadonlyMap<string, number>) =>
      held.every((way) => (of.get(`${way} source-failed`) ?? 0) >= long);
    const found = await settles("not counted", counted, isThere, 10_000);
    expect([...found.keys()].toSorted()).toEqual(held.map((way) => `${way} source-failed`).toSorted());
  });
});

/** The part of a body that an origin sends. */
const bodyOf = ({ origin }: Fault): string => {
  const [, body = ""] = origin.steps
    .filter((step) => typeof step === "string" && !step.endsWith("!"))
    .join("")
    .split("\r\n\r\n");
  return body;
};

/** The faults of the hostile suite again, without an idle deadline in the table: the same, but for small bodies. */
const PASSED: readonly Fault[] = FAULTS.map((fault) =>
  fault.expected === incomplete ? { ...fault, expected: broken(bodyOf(fault)), seen: [1, 1] } : fault,
);

describe("a faulty origin whose bodies pass as they come", () => {
  let hostile: HostileStack;
  beforeAll(async () => {
    hostile = await startHostileStack(PASSED, { firstByteMs: 10_000 });
  }, 60_000);
  afterAll(() => hostile?.stop());

  it.concurrent.each(PASSED)("$name", async (fault) => {
    for (const method of methodsOf(fault)) {
      const { answer, seen } = await tryFault(hostile, fault, method);
      const at = `${method} ${fault.name}`;
      expect(outcomeOf(answer, fault.expected), at).toEqual(outcomeExpected(fault.expected));
      const [least, most] = seenExpected(fault, method);
      expect([seen >= least, seen <= most], `${at} was seen ${seen} times`).toEqual([true, true]);
    }
  });

  it("holds no connection to an origin afterwards", async () => {
    for (const origin of hostile.origins.values()) origin.wake();
    const busy = () => [...hostile.origins].filter(([, origin]) => origin.busy() > 0).map(([name]) => name);
    expect(await settles("still busy", busy, (names) => names.length === 0, 10_000)).toEqual([]);
    expect(originOf(hostile.origins, "closed-in-body").requests.length).toBe(2);
  });
});
