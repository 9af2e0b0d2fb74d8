import { describe, expect, it } from "vitest";
import { type Running, restartWaitMs, type SuperviseOptions, supervise } from "../../../src/host/machines/supervise.ts";

describe("the wait before a process starts again", () => {
  it.each<readonly [beforeMs: number | undefined, ranMs: number, waitMs: number]>([
    [undefined, 0, 500],
    [500, 0, 1_000],
    [1_000, 29_999, 2_000],
    [2_000, 0, 4_000],
    [4_000, 0, 5_000],
    [5_000, 0, 5_000],
    [5_000, 30_000, 500],
  ])("after %s ms, and a run of %s ms: %s ms", (beforeMs, ranMs, waitMs) => {
    expect(restartWaitMs(beforeMs, ranMs)).toBe(waitMs);
  });
});

/** Time that passes by `pass`, and processes that end by `end`. */
function harness(options: Partial<SuperviseOptions<Running>> = {}, failures: readonly (string | undefined)[] = []) {
  let nowMs = 0;
  let sleeps: { readonly atMs: number; readonly wake: () => void }[] = [];
  const events: string[] = [];
  const ends: ((code: number) => void)[] = [];
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  const supervisor = supervise<Running>({
    clock: {
      nowMs: () => nowMs,
      sleep: (ms) => new Promise((wake) => sleeps.push({ atMs: nowMs + ms, wake })),
    },
    name: "workerd",
    stopMs: 15_000,
    isRetried: () => true,
    report: (sentence) => events.push(sentence),
    async start(isFirst) {
      const failure = failures[ends.length];
      events.push(`${nowMs}: start${isFirst ? " first" : ""}`);
      const exited = new Promise<number>((resolve) => ends.push(resolve));
      if (failure !== undefined) throw new Error(failure);
      const end = ends.at(-1);
      return {
        exited,
        async stop(deadlineMs) {
          events.push(`${nowMs}: stop ${deadlineMs}`);
          end?.(0);
          return false;
        },
      };
    },
    ...options,
  });
  return {
    supervisor,
    events,
    async pass(ms: number) {
      const untilMs = nowMs + ms;
      await settle();
      for (;;) {
        const [next] = sleeps.filter(({ atMs }) => atMs <= untilMs).toSorted((a, b) => a.atMs - b.atMs);
        if (next === undefined) break;
        nowMs = Math.max(nowMs, next.atMs);
        sleeps = sleeps.filter((each) => each !== next);
        next.wake();
        await settle();
      }
      nowMs = untilMs;
    },
    async end(code: number) {
      ends.at(-1)?.(code);
      await settle();
    },
  };
}

it("starts a process that ends by itself again, later each time", async () => {
  const { supervisor, events, pass, end } = harness();
  await pass(1_000);
  await supervisor.first;
  for (let crash = 0; crash < 5; crash++) {
    await end(139);
    await pass(6_000);
  }
  expect(events).toEqual([
    "0: start first",
    "workerd ended with code 139. It starts again in 0.5 s.",
    "1750: start",
    "workerd ended with code 139. It starts again in 1 s.",
    "8250: start",
    "workerd ended with code 139. It starts again in 2 s.",
    "15250: start",
    "workerd ended with code 139. It starts again in 4 s.",
    "23250: start",
    "workerd ended with code 139. It starts again in 5 s.",
    "30250: start",
  ]);
});

it("counts anew after half a minute", async () => {
  const { events, pass, end } = harness();
  await pass(0);
  await end(1);
  await pass(40_000);
  await end(1);
  await pass(1_000);
  expect(events.filter((event) => event.includes("again"))).toEqual(
    Array.from({ length: 2 }, () => "workerd ended with code 1. It starts again in 0.5 s."),
  );
});

it("tries a failed start again where another may not fail", async () => {
  const { supervisor, events, pass } = harness({}, ["no bucket", "no bucket"]);
  await pass(5_000);
  await supervisor.first;
  expect(events).toEqual([
    "0: start first",
    "workerd did not start: no bucket. It starts again in 0.5 s.",
    "750: start first",
    "workerd did not start: no bucket. It starts again in 1 s.",
    "2000: start first",
  ]);
});

it("waits until an obstacle has ended, and says it once", async () => {
  let why: string | undefined = "the bucket answers 503";
  let asked = 0;
  const obstacle = async () => {
    asked += 1;
    return why;
  };
  const { events, pass, end } = harness({ obstacle });
  await pass(1_000);
  await end(1);
  await pass(9_000);
  why = undefined;
  await pass(1_000);
  expect(events).toEqual([
    "0: start first",
    "workerd ended with code 1. It starts again when the obstacle is gone: the bucket answers 503.",
    "10250: start",
  ]);
  expect(asked).toBe(36);
  // It ended for another reason.
  await end(139);
  await pass(2_000);
  expect(events.slice(-2)).toEqual(["workerd ended with code 139. It starts again in 1 s.", "12250: start"]);
});

