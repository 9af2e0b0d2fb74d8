import { describe, expect, it } from "vitest";
import { StateUnavailable } from "../../../src/edge/machines/call.ts";
import { rankedFor, type StateCallsOptions, stateCalls } from "../../../src/edge/machines/calls.ts";
import type { StateRpc } from "../../../src/edge/machines/rpc.ts";
import { describeTransport } from "./transport-contract.ts";
import { virtualTime } from "./virtual-time.ts";

/** `well`: answers after 30 ms. `frozen`: nothing comes. `refused`: no connection. `orphan`: its object has no owner. `slow`, `tardy`: 1.5, 3 s. `stuck`: pings alone. `busy`: both late. `handed-over`: an orphan for one call. */
type Behaviour =
  | "well"
  | "frozen"
  | "refused"
  | "orphan"
  | "slow"
  | "tardy"
  | "stuck"
  | "busy"
  | "dies"
  | "handed-over";

const NAMES = ["STATE_1", "STATE_2", "STATE_3"];
const KEY = "IDEMPOTENCY/keys-7";
/** Arguments of a call that takes something. */
const VALUES = [{ key: "k", notAfterMs: 1_002_000 }, "more"];
const KINDS: StateCallsOptions["kinds"] = new Map([
  ["IDEMPOTENCY", { begin: "start", finish: "prompt", alarm: "platform" }],
  ["SEQUENCES", { reserve: "patient", list: "prompt" }],
  ["TABLE_TRUTH", { publish: "once", text: "long" }],
]);

interface Asked {
  readonly at: number;
  readonly what: "call" | "ping";
  readonly method: string;
  readonly own: Behaviour[];
  readonly pause: (ms: number) => Promise<void>;
  /** Calls that are stuck: each is answered by a test. */
  readonly held?: ((value: unknown) => void)[];
}

/** The fake of a state node. */
async function answerOf({ at, what, method, own, pause, held = [] }: Asked): Promise<unknown> {
  const isCall = what === "call";
  switch (own[at]) {
    case "refused":
      throw new Error("connection refused");
    case "frozen":
      return new Promise(() => undefined);
    case "orphan":
      await pause(5);
      if (isCall) throw new Error("no owner");
      return undefined;
    case "handed-over":
      await pause(5);
      if (!isCall) return undefined;
      own[at] = "well";
      throw new Error("no owner");
    case "slow":
    case "tardy":
      await pause(!isCall ? 5 : own[at] === "slow" ? 1_500 : 3_000);
      return `from ${at}`;
    case "stuck":
      if (isCall) return new Promise((arrive) => held.push(arrive));
      await pause(5);
      return undefined;
    case "busy":
      await pause(isCall ? 1_700 : 400);
      return `from ${at}`;
    case "dies":
      await pause(100);
      own[at] = "refused";
      throw new Error("connection lost");
    default:
      await pause(isCall ? 30 : 5);
      if (method === "nothing") throw new TypeError("no such method of an object");
      return method === "reserve" ? { first: 1, isReserved: true, step: 1 } : `from ${at}`;
  }
}

const NODE_STATES = { well: "well", gone: "refused", frozen: "frozen" } as const;

describeTransport("the fake", async () => {
  const time = virtualTime();
  const own: Behaviour[] = ["well"];
  const ask = (what: "call" | "ping", method: string) => answerOf({ at: 0, what, method, own, pause: time.pause });
  return {
    rpc: { ping: async () => void (await ask("ping", "")), call: (_space, _name, method) => ask("call", method) },
    async become(state) {
      own[0] = NODE_STATES[state];
    },
    settled: (work, ms) => {
      const done = work.then(
        (value) => value ?? "done",
        (error: unknown) => error,
      );
      return time.run(time.within(done, ms));
    },
  };
});

