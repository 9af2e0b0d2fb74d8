import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { EdgeCache } from "../../../src/edge/origins/moved-memory.ts";
import { isolateDirectory } from "../../../src/features/directory/edge/lookup.ts";
import type { CopyAnswer, DirectoryEntry } from "../../../src/features/directory/port.ts";
import type { DirectoryPlan } from "../../../src/features/directory/table/types.ts";
import { err, ok } from "../../../src/ids/result.ts";
import { runs } from "../../setup/property-runs.ts";

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

const FAILED = err({
  reason: "directory-unavailable",
  directory: "slug",
  retryAfterSeconds: 2,
  why: "failed",
} as const);

/** How a layer fares: `hang` gives no answer at all. */
type Health = "up" | "throws" | "hangs";
const HEALTHS: readonly Health[] = ["up", "throws", "hangs"];

const faring = <Value>(health: Health, work: () => Value): Promise<Value> => {
  if (health === "hangs") return new Promise(() => undefined);
  return health === "throws" ? Promise.reject(new Error("down")) : Promise.resolve().then(work);
};

const entryOf = (key: string, region: string, state: DirectoryEntry["state"] = "confirmed"): DirectoryEntry => ({
  key,
  region,
  owner: undefined,
  state,
  version: 1,
  changedAtMs: 0,
  leaseUntilMs: undefined,
  missingSinceMs: undefined,
});

/** One isolate and its layers, which fare as `health` says. */
const world = (over: Partial<DirectoryPlan> = {}) => {
  const health = { cache: "up" as Health, copies: "up" as Health, object: "up" as Health };
  const clock = { ms: 1_000_000, nowMs: () => clock.ms };
  const truth = new Map<string, DirectoryEntry>();
  const copy = new Map<string, CopyAnswer>();
  const cached = new Map<string, Response>();
  const asked: string[] = [];
  const counted: string[] = [];
  const cache: EdgeCache = {
    match: (url) => faring(health.cache, () => cached.get(String(url))?.clone()),
    put: (url, response) => faring(health.cache, () => void cached.set(String(url), response)),
    delete: (url) => faring(health.cache, () => cached.delete(String(url))),
  };
  const isolate = () =>
    isolateDirectory({
      truth: {
        get: ({ key }) => {
          asked.push(key);
          return faring(health.object, () => ok(truth.get(key))).catch(() => FAILED);
        },
      },
      copies: {
        find: (_, key) => faring(health.copies, () => copy.get(key)),
        peek: () => undefined,
        forget: () => undefined,
        renew: async () => undefined,
      },
      clock,
      cache,
      namespace: "one",
      waitUntil: () => undefined,
      counters: { count: (_, ...labels) => counted.push(labels.join(" ")) },
      report: () => undefined,
      deadlines: { cache: 5, copy: 5, object: 5 },
    });
  const plan = { ...PLAN, ...over };
  const directory = isolate();
  const ask = async (key: string, from = directory, caller?: string) => {
    const answer = await from.lookup(plan, key, caller);
    if (!answer.ok) return answer.error.why;
    return answer.value.state === "absent" ? "absent" : `${answer.value.region} of ${answer.value.source}`;
  };
  return { health, clock, truth, copy, cached, asked, counted, isolate, plan, directory, ask };
};

