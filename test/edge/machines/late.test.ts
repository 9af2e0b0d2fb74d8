import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { ControlPlaneRpc, Env } from "../../../src/edge/env.ts";
import { StateUnavailable } from "../../../src/edge/machines/call.ts";
import { CLOCKS_MS, isLate, LATE_WORKS_MAX, LateWork } from "../../../src/edge/machines/late.ts";
import {
  DIRECTORY_SHARDS,
  type DirectoryRpc,
  durableDirectory,
  shardOf,
} from "../../../src/features/directory/edge/keys.ts";
import { type BegunInTime, durableIdempotency, type TimedBegin } from "../../../src/features/idempotency/edge/keys.ts";
import type { FinishCall } from "../../../src/features/idempotency/port.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { openPromise } from "./open-promise.ts";
import { virtualTime } from "./virtual-time.ts";

const own = env as Env;
const LEASE_MS = 60_000;
const CALL = {
  scope: "s",
  key: "k-1",
  fingerprint: "f",
  attempt: "one",
  proposal: { entity: "order", id: "id-1", region: "eu", revision: 1 },
  ttlMs: 86_400_000,
  leaseMs: LEASE_MS,
};
/** The caller's own wait, by the platform's timer. */
const WAIT_MS = 20;

describe("whether a call is late", () => {
  it.each([
    [undefined, false],
    [1, false],
    [0, false],
    [-CLOCKS_MS, false],
    [-CLOCKS_MS - 1, true],
    [-60_000, true],
  ])("that may come %j ms later: %j", (leftMs, isTooLate) => {
    expect(isLate(leftMs === undefined ? undefined : 5_000_000 + leftMs, 5_000_000)).toBe(isTooLate);
  });
});

type Answer = BegunInTime | Error | "never";

const STARTED: BegunInTime = { state: "started", record: CALL.proposal, isResumed: false, untilMs: 9 };
const RUNNING: BegunInTime = { state: "running", retryAfterSeconds: 5, untilMs: 9 };

/** The port over an object that answers as a test says. Background work has a time of its own. */
function setUp(begins: readonly (Answer | Promise<Answer>)[], lost = 0, startWaitMs = 0) {
  const time = virtualTime();
  const background: Promise<unknown>[] = [];
  const begun: TimedBegin[] = [];
  const finished: { readonly call: FinishCall; readonly atMs: number }[] = [];
  const object = {
    async begin(call: TimedBegin) {
      begun.push(call);
      const answer = await begins[Math.min(begun.length, begins.length) - 1];
      if (answer instanceof Error) throw answer;
      return answer === "never" ? new Promise(() => undefined) : answer;
    },
    async finish(call: FinishCall) {
      finished.push({ call, atMs: time.clock.nowMs() - 1_000_000 });
      if (finished.length <= lost) throw new Error("lost");
    },
  };
  const namespace = { idFromName: () => "x", get: () => object } as unknown as Env["IDEMPOTENCY"];
  const { clock, pause, run } = time;
  const late = new LateWork({ clock, pause, waitUntil: (work) => void background.push(work), startWaitMs });
  const keys = durableIdempotency(namespace, WAIT_MS, late, clock);
  const settle = () => run(Promise.all(background));
  return { keys, begun, finished, background, settle, clock };
}