/** Nodes by their rank for the key, and their behaviour, which a test changes. */
function setUp(behaviours: readonly Behaviour[]) {
  const time = virtualTime();
  const own = [...behaviours];
  const log: string[] = [];
  const sent: { readonly method: string; readonly values: readonly unknown[] }[] = [];
  /** Objects that answer nothing, at whichever node. */
  const silent = new Set<string>();
  const held: ((value: unknown) => void)[] = [];
  const rank = rankedFor(
    KEY,
    NAMES.slice(0, own.length).map((name) => ({ name })),
  ).map(({ name }) => name);
  const answer = (at: number, what: "call" | "ping", method = "begin"): Promise<unknown> => {
    log.push(`${what} ${at}`);
    return answerOf({ at, what, method, own, pause: time.pause, held });
  };
  const rpcOf = (name: string): StateRpc => {
    const at = rank.indexOf(name);
    return {
      ping: async () => void (await answer(at, "ping")),
      call: (_, name, method, values) => {
        sent.push({ method, values });
        return silent.has(name) ? new Promise(() => undefined) : answer(at, "call");
      },
      kvGet: async () => new TextEncoder().encode(String(await answer(at, "call"))).buffer as ArrayBuffer,
      kvPut: async () => void (await answer(at, "call")),
    };
  };
  const background: Promise<unknown>[] = [];
  let shiftMs = 0;
  const clock = { nowMs: () => time.clock.nowMs() + shiftMs };
  const shiftClock = (ms: number) => {
    shiftMs += ms;
  };
  const calls = stateCalls({
    nodes: NAMES.slice(0, own.length).map((name) => ({ name, rpc: rpcOf(name) })),
    kinds: KINDS,
    clock,
    within: time.within,
    waitUntil: (work) => void background.push(work),
  });
  /** The value or the error of a call, after how many ms, and what was asked. */
  const call = async (method = "begin", namespace = "IDEMPOTENCY") => {
    const startedMs = clock.nowMs();
    log.length = 0;
    const work = calls.call(namespace, "keys-7", method, VALUES);
    const value = await time.run(work).catch((error: StateUnavailable) => error);
    return { value, ms: clock.nowMs() - startedMs, asked: log.join(", ") };
  };
  const { pause, run } = time;
  return { clock, shiftClock, pause, run, calls, call, own, log, sent, silent, held, background };
}

