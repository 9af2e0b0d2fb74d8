import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { subtleSha256 } from "../../../src/edge/platform.ts";
import { copyStore, kvCopies } from "../../../src/features/directory/edge/copies.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { isolateDirectory } from "../../../src/features/directory/edge/lookup.ts";
import type { DirectoryTruth } from "../../../src/features/directory/port.ts";
import { CopyBuilder } from "../../../src/features/directory/table/copy-builder.ts";
import type { DirectoryPlan } from "../../../src/features/directory/table/types.ts";
import { faultyKv, READ_FAULTS } from "../faulty-kv.ts";

/** The whole chain over the real KV and the real objects, of which each fails in every way. */

const { DIRECTORY, TABLE_KV } = env as Env;
const NOW_MS = Date.parse("2026-11-23T09:00:00.000Z");

const PLAN: DirectoryPlan = {
  name: "slug",
  form: "lower",
  layout: undefined,
  cacheSeconds: 60,
  absentSeconds: 10,
  staleSeconds: 600,
  copySeconds: 3_600,
  fallback: undefined,
  mode: "serve",
  learnsMoves: false,
  targets: new Map(),
};

const OBJECT_FAULTS = ["none", "throws", "rejects", "overloaded", "hangs", "unbound"] as const;
type ObjectFault = (typeof OBJECT_FAULTS)[number];

/** The real namespace behind a fault. */
const objectsWith = (state: { fault: ObjectFault }): typeof DIRECTORY => {
  const failing = (): Promise<never> => {
    if (state.fault === "hangs") return new Promise(() => undefined);
    const marks = state.fault === "overloaded" ? { overloaded: true, retryable: true } : {};
    return Promise.reject(Object.assign(new Error("Network connection lost."), marks));
  };
  return {
    idFromName: (name: string) => {
      if (state.fault === "unbound") throw new TypeError("undefined is not an object");
      return DIRECTORY.idFromName(name);
    },
    get: (id: DurableObjectId) => {
      if (state.fault === "throws") throw new Error("Durable Object reset because its code was updated.");
      return state.fault === "none" ? DIRECTORY.get(id) : { get: failing };
    },
  } as unknown as typeof DIRECTORY;
};

const world = () => {
  const objects = { fault: "none" as ObjectFault };
  const kv = faultyKv(TABLE_KV, { revision: 1, digest: "" }, "{}");
  const clock = { ms: NOW_MS, nowMs: () => clock.ms };
  const common = { clock, cache: undefined, namespace: "one", waitUntil: () => undefined };
  const truthWithin = (deadlineMs: number) => durableDirectory(objectsWith(objects), undefined, deadlineMs);
  const [patient, hasty] = [truthWithin(10_000), truthWithin(200)];
  const truth = new Proxy(patient, {
    get: (_, name: keyof DirectoryTruth) => (objects.fault === "hangs" ? hasty : patient)[name],
  });
  // Long for what answers, and short for what does not.
  const deadlines = { cache: 100, copy: 10_000, object: 10_000 };
  const isolate = () => {
    const entropy = { word: () => 2 ** 31 };
    const copies = kvCopies({
      ...common,
      truth,
      kv: kv.kv,
      entropy,
      retryMsMax: 30_000,
      waitMs: 10_000,
      report: () => undefined,
    });
    const counters = { count: () => undefined };
    const directory = isolateDirectory({ ...common, truth, copies, counters, report: () => undefined, deadlines });
    return async (key: string): Promise<string> => {
      const answer = await directory.lookup(PLAN, key, undefined);
      if (!answer.ok) return answer.error.why;
      return answer.value.state === "absent" ? "absent" : `${answer.value.region} of ${answer.value.source}`;
    };
  };
  return { objects, kv, clock, deadlines, isolate };
};

const building = async () => {
  const builder = new CopyBuilder(Uint8Array.from({ length: 16 }, (_, at) => at));
  for (let at = 0; at < 300; at++) builder.add(`key-${at}`, "eu");
  const built = await builder.build({ directory: "slug", builtAtMs: NOW_MS, sha256: subtleSha256 });
  if (!built.ok) throw new Error(built.error.reason);
  return built.value;
};
let copy: ReturnType<typeof building> | undefined;

beforeEach(async () => {
  await reset();
  copy ??= building();
  const { sha256, header, pages } = await copy;
  const store = copyStore(TABLE_KV, () => undefined);
  for (const [page, bytes] of pages.entries()) await store.write("slug", sha256, page, bytes);
  await store.write("slug", sha256, undefined, header);
  await store.point("slug", sha256);
  const truth = durableDirectory(DIRECTORY);
  for (const key of ["key-7", "new"]) {
    await truth.register({ directory: "slug", key, owner: "1", operation: "test", region: "eu" });
  }
});

/** Every fault of KV beside objects that answer and that do not, and the other way round. */
const CASES = OBJECT_FAULTS.map((fault) => {
  const all = fault === "none" || fault === "rejects";
  return [fault, all ? (["none", ...READ_FAULTS] as const) : (["none", "throws"] as const)] as const;
});

describe.each(CASES)("objects: %s", (fault, kvFaults) => {
  it.each(kvFaults)("KV: %s", async (kvFault) => {
    const w = world();
    const warm = w.isolate();
    // The copy is there in time, also on a busy machine.
    for (let at = 10; at < 60 && (await warm(`key-${at}`)) !== "eu of pages"; at++)
      await new Promise((end) => setTimeout(end, 5));
    // In memory, one out of the copy and one out of its object.
    expect([await warm("key-7"), await warm("new")]).toEqual(["eu of pages", "absent"]);
    w.clock.ms += 20_000;
    expect(await warm("new")).toBe("eu of object");
    w.objects.fault = fault;
    w.kv.fault = kvFault === "none" ? undefined : kvFault;
    const isUp = fault === "none";
    if (!isUp) w.deadlines.object = 60;
    if (kvFault === "hangs") w.deadlines.copy = 40;
    // Cached keys route at once, and stale where no layer can say, until the declared time is over.
    expect([await warm("key-7"), await warm("new")]).toEqual(["eu of memory", "eu of memory"]);
    w.clock.ms += 61_000;
    expect(await warm("new")).toBe(isUp ? "eu of object" : "eu of stale");
    expect(["eu of pages", isUp ? "eu of object" : "eu of stale"]).toContain(await warm("key-7"));
    // Uncached keys are found, absent or a failure: never in another region, never absent by a failure.
    const cold = w.isolate();
    // A copy says so where no object tells what changed since.
    expect(isUp ? ["eu of pages", "eu of object"] : ["eu of stale", "failed"]).toContain(await cold("key-7"));
    expect(await cold("new")).toBe(isUp ? "eu of object" : "failed");
    expect(await cold("none")).toBe(isUp ? "absent" : "failed");
    w.clock.ms += 4_000_000;
    expect(await warm("new")).toBe(isUp ? "eu of object" : "failed");
  });
});