it("asks on while a silent store keeps answers back", async () => {
  const held: (() => void)[] = [];
  let isSilent = true;
  const obstacle = async () => {
    if (isSilent) await new Promise<void>((answer) => held.push(answer));
    return isSilent ? "the bucket does not answer" : undefined;
  };
  const { events, pass, end } = harness({ obstacle });
  await pass(1_000);
  await end(1);
  await pass(250);
  held[0]?.();
  await pass(3_000);
  isSilent = false;
  await pass(250);
  expect(events.slice(2)).toEqual(["4500: start"]);
  // A late answer to a question of before wakes nothing.
  await end(139);
  for (const answer of held) answer();
  await pass(900);
  expect(events.slice(3)).toEqual(["workerd ended with code 139. It starts again in 1 s."]);
});

it("tries all the same after half a minute of an obstacle, which may be seen wrongly", async () => {
  const { events, pass, end } = harness({ obstacle: async () => "the bucket answers 503" });
  await pass(0);
  await end(1);
  await pass(31_000);
  expect(events.filter((event) => event.includes(": start"))).toEqual(["0: start first", "30250: start"]);
});

it("waits longer each time, where an obstacle comes and goes", async () => {
  let asked = 0;
  const { events, pass, end } = harness({ obstacle: async () => (asked++ % 2 === 0 ? "503 SlowDown" : undefined) });
  await pass(0);
  for (let at = 0; at < 600; at++) {
    await end(1);
    await pass(100);
  }
  expect(events.filter((event) => event.includes(": start"))).toHaveLength(14);
});

it("knows nothing of an obstacle that cannot be asked for", async () => {
  const { events, pass, end } = harness({ obstacle: () => Promise.reject(new Error("no file")) });
  await pass(0);
  await end(1);
  await pass(1_000);
  expect(events.slice(1)).toEqual(["workerd ended with code 1. It starts again in 0.5 s.", "750: start"]);
});

it("does not say that it starts, where it is held meanwhile", async () => {
  const { supervisor, events, pass, end } = harness({ obstacle: () => new Promise(() => undefined) });
  await pass(0);
  await end(1);
  await pass(300);
  supervisor.hold();
  await pass(60_000);
  supervisor.release();
  await pass(0);
  expect(events).toEqual(["0: start first", "60300: start"]);
});

it.each<readonly [string, () => Promise<string | undefined>]>([
  ["has an obstacle", async () => "the bucket answers 503"],
  ["asks for one without an answer", () => new Promise(() => undefined)],
])("stops while it %s, and starts nothing while it is held", async (_, obstacle) => {
  const stopped = harness({ obstacle });
  await stopped.pass(0);
  await stopped.end(1);
  await stopped.pass(2_100);
  await stopped.supervisor.stop();
  await stopped.pass(60_000);
  expect(stopped.events.filter((event) => event.includes(": start"))).toHaveLength(1);

  const held = harness({ obstacle });
  await held.pass(0);
  await held.end(1);
  await held.pass(2_100);
  held.supervisor.hold();
  await held.pass(60_000);
  expect(held.events.filter((event) => event.includes(": start"))).toHaveLength(1);
  held.supervisor.release();
  await held.pass(1_000);
  expect(held.events.filter((event) => event.includes(": start"))).toHaveLength(2);
});

it("ends with a first start that would fail again, and tries a later one", async () => {
  const failed = harness({ isRetried: () => false }, ["in use"]);
  await failed.pass(10_000);
  await expect(failed.supervisor.first).rejects.toThrow("in use");
  expect(failed.events).toEqual(["0: start first"]);
  const later = harness({ isRetried: () => false }, [undefined, "in use"]);
  await later.pass(0);
  await later.end(1);
  await later.pass(3_000);
  expect(later.events.filter((event) => event.includes("start")).length).toBeGreaterThan(3);
});

it("waits for its release, where it is held from the start", async () => {
  const { supervisor, events, pass } = harness({ isHeld: true });
  await pass(10_000);
  supervisor.release();
  await pass(1_000);
  expect(events).toEqual(["10000: start first"]);
});

it("starts nothing while it is held", async () => {
  const { supervisor, events, pass } = harness();
  await pass(1_000);
  supervisor.hold();
  await pass(60_000);
  supervisor.release();
  await pass(1_000);
  expect(events).toEqual(["0: start first", "1000: stop 15000", "61000: start"]);
});

it("says nothing of a process that ended by the signal to all", async () => {
  const { supervisor, events, pass, end } = harness();
  await pass(1_000);
  await end(143);
  await pass(100);
  await supervisor.stop();
  await pass(60_000);
  expect(events).toEqual(["0: start first"]);
});

it("stops while it waits, while it is held, and while it runs", async () => {
  const waiting = harness();
  await waiting.pass(0);
  await waiting.end(1);
  await waiting.pass(300);
  await waiting.supervisor.stop();
  await waiting.pass(60_000);
  expect(waiting.events.filter((event) => event.includes("start"))).toHaveLength(2);

  const held = harness({ isHeld: true });
  await held.pass(10_000);
  expect(await held.supervisor.stop()).toBe(false);
  expect(held.events).toEqual([]);

  const running = harness();
  await running.pass(0);
  await running.supervisor.stop();
  expect(running.events).toEqual(["0: start first", "0: stop 15000"]);
});