describe("a look-up", () => {
  let w: ReturnType<typeof world>;
  beforeEach(() => {
    w = world();
  });

  it("asks memory, the cache, a copy and the object, in this order", async () => {
    w.truth.set("a", entryOf("a", "eu"));
    expect(await w.ask("a")).toBe("eu of object");
    expect(await w.ask("a")).toBe("eu of memory");
    const second = w.isolate();
    expect(await w.ask("a", second)).toBe("eu of cache");
    expect(await w.ask("a", second)).toBe("eu of memory");
    w.copy.set("b", { state: "found", region: "us", builtAtMs: w.clock.ms });
    expect(await w.ask("b")).toBe("us of pages");
    expect(w.asked).toEqual(["a"]);
    expect(w.counted).toEqual(["slug object", "slug memory", "slug cache", "slug memory", "slug pages"]);
  });

  it("keeps found and absent keys for the declared times", async () => {
    w.truth.set("a", entryOf("a", "eu"));
    for (const key of ["a", "none"]) await w.ask(key);
    w.truth.set("a", entryOf("a", "us"));
    w.truth.set("none", entryOf("none", "us"));
    w.clock.ms += 9_999;
    expect([await w.ask("a"), await w.ask("none")]).toEqual(["eu of memory", "absent"]);
    w.clock.ms += 1;
    expect([await w.ask("a"), await w.ask("none")]).toEqual(["eu of memory", "us of object"]);
    w.clock.ms += 49_999;
    expect(await w.ask("a")).toBe("eu of memory");
    w.clock.ms += 1;
    expect(await w.ask("a")).toBe("us of object");
  });

  it("takes a reserved key for absent, and does not keep that", async () => {
    w.truth.set("a", entryOf("a", "eu", "reserved"));
    expect(await w.ask("a")).toBe("absent");
    w.truth.set("a", entryOf("a", "eu"));
    expect(await w.ask("a")).toBe("eu of object");
  });

  it("believes a copy only while it is young: what is absent there only for as long as absent keys count", async () => {
    w.copy.set("a", { state: "found", region: "eu", builtAtMs: w.clock.ms - 3_600_000 });
    w.truth.set("a", entryOf("a", "us"));
    expect(await w.ask("a")).toBe("us of object");
    w.copy.set("b", { state: "absent", builtAtMs: w.clock.ms - 9_000 });
    w.truth.set("b", entryOf("b", "us"));
    expect(await w.ask("b")).toBe("absent");
    w.clock.ms += 1_000;
    expect(await w.ask("b")).toBe("us of object");
  });

  it("is one for all who want the key at once", async () => {
    w.truth.set("a", entryOf("a", "eu"));
    const answers = await Promise.all(Array.from({ length: 500 }, () => w.ask("a")));
    expect(new Set(answers)).toEqual(new Set(["eu of object"]));
    expect(w.asked).toEqual(["a"]);
  });

  it("asks anew after the key was changed here, and keeps nothing of a look-up that was under way", async () => {
    w.truth.set("a", entryOf("a", "eu"));
    await w.ask("a");
    const before = w.isolate();
    const underWay = w.ask("a", before);
    w.truth.set("a", entryOf("a", "us"));
    await Promise.all([before.forget("slug", "a"), w.directory.forget("slug", "a")]);
    await underWay;
    expect([await w.ask("a"), await w.ask("a", before)]).toEqual(["us of object", "us of cache"]);
  });

  it("asks anew for absent keys after an import here, and for found ones where it replaced", async () => {
    w.health.cache = "throws";
    w.truth.set("a", entryOf("a", "eu"));
    const before = w.isolate();
    expect([await w.ask("a", before), await w.ask("b", before)]).toEqual(["eu of object", "absent"]);
    w.truth.set("a", entryOf("a", "us"));
    w.truth.set("b", entryOf("b", "us"));
    before.forgetMany("slugs", true);
    expect(await w.ask("b", before)).toBe("absent");
    before.forgetMany("slug", false);
    expect([await w.ask("a", before), await w.ask("b", before)]).toEqual(["eu of memory", "us of object"]);
    before.forgetMany("slug", true);
    expect(await w.ask("a", before)).toBe("us of object");
  });

  it("of random names stops at the objects, by caller, and leaves known keys alone", async () => {
    w.truth.set("a", entryOf("a", "eu"));
    await w.ask("a", w.directory, "192.0.2.1");
    const answers: string[] = [];
    for (let at = 0; at < 150; at++) answers.push(await w.ask(`r${at}`, w.directory, "192.0.2.1"));
    expect(answers.filter((answer) => answer === "absent")).toHaveLength(100);
    expect(answers.filter((answer) => answer === "busy")).toHaveLength(50);
    expect(w.asked).toHaveLength(101);
    expect(await w.ask("a", w.directory, "192.0.2.1")).toBe("eu of memory");
    expect(await w.ask("r200", w.directory, "192.0.2.2")).toBe("absent");
    // One network of IPv6 is one caller.
    for (let at = 0; at < 150; at++) await w.ask(`s${at}`, w.directory, `2001:db8::${at.toString(16)}`);
    expect(w.asked).toHaveLength(202);
    w.clock.ms += 10_000;
    expect(await w.ask("r500", w.directory, "192.0.2.1")).toBe("absent");
  });

  it("waits for few objects at once", async () => {
    w.health.object = "hangs";
    const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => w.ask(`k${at}`)));
    expect(w.asked.length).toBe(64);
    expect(answers.filter((answer) => answer === "failed")).toHaveLength(64);
    expect(answers.filter((answer) => answer === "busy")).toHaveLength(136);
  });

  it("goes to the declared default when every layer fails, but for no flood", async () => {
    const own = world({ fallback: "us" });
    own.health.object = "throws";
    expect(await own.ask("a")).toBe("us of default");
    expect(own.counted).toEqual(["slug default"]);
    own.health.object = "hangs";
    const answers = await Promise.all(Array.from({ length: 70 }, (_, at) => own.ask(`k${at}`)));
    expect(answers.filter((answer) => answer === "busy")).toHaveLength(6);
  });
});

