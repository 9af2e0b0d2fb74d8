import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { residentBytes } from "../table/memory.ts";
import { countersOf } from "./counters.ts";
import type { Fault, Method } from "./faults/fault.ts";
import { deadlineOf } from "./faults/fault.ts";
import { FAULTS } from "./faults/faults.ts";
import { CALM } from "./faults/status.ts";
import {
  hopByHopFields,
  methodsOf,
  outcomeCounted,
  outcomeExpected,
  outcomeOf,
  seenExpected,
  tryFault,
} from "./faults/try-fault.ts";
import { type HostileStack, originOf, startHostileStack } from "./gateway.ts";
import { settles } from "./settle.ts";

let stack: HostileStack;
beforeAll(async () => {
  stack = await startHostileStack(FAULTS);
});
afterAll(() => stack?.stop());

/** How long a fault without a deadline may take, and how far beyond it one with. Generous: the machine may be busy. */
const SLACK_MS = 5_000;
const LATE_SLACK_MS = 2_000;

/** Growth of the memory after the first round. */
const GROWTH_MAX = 1.1;

describe("a faulty origin", () => {
  it("comes in at least 60 kinds, each with its own name", () => {
    expect(FAULTS.length).toBeGreaterThan(60);
    expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  });

  it.concurrent.each(FAULTS)("$name", async (fault) => {
    for (const method of methodsOf(fault)) {
      await holds(fault, method);
      if (endsInOrder(fault)) await hasEnded(fault);
    }
  });

  const endsInOrder = ({ origin }: Fault): boolean => origin.steps.flat().at(-1) === "close!";

  /** A read that meets a connection on its end is sent twice, rightly: that is no part of the fault. */
  const hasEnded = ({ name }: Fault) =>
    settles(
      "connections in the middle of something",
      () => originOf(stack.origins, name).busy(),
      (busy) => busy === 0,
      SLACK_MS,
    );

  async function holds(fault: Fault, method: Method): Promise<void> {
    const { expected, name, withinMs } = fault;
    const { answer, seen } = await tryFault(stack, fault, method);
    const at = `${method} ${name}`;
    expect(outcomeOf(answer, expected), at).toEqual(outcomeExpected(expected));
    expect(answer.message && hopByHopFields(answer.message), at).toEqual([]);
    const [least, most] = seenExpected(fault, method);
    expect([seen >= least, seen <= most], `${at} was seen ${seen} times`).toEqual([true, true]);
    const deadlineMs = deadlineOf(fault);
    expect(answer.ms, at).toBeGreaterThanOrEqual((deadlineMs ?? 0) * 0.95);
    expect(answer.ms, at).toBeLessThan(deadlineMs === undefined ? (withinMs ?? SLACK_MS) : deadlineMs + LATE_SLACK_MS);
  }
});

describe("after all of them", () => {
  it("no origin has a connection in the middle of something", () => settlesDown());

  it("each has been counted by its region and by what became of it", async () => {
    const uncounted = async () => {
      const counted = await countersOf(stack.url, "waybill_requests_total");
      return FAULTS.flatMap((fault) => {
        const key = `parcel ${fault.countedFor ?? fault.name} ${outcomeCounted(fault.expected)}`;
        const count = counted.get(key) ?? 0;
        return count >= methodsOf(fault).length ? [] : [`${key}: ${count}`];
      });
    };
    expect(await settles("not counted", uncounted, (missing) => missing.length === 0, 10_000)).toEqual([]);
  });

  it("each body that was broken off has been counted by why it was", async () => {
    const wanted = new Map<string, number>();
    for (const fault of FAULTS) {
      if (fault.expected.kind !== "broken") continue;
      const key = `parcel ${fault.expected.why}`;
      wanted.set(key, (wanted.get(key) ?? 0) + methodsOf(fault).length);
    }
    const uncounted = async () => {
      const counted = await countersOf(stack.url, "waybill_broken_bodies_total");
      return [...wanted]
        .filter(([key, count]) => (counted.get(key) ?? 0) < count)
        .map(([key, count]) => [key, count, counted.get(key)]);
    };
    expect([...wanted.keys()]).toHaveLength(3);
    expect(await settles("not counted", uncounted, (missing) => missing.length === 0, 10_000)).toEqual([]);
  });

  it("once more, many at once: memory is where it was before", async () => {
    // Until the heap has grown to where the runtime begins to collect it.
    for (let round = 0; round < 20; round++) await tryAll(FAULTS.filter(isQuick));
    await settlesDown();
    const before = residentBytes(stack.gateway.pid);
    await tryAll(FAULTS);
    await settlesDown();
    const ratio = () => residentBytes(stack.gateway.pid) / before;
    expect(await settles("memory", ratio, (found) => found < GROWTH_MAX, 20_000)).toBeLessThan(GROWTH_MAX);
  });

  const isQuick = ({ region, origin }: Fault): boolean =>
    region === undefined && origin.steps.every((step) => typeof step === "string");

  async function tryAll(faults: readonly Fault[]): Promise<void> {
    const trials = faults.flatMap((fault) => methodsOf(fault).map((method) => () => tryFault(stack, fault, method)));
    const next = trials.values();
    const worker = async () => {
      for (const trial of { [Symbol.iterator]: () => next }) await trial();
    };
    await Promise.all(Array.from({ length: 32 }, worker));
  }

  /** Harmless traffic lets the runtime notice what has ended, and collect it. */
  async function settlesDown(): Promise<void> {
    for (const origin of stack.origins.values()) origin.wake();
    const busy = async () => {
      await tryFault(stack, CALM, "GET");
      return [...stack.origins].filter(([, origin]) => origin.busy() > 0).map(([name]) => name);
    };
    expect(await settles("still busy", busy, (names) => names.length === 0, 10_000)).toEqual([]);
  }
});