describe("a begin without an answer in time", () => {
  const NONE = [] as const;
  const END_MS = WAIT_MS + 2 * CLOCKS_MS;
  it.each<readonly [string, Answer, Partial<typeof CALL>, readonly number[]]>([
    ["is released once it can no longer take the key", "never", {}, [END_MS]],
    ["is released after a failure, for it may have taken the key", new Error("connection lost"), {}, [END_MS]],
    ["needs nothing where no node was asked", new StateUnavailable("nobody"), {}, NONE],
    ["needs nothing without a lease", "never", { leaseMs: 0 }, NONE],
  ])("%s", async (_, answer, over, releases) => {
    const { keys, begun, finished, settle } = setUp([answer]);
    const result = await keys.begin({ ...CALL, ...over });
    expect(result).toMatchObject({ ok: false, error: { reason: "idempotency-unavailable" } });
    expect(begun[0]).toMatchObject({ notAfterMs: 1_000_000 + WAIT_MS, attempt: "one" });
    await settle();
    expect(finished.map(({ atMs }) => atMs)).toEqual(releases);
    for (const { call } of finished) expect(call).toEqual({ scope: "s", key: "k-1", attempt: "one", isVoid: true });
  });

  it.each<readonly [string, BegunInTime, number]>([
    ["started: it is released at once", STARTED, 1],
    ["another attempt has the key: it is left alone", RUNNING, 0],
  ])("and then with one: %s", async (_, answer, releases) => {
    const { promise, resolve } = openPromise<Answer>();
    const { keys, finished, settle, clock } = setUp([promise]);
    expect((await keys.begin(CALL)).ok).toBe(false);
    resolve(answer);
    await settle();
    expect(finished).toHaveLength(releases);
    expect(clock.nowMs()).toBe(1_000_000);
  });

  it("at an edge, whose call waited for its place first, is released so much later", async () => {
    const lost = new StateUnavailable("no answer", { answers: [new Promise(() => undefined)], waitedMs: 700 });
    const { keys, finished, settle } = setUp([lost], 0, 4_000);
    expect((await keys.begin(CALL)).ok).toBe(false);
    await settle();
    expect(finished.map(({ atMs }) => atMs)).toEqual([700 + END_MS]);
  });

  it("at an edge, whose calls gave up: the answer that still comes counts", async () => {
    const { keys, finished, settle } = setUp([
      new StateUnavailable("no answer", { answers: [Promise.resolve(STARTED)], waitedMs: 0 }),
    ]);
    expect((await keys.begin(CALL)).ok).toBe(false);
    await settle();
    expect(finished.map(({ atMs }) => atMs)).toEqual([0]);
  });

  const LATE: BegunInTime = { state: "late", nowMs: 9 };
  it.each<readonly [string, readonly (BegunInTime | "never" | "fails")[], readonly number[]]>([
    ["the first came late, the second took the key", [LATE, STARTED], [0]],
    ["each took it: the second may have done so after the first was released", [STARTED, STARTED], [0, 0]],
    ["the first took it, the second may still", [STARTED, "never"], [0, END_MS]],
    ["the first failed, the second found another attempt", ["fails", RUNNING], [END_MS]],
    ["neither was answered", ["never", "never"], [END_MS]],
    ["neither took it", [LATE, RUNNING], []],
  ])("at an edge that tried twice: %s", async (_, answers, releases) => {
    const own = answers.map((answer): Promise<unknown> => {
      if (answer === "fails") return Promise.reject(new Error("connection lost"));
      return answer === "never" ? new Promise(() => undefined) : Promise.resolve(answer);
    });
    const { keys, finished, settle } = setUp([new StateUnavailable("no answer", { answers: own, waitedMs: 0 })]);
    expect((await keys.begin(CALL)).ok).toBe(false);
    await settle();
    expect(finished.map(({ atMs }) => atMs)).toEqual(releases);
  });

  it("at an edge, where it may wait for a place first, has so much longer", async () => {
    const answer = new Promise<Answer>((resolve) => setTimeout(() => resolve(STARTED), 3 * WAIT_MS));
    const { keys, begun } = setUp([answer, "never"], 0, 5 * WAIT_MS);
    expect(await keys.begin(CALL)).toEqual({ ok: true, value: STARTED });
    // The edge adds the wait.
    expect(begun[0]).toMatchObject({ notAfterMs: 1_000_000 + WAIT_MS });
    expect(await keys.begin(CALL)).toMatchObject({ ok: false, error: { why: `no answer within ${6 * WAIT_MS} ms` } });
  });

  it("is released again and again while nobody hears it, until the lease is over", async () => {
    const { keys, finished, settle } = setUp(["never"], 1_000);
    await keys.begin(CALL);
    await settle();
    const times = finished.map(({ atMs }) => atMs - END_MS);
    expect(times.slice(0, 7)).toEqual([0, 500, 1_500, 3_500, 7_500, 11_500, 15_500]);
    expect(times.at(-1)).toBeLessThan(LEASE_MS);
    expect(times.at(-1)).toBeGreaterThan(LEASE_MS - 5_000);
  });

  it("is not released by more works than an isolate may have", async () => {
    const { keys, background } = setUp(["never"]);
    await Promise.all(Array.from({ length: LATE_WORKS_MAX + 20 }, () => keys.begin(CALL)));
    expect(background).toHaveLength(LATE_WORKS_MAX);
  });
});

