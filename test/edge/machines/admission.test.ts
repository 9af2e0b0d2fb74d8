import { expect, it } from "vitest";
import { Admission } from "../../../src/edge/machines/admission.ts";
import { virtualTime } from "./virtual-time.ts";

const DEADLINE_MS = 2_000;
const never = () => new Promise<never>(() => undefined);

function setUp() {
  const { clock, run, pause, within } = virtualTime();
  const admission = new Admission(clock, within);
  const place = (waitMs: number) => admission.place(DEADLINE_MS, waitMs);
  /** Calls that begin now and go on until they are ended: as many as there is room for. */
  const fill = async (countMax = 1_000) => {
    const ends: (() => void)[] = [];
    const calls: Promise<unknown>[] = [];
    while (calls.length < countMax) {
      const own = await run(place(0));
      if (own === undefined) break;
      calls.push(admission.count(new Promise<void>((end) => ends.push(end)), own));
    }
    return {
      count: calls.length,
      end: (count = calls.length) => {
        for (const end of ends.splice(0, count)) end();
        return Promise.all(calls.splice(0, count));
      },
    };
  };
  /** So many calls wait for a place: what they had after how many ms. */
  const wait = (count: number, waitMs: number) => {
    const fromMs = clock.nowMs();
    return Array.from({ length: count }, async () => ((await place(waitMs)) ? clock.nowMs() - fromMs : undefined));
  };
  return { admission, clock, run, pause, place, fill, wait };
}

it("calls of requests that the runtime has dropped end by time", async () => {
  const { admission, fill, run, pause } = setUp();
  await fill(40);
  admission.lower();
  expect((await fill()).count).toBe(0);
  await run(pause(DEADLINE_MS - 1));
  expect((await fill()).count).toBe(0);
  await run(pause(1));
  expect((await fill()).count).toBe(28);
});

it("calls that fail have ended, and raise no limit", async () => {
  const { admission, fill, run, place } = setUp();
  admission.startAgain();
  for (let at = 0; at < 100; at++) {
    const own = await run(place(0));
    if (own === undefined) throw new Error("a place was not left");
    await admission.count(Promise.reject(new Error("no owner")), own).catch(() => undefined);
  }
  expect((await fill()).count).toBe(8);
});

it("nodes that come back get a few calls, and twice as many each round, until one is busy", async () => {
  const { admission, fill, run, pause } = setUp();
  const rounds = async (count: number) => {
    const counts: number[] = [];
    for (let at = 0; at < count; at++) {
      const calls = await fill();
      counts.push(calls.count);
      await calls.end();
    }
    return counts;
  };
  admission.startAgain();
  expect(await rounds(4)).toEqual([8, 16, 32, 64]);
  await fill(40);
  admission.lower();
  await run(pause(DEADLINE_MS));
  // Seven tenths of 40, then some more each round.
  const after = await rounds(4);
  expect(after[0]).toBe(28);
  for (const [at, count] of after.entries()) if (at > 0) expect(count - (after[at - 1] ?? 0)).toBeOneOf([3, 4, 5]);
  // Where again none answers, it starts again.
  admission.startAgain();
  expect(await rounds(2)).toEqual([8, 16]);
});

it("calls wait for a place in their order, and those that come later pass nobody", async () => {
  const { admission, fill, run, pause, wait } = setUp();
  admission.startAgain();
  const calls = await fill();
  const first = wait(3, 500);
  await run(pause(100));
  const later = wait(1, 500);
  await calls.end(1);
  // One that ends gives its place, and raises the limit by one.
  expect(await run(Promise.all(first.slice(0, 2)))).toEqual([100, 100]);
  expect((await fill()).count).toBe(0);
  await run(pause(100));
  await calls.end(1);
  expect(await run(Promise.all([first[2], ...later]))).toEqual([200, 100]);
});

it("a call that waited for long has none, and keeps none from the next", async () => {
  const { admission, fill, run, wait, clock } = setUp();
  admission.startAgain();
  const calls = await fill();
  expect(await run(Promise.all(wait(3, 500)))).toEqual([undefined, undefined, undefined]);
  expect(clock.nowMs()).toBe(1_000_500);
  await calls.end(1);
  expect((await fill()).count).toBe(2);
});

it("calls that wait have the places of those that ended by time, without another call", async () => {
  const { admission, fill, run, pause, wait } = setUp();
  admission.startAgain();
  await fill();
  await run(pause(DEADLINE_MS - 100));
  // They look each 200 ms.
  expect(await run(Promise.all(wait(8, 500)))).toEqual(Array(8).fill(200));
});