describe("a call of an edge", () => {
  const LOST = "no state node answers";
  it.each<readonly [string, readonly Behaviour[], string, number, string]>([
    ["is answered by the first", ["well", "well", "well"], "from 0", 30, "call 0"],
    ["waits for one that is slow and there", ["slow", "well", "well"], "from 0", 1_500, "call 0, ping 0"],
    [
      "goes on at once where there is no connection",
      ["refused", "well", "well"],
      "from 1",
      30,
      "call 0, ping 0, call 1",
    ],
    ["goes on after silence", ["frozen", "well", "well"], "from 1", 1_830, "call 0, ping 0, call 1"],
    ["goes on when the node dies during it", ["dies", "well", "well"], "from 1", 130, "call 0, ping 0, call 1"],
    ["goes past two", ["refused", "refused", "well"], "from 2", 30, "call 0, ping 0, call 1, ping 1, call 2"],
    [
      "fails when the object has no owner for long, and asks no other",
      ["orphan", "well", "well"],
      "no owner",
      1_440,
      "call 0, ping 0, call 0, ping 0, call 0, ping 0, call 0, ping 0",
    ],
    [
      "waits for an object that is handed over",
      ["handed-over", "well", "well"],
      "from 0",
      240,
      "call 0, ping 0, call 0",
    ],
    ["ends within 2 s", ["stuck", "well", "well"], "no answer within 2000 ms", 2_000, "call 0, ping 0, ping 0"],
    [
      "ends within 2 s over two",
      ["frozen", "frozen", "well"],
      "no answer within 2000 ms",
      2_000,
      "call 0, ping 0, call 1",
    ],
    ["fails when there is no connection at all", ["refused", "refused"], LOST, 0, "call 0, ping 0, call 1, ping 1"],
    ["fails by one frozen node", ["frozen"], LOST, 1_800, "call 0, ping 0"],
  ])("%s", async (_, behaviours, result, ms, asked) => {
    const { call } = setUp(behaviours);
    const outcome = await call();
    expect(outcome.value instanceof Error ? outcome.value.message : outcome.value).toBe(result);
    expect([outcome.ms, outcome.asked]).toEqual([ms, asked]);
  });

  it("leaves a dead node alone for 2 s, then probes it once beside the calls", async () => {
    const { call, own, run, pause, log, background } = setUp(["frozen", "well"]);
    await call();
    expect(await call()).toMatchObject({ value: "from 1", ms: 30, asked: "call 1" });
    await run(pause(1_900));
    expect((await call()).asked).toBe("call 1");
    await run(pause(100));
    expect(await call()).toMatchObject({ value: "from 1", ms: 30, asked: "ping 0, call 1" });
    expect(await call()).toMatchObject({ asked: "call 1" });
    await run(Promise.all(background));
    expect((await call()).asked).toBe("call 1");
    own[0] = "well";
    await run(pause(2_000));
    expect((await call()).asked).toBe("ping 0, call 1");
    await run(Promise.all(background));
    expect((await call()).asked).toBe("call 0");
    expect(log).toEqual(["call 0"]);
  });

  it("fails unasked for 500 ms after nobody answered, and then by one probe at a time", async () => {
    const { call, own, run, pause, calls, log, clock } = setUp(["frozen"]);
    const first = await call();
    expect((first.value as StateUnavailable).answers).toHaveLength(1);
    for (const waitMs of [0, 490]) {
      await run(pause(waitMs));
      const { value, ms, asked } = await call();
      expect([(value as Error).message, (value as StateUnavailable).answers, ms, asked]).toEqual([
        "no state node answered a moment ago",
        [],
        0,
        "",
      ]);
    }
    await run(pause(10));
    log.length = 0;
    const startedMs = clock.nowMs();
    const many = Array.from({ length: 20 }, () =>
      calls.call("IDEMPOTENCY", "keys-7", "begin", VALUES).catch((error) => error),
    );
    const errors = await run(Promise.all(many));
    expect(log).toEqual(["ping 0"]);
    expect(errors.every((error) => error instanceof StateUnavailable && error.answers.length === 0)).toBe(true);
    expect(clock.nowMs() - startedMs).toBe(1_000);
    own[0] = "well";
    await run(pause(500));
    expect(await call()).toMatchObject({ value: "from 0", asked: "ping 0, call 0" });
    expect(await call()).toMatchObject({ value: "from 0", asked: "call 0" });
  });

  /** A call that begins now: what becomes of it. */
  const begun = ({ calls }: ReturnType<typeof setUp>, name: string, method = "begin", namespace = "IDEMPOTENCY") =>
    calls.call(namespace, name, method, VALUES).then(
      () => "answered",
      (error: StateUnavailable) => (error.answers.length === 0 ? error.message : "given up"),
    );
  /** Calls that begin now, by what became of them once all have ended. */
  const outcomesOf = async (edge: ReturnType<typeof setUp>, count: number, method?: string) => {
    const outcomes = await edge.run(Promise.all(Array.from({ length: count }, () => begun(edge, "keys-7", method))));
    return Object.fromEntries([...new Set(outcomes)].map((one) => [one, outcomes.filter((is) => is === one).length]));
  };
  /** Until so many calls that began now were all answered. */
  const msOf = async (edge: ReturnType<typeof setUp>, count: number): Promise<number> => {
    const startedMs = edge.clock.nowMs();
    expect(await outcomesOf(edge, count)).toEqual({ answered: count });
    return edge.clock.nowMs() - startedMs;
  };
  const REFUSED = "the state nodes are busy";

  it("that takes something is refused unasked while nodes are busy, until they have caught up", async () => {
    const edge = setUp(["busy", "busy"]);
    expect(await outcomesOf(edge, 100)).toEqual({ answered: 100 });
    // Seven tenths of them, and some more for the 100 that were answered after that. The others have their places then.
    expect(await msOf(edge, 100)).toBe(2 * 1_700);
    for (let turn = 0; turn < 8; turn++) await outcomesOf(edge, 100);
    const startedMs = edge.clock.nowMs();
    const { answered = 0, [REFUSED]: refused } = await outcomesOf(edge, 100);
    // Three rounds begin within 4 s.
    expect(edge.clock.nowMs() - startedMs).toBe(3 * 1_700);
    expect(answered).toBeLessThan(3 * 20);
    expect(refused).toBe(100 - answered);
    expect(await outcomesOf(edge, 100, "finish")).toEqual({ answered: 100 });
    edge.own.fill("well");
    // Those that find no room wait for it.
    expect(await msOf(edge, 100)).toBeGreaterThan(4 * 30);
    for (let turn = 0; turn < 200; turn++) await outcomesOf(edge, 100);
    expect(await msOf(edge, 100)).toBe(30);
  });

  it("that waited for its place says so much later until when its caller waits", async () => {
    const edge = setUp(["refused"]);
    await edge.call();
    edge.own[0] = "well";
    await edge.run(edge.pause(500));
    expect(await outcomesOf(edge, 1)).toEqual({ answered: 1 });
    edge.sent.length = 0;
    // Nine at once, and the others when these have ended.
    expect(await outcomesOf(edge, 20)).toEqual({ answered: 20 });
    const sentAfter = (ms: number) => ({ method: "begin", values: [{ key: "k", notAfterMs: 1_002_000 + ms }, "more"] });
    expect(edge.sent).toEqual(Array.from({ length: 20 }, (_, at) => sentAfter(at < 9 ? 0 : 30)));
    edge.sent.length = 0;
    expect(await outcomesOf(edge, 1, "finish")).toEqual({ answered: 1 });
    expect(edge.sent).toEqual([{ method: "finish", values: VALUES }]);
  });

  it("that takes something is never refused as busy because others hang at a node that answers pings", async () => {
    const edge = setUp(["stuck", "well"]);
    expect(await outcomesOf(edge, 200)).toEqual({ "given up": 200 });
    expect(await outcomesOf(edge, 200)).toEqual({ "given up": 200 });
  });

  const UNOWNED = "all calls of this object failed a moment ago";

  it("of an object without an owner is one try of one call at a time, until it is answered", async () => {
    const edge = setUp(["orphan", "orphan"]);
    const { call, own, run, pause, clock, log } = edge;
    for (let turn = 0; turn < 2; turn++) expect(await call()).toMatchObject({ ms: 1_440 });
    // With the third one calls have failed for over 4 s: it waits on.
    expect(await call()).toMatchObject({ ms: 4_000 });
    log.length = 0;
    const startedMs = clock.nowMs();
    const { [UNOWNED]: untried = 0, ...tried } = await outcomesOf(edge, 20);
    // The last one begins just before its wait ends.
    expect(clock.nowMs() - startedMs).toBe(4_010);
    const tries = log.filter((asked) => asked.startsWith("call"));
    expect([tries.length, tries.slice(0, 4)]).toEqual([8, ["call 1", "call 0", "call 1", "call 0"]]);
    expect([tried, untried]).toEqual([{ "given up": 20 - untried }, 12]);
    own.fill("well");
    // The others wait for the one that finds it.
    await run(pause(200));
    log.length = 0;
    expect(await msOf(edge, 20)).toBe(430);
    expect(log.slice(0, 2)).toEqual(["call 1", "call 1"]);
    own.fill("orphan");
    expect(await call()).toMatchObject({ ms: 1_440 });
  });

  it("of an object without an owner waits until it has one, and says so much later until when its caller waits", async () => {
    const edge = setUp(["orphan", "orphan"]);
    const { call, own, run, pause, sent } = edge;
    for (let turn = 0; turn < 3; turn++) await call();
    sent.length = 0;
    const waiting = Array.from({ length: 20 }, () => begun(edge, "keys-7"));
    await run(pause(3_400));
    own.fill("well");
    expect(await run(Promise.all(waiting))).toEqual(Array(20).fill("answered"));
    const laterMs = sent.map(({ values }) => (values[0] as { notAfterMs: number }).notAfterMs - 1_002_000);
    expect(laterMs.slice(0, 3)).toEqual([500, 1_000, 1_500]);
    expect(Math.max(...laterMs)).toBeLessThanOrEqual(4_000);
  });

  it.each<readonly [string, string]>([
    ["reserve", "answered"],
    ["list", UNOWNED],
  ])("of an object without an owner waits by its kind, and says as much as its caller: %s", async (method, outcome) => {
    const edge = setUp(["orphan", "orphan"]);
    const { call, own, run, pause, sent } = edge;
    for (let turn = 0; turn < 6; turn++) await call(method, "SEQUENCES");
    sent.length = 0;
    const waiting = Array.from({ length: 20 }, () => begun(edge, "keys-7", method, "SEQUENCES"));
    await run(pause(3_400));
    own.fill("well");
    const outcomes = await run(Promise.all(waiting));
    expect(outcomes.filter((one) => one === outcome).length).toBeGreaterThanOrEqual(19);
    expect(sent.map(({ values }) => values)).toEqual(sent.map(() => VALUES));
  });

  it("of an object without an owner is not made after its process stood still: its caller has gone", async () => {
    const edge = setUp(["orphan", "orphan"]);
    for (let turn = 0; turn < 3; turn++) await edge.call();
    const waiting = Array.from({ length: 3 }, () => begun(edge, "keys-7"));
    await edge.run(edge.pause(50));
    edge.own.fill("well");
    edge.sent.length = 0;
    edge.shiftClock(10_000);
    expect(await edge.run(Promise.all(waiting))).not.toContain("answered");
    expect(edge.sent).toEqual([]);
  });

  it("of an object without an owner is refused at once where a thousand wait", async () => {
    const edge = setUp(["orphan", "orphan"]);
    for (let turn = 0; turn < 3; turn++) await edge.call();
    const waiting = Array.from({ length: 1_000 }, () => begun(edge, "keys-7"));
    await edge.run(edge.pause(50));
    expect(await edge.call()).toMatchObject({ value: { message: UNOWNED }, ms: 0 });
    edge.own.fill("well");
    expect(await edge.run(Promise.all(waiting))).toEqual(Array(1_000).fill("answered"));
  });

  it("that takes something waits for its object's owner although a thousand mints wait", async () => {
    const edge = setUp(["orphan", "orphan"]);
    for (let turn = 0; turn < 3; turn++) await edge.call("reserve", "SEQUENCES");
    for (let turn = 0; turn < 3; turn++) await edge.call();
    for (let at = 0; at < 1_100; at++) void begun(edge, "keys-7", "reserve", "SEQUENCES");
    await edge.run(edge.pause(50));
    const waiting = Array.from({ length: 20 }, () => begun(edge, "keys-7"));
    await edge.run(edge.pause(600));
    edge.own.fill("well");
    expect(await edge.run(Promise.all(waiting))).toEqual(Array(20).fill("answered"));
  });

  it.each([0, 1_000])(
    "that gives back waits for its object's owner although %i that take something wait",
    async (begins) => {
      const edge = setUp(["orphan", "orphan"]);
      for (let turn = 0; turn < 6; turn++) await edge.call("finish");
      for (let turn = 0; turn < 3; turn++) await edge.call();
      for (let at = 0; at < begins; at++) void begun(edge, "keys-7");
      await edge.run(edge.pause(600));
      edge.own.fill("well");
      expect(await outcomesOf(edge, 20, "finish")).toEqual({ answered: 20 });
    },
  );

  it("of an object that another call found meanwhile is tried again, although its own try hangs", async () => {
    const edge = setUp(["stuck", "stuck"]);
    const { own, run, pause, call } = edge;
    for (let turn = 0; turn < 4; turn++) await call();
    const waiting = Array.from({ length: 20 }, () => begun(edge, "keys-7"));
    // Three tries hang. Then one node has a connection to the owner.
    await run(pause(1_100));
    own[0] = "well";
    expect(await run(Promise.all(waiting))).toEqual(Array(20).fill("answered"));
  });

  it("that is tried again has the answer of whichever try is answered first, and is not sent again", async () => {
    const edge = setUp(["stuck", "stuck"]);
    const { call, run, pause, held, clock, calls, sent } = edge;
    for (let turn = 0; turn < 4; turn++) await call();
    held.length = 0;
    sent.length = 0;
    const startedMs = clock.nowMs();
    const values = [{ key: "own", notAfterMs: 1_002_000 }];
    const work = calls
      .call("IDEMPOTENCY", "keys-7", "begin", values)
      .then((value) => [value, clock.nowMs() - startedMs]);
    // Another call has the turn when its try ends.
    await run(pause(1_950));
    void begun(edge, "keys-7");
    await run(pause(300));
    held[0]?.("from the owner");
    expect(await run(work)).toEqual(["from the owner", 2_250]);
    await run(pause(5_000));
    expect(sent.filter((each) => (each.values[0] as { key: string }).key === "own")).toHaveLength(1);
  });

  it("that is tried again goes on where an object says that an earlier try came late", async () => {
    const { call, run, pause, held } = setUp(["stuck", "stuck"]);
    for (let turn = 0; turn < 4; turn++) await call();
    held.length = 0;
    const work = call();
    await pause(3_000);
    expect(held).toHaveLength(2);
    held[0]?.({ state: "late" });
    await pause(500);
    held[1]?.("from the owner");
    expect(await work).toMatchObject({ value: "from the owner", ms: 3_500 });
    await run(pause(0));
  });

  it("is not made after the process stood still during a ping", async () => {
    const edge = setUp(["refused"]);
    const { own, run, pause, shiftClock, sent, calls } = edge;
    await edge.call();
    own[0] = "well";
    await run(pause(600));
    sent.length = 0;
    const work = calls.call("IDEMPOTENCY", "keys-7", "begin", VALUES).catch((error: StateUnavailable) => error.message);
    await run(pause(2));
    shiftClock(3_500);
    expect([await run(work), sent]).toEqual(["no answer within 2000 ms", []]);
  });

  it("of an object without an owner keeps no place from calls of others while it finds out", async () => {
    const edge = setUp(["well"]);
    const { clock, own, run, pause, silent } = edge;
    for (let at = 0; at < 20; at++) silent.add(`silent-${at}`);
    const findings = () => [...silent].map((name) => begun(edge, name));
    for (let turn = 0; turn < 3; turn++) await run(Promise.all(findings()));
    // Eight places.
    own[0] = "refused";
    await edge.call();
    own[0] = "well";
    await run(pause(500));
    expect(await run(begun(edge, "keys-1"))).toBe("answered");
    void findings();
    await run(pause(0));
    const startedMs = clock.nowMs();
    expect(await run(Promise.all(Array.from({ length: 8 }, () => begun(edge, "keys-1"))))).toEqual(
      Array(8).fill("answered"),
    );
    expect(clock.nowMs() - startedMs).toBe(30);
  });

  it("that mints keeps no place from creates, however many sequences have no owner", async () => {
    const edge = setUp(["well"]);
    const { own, run, pause, clock, silent } = edge;
    for (let at = 0; at < 1_000; at++) silent.add(`sequence-${at}`);
    // Eight places.
    own[0] = "refused";
    await edge.call();
    own[0] = "well";
    await run(pause(500));
    expect(await run(begun(edge, "keys-1"))).toBe("answered");
    for (const name of silent) void begun(edge, name, "reserve", "SEQUENCES");
    await run(pause(0));
    const startedMs = clock.nowMs();
    expect(await run(Promise.all(Array.from({ length: 8 }, () => begun(edge, "keys-1"))))).toEqual(
      Array(8).fill("answered"),
    );
    expect(clock.nowMs() - startedMs).toBe(30);
  });

  it("of an object that lost its owner during the wait for a place finds out, or waits on", async () => {
    const edge = setUp(["busy"]);
    const { clock, run, pause, silent } = edge;
    silent.add("keys-7");
    for (let turn = 0; turn < 2; turn++) await run(begun(edge, "keys-7"));
    const third = begun(edge, "keys-7");
    await run(pause(500));
    const startedMs = clock.nowMs();
    for (let at = 0; at < 7; at++) void begun(edge, "keys-1");
    const waiting = Array.from({ length: 3 }, () => begun(edge, "keys-7"));
    const ms = waiting.map((work) => work.then(() => clock.nowMs() - startedMs));
    expect(await run(third)).toBe("given up");
    expect(await run(Promise.all(waiting))).toEqual(Array(3).fill("given up"));
    expect(await Promise.all(ms)).toEqual([4_000, 4_500, 5_000]);
  });

  it("of an object that answers none in time is made by one at a time too", async () => {
    const edge = setUp(["stuck", "stuck"]);
    for (let turn = 0; turn < 2; turn++) expect(await edge.call()).toMatchObject({ ms: 2_000 });
    expect(await edge.call()).toMatchObject({ ms: 4_000 });
    // One begins each half second, and takes 2 s.
    edge.log.length = 0;
    await outcomesOf(edge, 20);
    expect(edge.log.filter((asked) => asked.startsWith("call"))).toHaveLength(9);
    edge.own.fill("well");
    expect(await outcomesOf(edge, 20)).toEqual({ answered: 20 });
  });

  it("of an object that its first node waits for is had at another, for 10 s", async () => {
    const { call, own, run, pause } = setUp(["stuck", "orphan", "stuck"]);
    for (let turn = 0; turn < 3; turn++) await call("finish");
    expect(await call("finish")).toMatchObject({ value: { message: "no owner" }, asked: "call 1, ping 1" });
    await run(pause(500));
    expect((await call("finish")).asked).toBe("call 2, ping 2, ping 2");
    own[1] = "well";
    expect((await call("finish")).asked).toBe("call 0, ping 0, ping 0");
    expect(await call("finish")).toMatchObject({ value: "from 1", ms: 30 });
    expect(await call()).toMatchObject({ value: "from 1", asked: "call 1" });
    await run(pause(9_000));
    expect(await call("finish")).toMatchObject({ value: "from 1", asked: "call 1" });
    own[0] = "well";
    own[1] = "refused";
    expect(await call("finish")).toMatchObject({ value: "from 0", asked: "call 1, ping 1, call 0" });
    own[1] = "well";
    await run(pause(2_000));
    await call("finish");
    expect((await call("finish")).asked).toBe("call 0");
  });

  it("of an object that was found, and is lost again, is had at a third node", async () => {
    const { call, own, run, pause } = setUp(["stuck", "well", "well"]);
    for (let turn = 0; turn < 4; turn++) await call("finish");
    own[1] = "orphan";
    for (let turn = 0; turn < 3; turn++) expect(await call("finish")).toMatchObject({ ms: 1_440 });
    expect((await call("finish")).asked).toBe("call 1, ping 1");
    await run(pause(500));
    expect(await call("finish")).toMatchObject({ value: "from 2", asked: "call 2" });
    expect(await call("finish")).toMatchObject({ value: "from 2", asked: "call 2" });
  });

  it("of an object that another node had is made at its first one again after the clock went back", async () => {
    const { call, own, shiftClock } = setUp(["stuck", "well"]);
    for (let turn = 0; turn < 4; turn++) await call();
    expect(await call()).toMatchObject({ value: "from 1", asked: "call 1" });
    own[0] = "well";
    shiftClock(-300_000);
    expect(await call()).toMatchObject({ value: "from 0", asked: "call 0" });
  });

  it.each<readonly [string, name: string, method: string]>([
    ["another one", "keys-8", "begin"],
    ["another method of it", "keys-7", "finish"],
  ])("does not wait because of %s", async (_, name, method) => {
    const { call, calls, own, run, clock } = setUp(["orphan", "orphan"]);
    for (let turn = 0; turn < 4; turn++) await call();
    own.fill("well");
    const startedMs = clock.nowMs();
    expect(await run(calls.call("IDEMPOTENCY", name, method, VALUES))).toMatch(/^from/);
    expect(clock.nowMs() - startedMs).toBe(30);
    // It waits for its turn to find out.
    expect((await call()).ms).toBe(130);
  });

  it.each<readonly [string, number, number]>([
    ["failures of less than 4 s, and a pause", 2, 4_900],
    ["failures 20 s ago", 4, 20_001],
  ])("is not refused because of %s", async (_, failures, pauseMs) => {
    const edge = setUp(["orphan", "orphan"]);
    for (let turn = 0; turn < failures; turn++) await edge.call();
    await edge.run(edge.pause(pauseMs));
    edge.own.fill("well");
    expect(await outcomesOf(edge, 20)).toEqual({ answered: 20 });
  });

  it("is not refused for longer because the clock went back", async () => {
    const edge = setUp(["orphan", "orphan"]);
    for (let turn = 0; turn < 4; turn++) await edge.call();
    expect(await outcomesOf(edge, 3)).toEqual({ "given up": 3 });
    edge.shiftClock(-300_000);
    edge.own.fill("well");
    expect(await outcomesOf(edge, 20)).toEqual({ answered: 20 });

    const gone = setUp(["refused"]);
    await gone.call();
    gone.shiftClock(-300_000);
    gone.own[0] = "well";
    expect(await gone.call()).toMatchObject({ value: "from 0" });
  });

  it("finds a node that is back, although the other one has stopped since the last call", async () => {
    const { call, own, run, pause } = setUp(["refused", "well"]);
    expect(await call()).toMatchObject({ value: "from 1" });
    await run(pause(20_000));
    own[0] = "well";
    own[1] = "refused";
    expect(await call()).toMatchObject({ value: "from 0" });
  });

  it("that ends before its ping finds out about the node for the others", async () => {
    const { calls, call, own, run, pause, background } = setUp(["stuck", "well"]);
    const work = calls.call("IDEMPOTENCY", "keys-7", "begin", VALUES).catch((error: StateUnavailable) => error);
    await run(pause(1_000));
    own[0] = "frozen";
    expect(await run(work)).toMatchObject({ message: "no answer within 2000 ms" });
    expect((await call()).asked).toBe("call 0, ping 0, call 1");
    await run(Promise.all(background));
    expect(await call()).toMatchObject({ value: "from 1", ms: 30, asked: "call 1" });
  });

  it("is not limited long after an outage", async () => {
    const edge = setUp(["refused"]);
    await edge.call();
    edge.own[0] = "well";
    await edge.run(edge.pause(14_000));
    expect(await outcomesOf(edge, 1)).toEqual({ answered: 1 });
    // Nine at once, and the others when these have ended.
    expect(await msOf(edge, 20)).toBe(60);
    await edge.run(edge.pause(1_000));
    expect(await msOf(edge, 20)).toBe(30);
    await edge.run(edge.pause(4_000));
    expect(await msOf(edge, 100)).toBe(30);
  });

  it("of an operator is made, although the object has no owner", async () => {
    const { call } = setUp(["orphan"]);
    for (let turn = 0; turn < 4; turn++)
      expect(await call("text", "TABLE_TRUTH")).toMatchObject({ value: { message: "no owner" }, ms: 1_440 });
  });

  it.each<readonly [string, readonly Behaviour[], string, string]>([
    ["is made once", ["well", "well"], "from 0", "ping 0, call 0"],
    ["is not handed to a dead node", ["refused", "well"], "from 1", "ping 0, ping 1, call 1"],
    ["is not made again after its node died", ["dies", "well"], "from 1", "ping 0, ping 1, call 1"],
  ])("that changes a table %s", async (_, behaviours, result, asked) => {
    const { call } = setUp(behaviours);
    expect(await call("publish", "TABLE_TRUTH")).toMatchObject({ value: result, asked });
  });

  it("that changes a table has an unknown outcome when its node goes away during it", async () => {
    const { calls, own, run, pause, log } = setUp(["stuck", "well"]);
    const work = calls.call("TABLE_TRUTH", "keys-7", "publish", []).catch((failed: StateUnavailable) => failed);
    await run(pause(100));
    own[0] = "frozen";
    expect(await run(work)).toMatchObject({ message: "the state node went away during the call" });
    expect(log).toEqual(["ping 0", "call 0", "ping 0"]);
  });

  it("of an operator waits for its answer as long as the node is there", async () => {
    const { call, calls, run, clock } = setUp(["stuck", "well"]);
    const startedMs = clock.nowMs();
    const error = await run(calls.call("TABLE_TRUTH", "keys-7", "text", []).catch((failed: Error) => failed));
    expect([(error as Error).message, clock.nowMs() - startedMs]).toEqual(["no answer within 30000 ms", 30_000]);
    expect((await call()).asked).toContain("call 0");
  });

  it("tells of an answer that comes too late", async () => {
    const { call, run, clock } = setUp(["tardy"]);
    const startedMs = clock.nowMs();
    const { value, ms } = await call();
    expect([(value as StateUnavailable).message, ms]).toEqual(["no answer within 2000 ms", 2_000]);
    expect(await run(Promise.all((value as StateUnavailable).answers))).toEqual(["from 0"]);
    expect(clock.nowMs() - startedMs).toBe(3_000);
  });

  it("reads and writes values of KV", async () => {
    const { calls, run } = setUp(["refused", "well"]);
    expect(await run(calls.callKv("get", ["directory.a.current", { type: "text" }]))).toMatch(/^from/);
    expect(await run(calls.callKv("get", ["directory.a.current", { type: "arrayBuffer" }]))).toBeInstanceOf(
      ArrayBuffer,
    );
    expect(await run(calls.callKv("put", ["directory.a.current", "x"]))).toBeUndefined();
    expect(await run(calls.callKv("delete", ["directory.a.current"]))).toBeUndefined();
  });

  it("of an unknown method is made once", async () => {
    const { call } = setUp(["dies"]);
    expect((await call("alarm")).asked).toBe("ping 0");
  });
});

describe("the rank of nodes", () => {
  const nodes = NAMES.map((name) => ({ name }));
  const firstOf = (key: string, of = nodes) => rankedFor(key, of)[0]?.name;
  const keys = Array.from({ length: 3_000 }, (_, at) => `IDEMPOTENCY/keys-${at}`);

  it("is the same each time, and gives each node its share of the first places", () => {
    expect(rankedFor("a", nodes)).toEqual(rankedFor("a", nodes.toReversed()));
    for (const { name } of nodes) {
      const share = keys.filter((key) => firstOf(key) === name).length / keys.length;
      expect(share).toBeGreaterThan(0.29);
      expect(share).toBeLessThan(0.38);
    }
  });

  it("moves nothing but the share of a node that goes", () => {
    const left = nodes.slice(1);
    for (const key of keys) {
      const before = firstOf(key);
      if (before !== nodes[0]?.name) expect(firstOf(key, left)).toBe(before);
    }
    const inherited = keys.filter((key) => firstOf(key) === nodes[0]?.name).map((key) => firstOf(key, left));
    expect(new Set(inherited).size).toBe(2);
  });
});