describe("a begin that the object calls late, though it came in time", () => {
  it("is made again by the object's clock, which is known from then on", async () => {
    const aheadMs = 90_000;
    const { keys, begun } = setUp([{ state: "late", nowMs: 1_000_000 + aheadMs }, STARTED]);
    expect(await keys.begin(CALL)).toEqual({ ok: true, value: STARTED });
    expect(await keys.begin(CALL)).toEqual({ ok: true, value: STARTED });
    const ends = begun.map(({ notAfterMs = 0 }) => notAfterMs - 1_000_000);
    expect(ends).toEqual([WAIT_MS, WAIT_MS + aheadMs, WAIT_MS + aheadMs]);
  });

  it("fails where the clock makes no sense", async () => {
    const { keys } = setUp([{ state: "late", nowMs: 5 }]);
    expect(await keys.begin(CALL)).toMatchObject({ ok: false, error: { reason: "idempotency-unavailable" } });
  });
});

describe("a finish that is lost", () => {
  const ANSWER = { status: 201, fields: [], body: new Uint8Array([1]) };
  const finishOf = (leaseUntilMs?: number) => ({
    ...{ scope: "s", key: "k-1", attempt: "one", answer: ANSWER },
    ...(leaseUntilMs === undefined ? {} : { leaseUntilMs }),
  });

  it.each([
    ["is sent again until it is heard", 3, 60_000, [0, 500, 1_500, 3_500]],
    ["is sent no longer than its lease lasts", 99, 4_000, [0, 500, 1_500, 3_500]],
    ["is sent once after its lease", 99, 0, [0]],
    ["is sent once where its lease is unknown", 99, undefined, [0]],
    ["is sent once if it is heard", 0, 60_000, [0]],
  ])("%s", async (_, lost, leaseMs, times) => {
    const { keys, finished, settle } = setUp([STARTED], lost);
    const result = await keys.finish(finishOf(leaseMs === undefined ? undefined : 1_000_000 + leaseMs));
    expect(result.ok).toBe(lost === 0);
    await settle();
    expect(finished.map(({ atMs }) => atMs)).toEqual(times);
    // The object of a former version knows no other members.
    for (const { call } of finished) expect(call).toEqual(finishOf());
  });
});

describe("the object of idempotency keys", () => {
  const object = () => own.IDEMPOTENCY.get(own.IDEMPOTENCY.idFromName("keys-1"));
  const begin = (over: Partial<TimedBegin>) => object().begin({ ...CALL, ...over }) as unknown as Promise<BegunInTime>;
  const rows = () =>
    runInDurableObject(object(), (_, { storage }) => storage.sql.exec("SELECT * FROM keys").toArray().length);
  const TOO_LATE_MS = -CLOCKS_MS - 1_000;

  it.each([
    ["a caller of a former version", undefined, "started"],
    ["a caller that waits", 2_000, "started"],
    ["a caller whose clock may be behind", -1, "started"],
    ["a caller that has given up", TOO_LATE_MS, "late"],
  ])("a key is taken for %s, or not: %j ms left", async (_, leftMs, state) => {
    const begun = await begin(leftMs === undefined ? {} : { notAfterMs: Date.now() + leftMs });
    expect(begun.state).toBe(state);
    expect(await rows()).toBe(state === "started" ? 1 : 0);
    if (begun.state === "late") expect(Math.abs(begun.nowMs - Date.now())).toBeLessThan(10_000);
  });

  it.each([
    ["running", async () => undefined, "running"],
    ["open", async () => object().finish({ scope: "s", key: "k-1", attempt: "one" }), "started"],
    [
      "done",
      async () =>
        object().finish({
          scope: "s",
          key: "k-1",
          attempt: "one",
          answer: { status: 201, fields: [], body: new Uint8Array() },
        }),
      "done",
    ],
  ])("a key that is %s is as it was after a late begin", async (_, prepare, next) => {
    await begin({});
    await prepare();
    const late = { attempt: "two", notAfterMs: Date.now() + TOO_LATE_MS };
    expect(await begin(late)).toMatchObject({ state: "late" });
    expect(await begin({ ...late, fingerprint: "other" })).toMatchObject({ state: "late" });
    expect(await begin({ attempt: "three" })).toMatchObject({ state: next });
  });

  it("gives a key back that was taken for nobody", async () => {
    const keys = durableIdempotency(own.IDEMPOTENCY);
    expect(await keys.begin(CALL)).toMatchObject({ ok: true, value: { state: "started" } });
    await keys.finish({ scope: "s", key: "k-1", attempt: "one", isVoid: true });
    const next = await keys.begin({ ...CALL, attempt: "two", fingerprint: "other" });
    expect(next).toMatchObject({ ok: true, value: { state: "started", isResumed: false } });
  });
});