describe("while layers fail", () => {
  it.each(HEALTHS.flatMap((copies) => HEALTHS.map((object) => [copies, object] as const)))(
    "copies %s, object %s: a cached key routes, says that it is stale, and ends",
    async (copies, object) => {
      const w = world();
      w.truth.set("a", entryOf("a", "eu"));
      await w.ask("a");
      Object.assign(w.health, { copies, object });
      w.clock.ms += 59_000;
      expect(await w.ask("a")).toBe("eu of memory");
      w.clock.ms += 1_000;
      expect(await w.ask("a")).toBe(object === "up" ? "eu of object" : "eu of stale");
      const second = w.isolate();
      expect(await w.ask("a", second)).toBe(object === "up" ? "eu of cache" : "eu of stale");
      expect(await w.ask("none")).toBe(object === "up" ? "absent" : "failed");
      w.clock.ms += 600_000;
      expect(await w.ask("a")).toBe(object === "up" ? "eu of object" : "failed");
    },
  );

  it("a stale key does not wait for an object that failed a moment ago", async () => {
    const w = world();
    w.truth.set("a", entryOf("a", "eu"));
    await w.ask("a");
    w.health.object = "hangs";
    w.clock.ms += 60_000;
    for (let again = 0; again < 20; again++) expect(await w.ask("a")).toBe("eu of stale");
    expect(w.asked).toHaveLength(2);
    w.health.object = "up";
    w.clock.ms += 2_000;
    expect(await w.ask("a")).toBe("eu of object");
  });

  it("a copy that is too old counts as stale", async () => {
    const w = world();
    w.copy.set("a", { state: "found", region: "eu", builtAtMs: w.clock.ms - 3_600_000 });
    w.health.object = "throws";
    expect(await w.ask("a")).toBe("eu of stale");
    w.clock.ms += 600_000;
    expect(await w.ask("a")).toBe("failed");
  });

  /** Whatever fails when: an answer was true, not longer ago than is declared for its source. */
  it("nothing is routed wrongly, and no failure is an absent key", async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("ask" as const), key: fc.constantFrom("a", "b"), isolate: fc.constantFrom(0, 1) }),
      fc.record({
        do: fc.constant("set" as const),
        key: fc.constantFrom("a", "b"),
        region: fc.constantFrom("eu", "us", undefined),
      }),
      fc.record({ do: fc.constant("wait" as const), seconds: fc.constantFrom(1, 5, 30, 100, 500) }),
      fc.record({ do: fc.constant("build" as const) }),
      fc.record({
        do: fc.constant("fail" as const),
        layer: fc.constantFrom("cache" as const, "copies" as const, "object" as const),
        how: fc.constantFrom("up" as const, "up" as const, "throws" as const, "hangs" as const),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const w = world();
        const isolates = [w.directory, w.isolate()];
        const history: { key: string; region: string | undefined; fromMs: number }[] = [];
        const wasTrue = (key: string, region: string | undefined, withinSeconds: number): boolean => {
          const own = [{ key, region: undefined, fromMs: 0 }, ...history.filter((one) => one.key === key)];
          return own.some((one, at) => {
            const untilMs = own[at + 1]?.fromMs ?? w.clock.ms;
            return one.region === region && untilMs >= w.clock.ms - withinSeconds * 1000;
          });
        };
        for (const one of steps) {
          if (one.do === "wait") w.clock.ms += one.seconds * 1000;
          else if (one.do === "fail") w.health[one.layer] = one.how;
          else if (one.do === "set") {
            history.push({ key: one.key, region: one.region, fromMs: w.clock.ms });
            if (one.region === undefined) w.truth.delete(one.key);
            else w.truth.set(one.key, entryOf(one.key, one.region));
          } else if (one.do === "build") {
            for (const key of ["a", "b"]) {
              const region = w.truth.get(key)?.region;
              const builtAtMs = w.clock.ms;
              w.copy.set(
                key,
                region === undefined ? { state: "absent", builtAtMs } : { state: "found", region, builtAtMs },
              );
            }
          } else {
            const answer = await w.ask(one.key, isolates[one.isolate] as typeof w.directory);
            if (answer === "failed") expect(w.health.object).not.toBe("up");
            else if (answer === "absent") expect(wasTrue(one.key, undefined, 10 + 10), answer).toBe(true);
            else {
              const [region, , source] = answer.split(" ") as [string, string, string];
              const old = source === "stale" ? 3_600 + 660 : 3_600 + 60;
              expect(wasTrue(one.key, region, old), answer).toBe(true);
              if (source === "object") expect(w.truth.get(one.key)?.region).toBe(region);
              if (source === "stale") expect(w.health.object).not.toBe("up");
            }
          }
        }
      }),
      { numRuns: runs(60) },
    );
  });
});
