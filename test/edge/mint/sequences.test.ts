import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { durableSequences } from "../../../src/features/mint/edge/sequences.ts";

const { SEQUENCES } = env as Env;
const MAX = 2 ** 48 - 1;

async function take(sequences: ReturnType<typeof durableSequences>, name: string, count: number, max = MAX) {
  const taken = await sequences.take(name, count, { max });
  if (!taken.ok) throw new Error(taken.error.reason);
  return taken.value;
}

describe("sequences out of Durable Objects", () => {
  it("begin at 1 and rise without gaps within a block", async () => {
    const sequences = durableSequences(SEQUENCES);
    expect(await take(sequences, "begin", 3)).toEqual([1, 2, 3]);
    expect(await take(sequences, "begin", 2)).toEqual([4, 5]);
  });

  it("are apart by name", async () => {
    const sequences = durableSequences(SEQUENCES);
    expect(await take(sequences, "one", 1)).toEqual([1]);
    expect(await take(sequences, "two", 1)).toEqual([1]);
  });

  it("never give a number to two isolates, and rise in each", async () => {
    const isolates = Array.from({ length: 8 }, () => durableSequences(SEQUENCES));
    const taken = await Promise.all(
      isolates.map(async (sequences) => {
        const own: number[] = [];
        for (let turn = 0; turn < 20; turn++) own.push(...(await take(sequences, "shared", 1 + (turn % 9))));
        return own;
      }),
    );
    const all = taken.flat();
    expect(new Set(all).size).toBe(all.length);
    for (const own of taken) expect(own).toEqual([...own].sort((a, b) => a - b));
  });

  it("rise within one isolate whatever the order in which concurrent reservations come back", async () => {
    const sequences = durableSequences(SEQUENCES);
    const given: number[] = [];
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const numbers = await take(sequences, "concurrent", 1 + (index % 50));
        given.push(...numbers);
      }),
    );
    expect(new Set(given).size).toBe(given.length);
    expect(given).toEqual([...given].sort((a, b) => a - b));
  });

  it("give more than a block at once", async () => {
    const numbers = await take(durableSequences(SEQUENCES), "many", 1000);
    expect(numbers).toHaveLength(1000);
    expect(numbers.at(-1)).toBe(1000);
  });

  it("go on after the object was lost, never back", async () => {
    const before = await take(durableSequences(SEQUENCES), "restart", 5);
    await abortAllDurableObjects();
    const after = await take(durableSequences(SEQUENCES), "restart", 5);
    expect(Math.min(...after)).toBeGreaterThan(Math.max(...before));
  });

  it("give the last numbers singly and then say that there are none", async () => {
    const sequences = durableSequences(SEQUENCES);
    expect(await take(sequences, "short", 3, 5)).toEqual([1, 2, 3]);
    expect(await take(sequences, "short", 2, 5)).toEqual([4, 5]);
    expect(await sequences.take("short", 1, { max: 5 })).toEqual({
      ok: false,
      error: { reason: "sequence-exhausted", name: "short", max: 5 },
    });
  });

  it("use nothing up for what is refused, however often, and say when there is more", async () => {
    const sequences = durableSequences(SEQUENCES);
    const until = { number: 100, secondsTo: (number: number) => number };
    expect(await sequences.take("ahead", 60, { max: MAX, least: 1, until })).toMatchObject({ ok: true });
    for (let turn = 0; turn < 50; turn++) {
      const refused = { reason: "sequence-ahead", name: "ahead", retryAfterSeconds: 120 };
      expect(await sequences.take("ahead", 60, { max: MAX, least: 1, until })).toEqual({ ok: false, error: refused });
    }
    expect(await sequences.peek("ahead", { max: MAX })).toEqual({ ok: true, value: 61 });
    expect(await sequences.take("ahead", 40, { max: MAX, least: 1, until })).toMatchObject({ ok: true });
  });

  it("refuse what they know to be refused without a call, and ask again when it may be granted", async () => {
    let calls = 0;
    const counting = {
      idFromName: (name: string) => SEQUENCES.idFromName(name),
      get: (id: DurableObjectId) => {
        calls++;
        return SEQUENCES.get(id);
      },
    } as typeof SEQUENCES;
    const sequences = durableSequences(counting);
    const upTo = (number: number) => ({ max: MAX, least: 1, until: { number, secondsTo: (last: number) => last } });
    const askFor = (count: number, until: number) => sequences.take("known", count, upTo(until));
    expect((await askFor(90, 100)).ok).toBe(true);
    expect(sequences.refusal("known", 20, upTo(100))).toBeUndefined();
    const error = { reason: "sequence-ahead", name: "known", retryAfterSeconds: 110 };
    for (let times = 0; times < 5; times++) expect(await askFor(20, 100)).toEqual({ ok: false, error });
    expect(sequences.refusal("known", 20, upTo(100))).toEqual(error);
    expect(sequences.refusal("known", 10, upTo(100))).toBeUndefined();
    expect(calls).toBe(2);
    expect(await askFor(10, 100)).toMatchObject({ ok: true });
    expect(await askFor(20, 120)).toMatchObject({ ok: true });
    expect(calls).toBe(4);
  });

  it("say so when the object cannot be reached", async () => {
    const broken = {
      idFromName: () => SEQUENCES.idFromName("x"),
      get: () => ({ reserve: () => Promise.reject(new Error("overloaded")) }),
    } as unknown as typeof SEQUENCES;
    expect(await durableSequences(broken).take("x", 1, { max: MAX })).toEqual({
      ok: false,
      error: { reason: "sequence-unavailable", name: "x" },
    });
  });
});