describe("the object of a directory", () => {
  const at = { directory: "slug", key: "corner" };
  const claim = { ...at, owner: "ann", operation: "o-1", region: "eu", leaseMs: LEASE_MS };
  const shard = shardOf(at);
  const object = () => own.DIRECTORY.get(own.DIRECTORY.idFromName(`keys-${shard}`)) as unknown as DirectoryRpc;
  const of = (leftMs?: number) => ({
    shard,
    shards: DIRECTORY_SHARDS,
    ...(leftMs === undefined ? {} : { notAfterMs: Date.now() + leftMs }),
  });
  const LATE = -CLOCKS_MS - 1_000;

  it("reserves nothing for a caller that has given up", async () => {
    expect(await object().reserve(of(LATE), claim)).toEqual({ state: "late" });
    expect(await object().get(of(), at)).toBeUndefined();
    expect(await object().reserve(of(1_000), claim)).toMatchObject({ state: "done" });
  });

  it("moves and removes nothing for one", async () => {
    await durableDirectory(own.DIRECTORY).register({ ...at, owner: "ann", operation: "o-1", region: "eu" });
    const version = (await object().get(of(), at))?.version ?? 0;
    expect(await object().move(of(LATE), at, "us", version)).toEqual({ state: "late" });
    expect(await object().remove(of(LATE), at, version)).toEqual({ state: "late" });
    expect(await object().get(of(), at)).toMatchObject({ region: "eu", version });
    expect(await object().move(of(), at, "us", version)).toMatchObject({ state: "done" });
  });

  it("is told to release a reservation whose caller did not hear of it", async () => {
    const background: Promise<unknown>[] = [];
    const { promise, resolve: goOn } = openPromise<void>();
    const late = new LateWork({
      clock: { nowMs: Date.now },
      pause: () => promise,
      waitUntil: (work) => void background.push(work),
    });
    const deaf = {
      idFromName: () => "x",
      // The answers of reservations are lost.
      get: () => ({
        reserve: (...values: Parameters<DirectoryRpc["reserve"]>) =>
          object()
            .reserve(...values)
            .then(() => Promise.reject(new Error("lost"))),
        release: (...values: Parameters<DirectoryRpc["release"]>) => object().release(...values),
      }),
    } as unknown as Env["DIRECTORY"];
    const truth = durableDirectory(deaf, () => undefined, 1_000, { late });
    expect(await truth.reserve(claim)).toMatchObject({ ok: false, error: { reason: "directory-unavailable" } });
    expect(await object().get(of(), at)).toMatchObject({ state: "reserved", owner: "ann" });
    goOn();
    await Promise.all(background);
    expect(await object().get(of(), at)).toBeUndefined();
  });

  it("that calls a change late, though it came in time, is a failure", async () => {
    const answer = async () => ({ state: "late" });
    const strange = { idFromName: () => "x", get: () => ({ reserve: answer, move: answer, noteChange: answer }) };
    const truth = durableDirectory(strange as unknown as Env["DIRECTORY"]);
    const failed = { ok: false, error: { reason: "directory-unavailable" } };
    expect(await truth.reserve(claim)).toMatchObject(failed);
    expect(await truth.move(at, "us", 1)).toMatchObject(failed);
  });
});

describe("the control plane", () => {
  it("makes no change whose caller has given up, and says so in the audit", async () => {
    const truth = own.TABLE_TRUTH.get(own.TABLE_TRUTH.idFromName("table")) as unknown as ControlPlaneRpc;
    const bytes = new TextEncoder().encode(JSON.stringify(DECLARED_TABLE));
    const request = { expectedRevision: 0, author: "ann", note: "" };
    const late = await truth.publish({ ...request, notAfterMs: Date.now() - CLOCKS_MS - 1_000 }, bytes);
    expect(late).toMatchObject({ ok: false, error: { reason: "control-plane-unavailable", outcome: "none" } });
    expect(await truth.audit({ before: undefined, limit: 5 })).toMatchObject({
      value: [{ author: "ann", outcome: "control-plane-unavailable" }],
    });
    const inTime = await truth.publish({ ...request, notAfterMs: Date.now() + 30_000 }, bytes);
    expect(inTime).toMatchObject({ ok: true, value: { revision: 1 } });
  });
});