it.each<readonly [string, agoMs: number, lostMs: number]>([
  ["a moment ago keep their places for a moment alone", 100, 200],
  ["long ago keep none", 501, 0],
])("requests that the runtime dropped %s", async (_, agoMs, lostMs) => {
  const { clock, run, pause, within } = virtualTime();
  let isDropped = false;
  const admission = new Admission(clock, (work, ms) => (isDropped ? never() : within(work, ms)));
  const place = (waitMs: number) => admission.place(DEADLINE_MS, waitMs);
  admission.startAgain();
  const first = await place(0);
  if (first === undefined) throw new Error("there is room");
  for (let at = 1; at < 8; at++) await place(0);
  isDropped = true;
  for (let at = 0; at < 2; at++) void place(1_000);
  isDropped = false;
  // Other calls come meanwhile, by which it knows that the process goes on.
  for (let ms = 0; ms < agoMs; ms += 100) {
    expect(await run(place(0))).toBeUndefined();
    await run(pause(Math.min(100, agoMs - ms)));
  }
  // Two places: the one that is left, and one that comes with the answer.
  await admission.count(Promise.resolve(), first);
  const startedMs = clock.nowMs();
  expect(await run(Promise.all([place(1_000), place(1_000)]))).toMatchObject([{}, {}]);
  expect(clock.nowMs() - startedMs).toBe(lostMs);
});

it("places of dropped requests end although the clock went back", async () => {
  const time = virtualTime();
  let shiftMs = 0;
  const nowMs = () => time.clock.nowMs() + shiftMs;
  const admission = new Admission({ nowMs }, time.within);
  const place = () => admission.place(DEADLINE_MS, 0);
  admission.startAgain();
  for (let at = 0; at < 8; at++) expect(await time.run(place())).toBeDefined();
  expect(await time.run(place())).toBeUndefined();
  shiftMs = -3_600_000;
  admission.startAgain();
  for (let at = 0; at < 8; at++) expect(await time.run(place())).toBeDefined();
  expect(await time.run(place())).toBeUndefined();
});

it.each([600, 4_000])("a call that waits has no place once the clock has passed its end, by %i ms", async (byMs) => {
  const time = virtualTime();
  let shiftMs = 0;
  const admission = new Admission({ nowMs: () => time.clock.nowMs() + shiftMs }, time.within);
  const place = (waitMs: number) => admission.place(DEADLINE_MS, waitMs);
  admission.startAgain();
  for (let at = 0; at < 8; at++) await time.run(place(0));
  const waiting = place(1_000);
  await time.run(time.pause(100));
  // The places of the others have ended, too.
  shiftMs += DEADLINE_MS + byMs;
  expect(await time.run(waiting)).toBeUndefined();
  expect(await time.run(place(0))).toBeDefined();
});

it("calls that wait keep their order, and no more than a thousand wait, although the process stands still", async () => {
  const time = virtualTime();
  let shiftMs = 0;
  const admission = new Admission({ nowMs: () => time.clock.nowMs() + shiftMs }, time.within);
  admission.startAgain();
  const places = Array.from({ length: 8 }, () => admission.place(DEADLINE_MS, 0));
  const first = await time.run(places[0] as (typeof places)[number]);
  if (first === undefined) throw new Error("there is room");
  const waits = (count: number) => Array.from({ length: count }, () => admission.place(DEADLINE_MS, 3_000));
  const waiting = waits(1_000);
  await time.run(time.pause(100));
  for (let stall = 0; stall < 3; stall++) {
    shiftMs += 501;
    const later = waits(10);
    expect(await time.run(Promise.all(later))).toEqual(Array(10).fill(undefined));
  }
  // The first two that wait have the place of a call that ends, and the one that comes with its answer.
  await admission.count(Promise.resolve(), first);
  const order: number[] = [];
  for (const [at, own] of waiting.entries()) void own.then((place) => place && order.push(at));
  await time.run(time.pause(0));
  expect(order).toEqual([0, 1]);
});

it("more than a thousand calls do not wait", async () => {
  const { admission, fill, run, place, clock } = setUp();
  admission.startAgain();
  const calls = await fill();
  const waiting = Array.from({ length: 1_000 }, () => place(500));
  const startedMs = clock.nowMs();
  expect(await run(place(500))).toBeUndefined();
  expect(clock.nowMs()).toBe(startedMs);
  await calls.end();
  expect((await run(Promise.all(waiting))).filter((own) => own !== undefined)).toHaveLength(16);
});

it("a limit doubles each second once no node was busy for 15 s, whatever became of its calls", async () => {
  const { admission, fill, run, pause } = setUp();
  admission.startAgain();
  await run(pause(14_999));
  expect((await fill()).count).toBe(8);
  const free: number[] = [];
  for (const waitMs of [1, 999, 1, 1_000, 1_000]) {
    await run(pause(waitMs));
    free.push((await fill()).count);
  }
  // Each lasts for two seconds.
  expect(free).toEqual([8, 0, 16, 48, 80]);
});

it("there is no limit an hour later", async () => {
  const { admission, fill, run, pause } = setUp();
  admission.startAgain();
  await run(pause(3_600_000));
  expect((await fill(1_000)).count).toBe(1_000);
});
