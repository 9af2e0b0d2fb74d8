import { AsyncLocalStorage } from "node:async_hooks";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createMinter,
  createScopedGenerator,
  distributedId,
  distributedIdKind,
  everyLayout,
  type FieldValue,
  frozenIds,
  type Generate,
  type GeneratorScope,
  hotguid,
  hotguidSql,
  incrementalGenerator,
  incrementalIds,
  iuid,
  type Layout,
  type MinterOptions,
  twitterSnowflake,
  ulid,
  uuidV5,
} from "../../../src/ids/index.ts";
import { runs } from "../../setup/property-runs.ts";

const MINTED_AT_MS = Date.UTC(2026, 0, 1);
const mintable = everyLayout.filter(({ table }) => table.minter !== "none");
const keysOf = (layout: Layout): Record<string, FieldValue> =>
  Object.fromEntries(
    layout.fields
      .filter(({ role }) => role === "key" || role === "node")
      .map(({ name, bits }, at) => [name, bits > 53 ? BigInt(at + 1) : at + 1]),
  );

/** The code under test: it gets its generator once, and knows no test. */
class Order {
  readonly id: string;
  constructor(nextId: Generate<string>) {
    this.id = nextId();
  }
}

const idsOf = (nextId: Generate<string>, count: number): string[] =>
  Array.from({ length: count }, () => new Order(nextId).id);

const thrownBy = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

test("the example that Architect.Identities publishes: one ID, then 1, 2 and 3 in a block, then the one again", () => {
  const text = (id: number): string => `${id}`.padStart(28, "0");
  const real = createScopedGenerator(createMinter({ layout: distributedId }));
  {
    using fixed = real.open(() => text(1));
    expect(new Order(fixed.next).id).toBe(text(1));
    {
      using incremental = fixed.open(incrementalIds({ layout: distributedId }));
      expect(idsOf(incremental.next, 3)).toEqual([text(1), text(2), text(3)]);
    }
    expect(idsOf(fixed.next, 2)).toEqual([text(1), text(1)]);
  }
  expect(distributedId.parse(real.next()).ok).toBe(true);
});

describe("IDs for tests", () => {
  test.each(mintable)("of $name are valid, rise, and have the keys", (layout) => {
    const next = incrementalIds({ layout, ...keysOf(layout) }, { mintedAtMs: MINTED_AT_MS });
    const texts = idsOf(next, 3);
    expect(new Set(texts).size).toBe(3);
    for (const text of texts) {
      const words = layout.parse(text);
      expect(words.ok && layout.decode(words.value)).toMatchObject(keysOf(layout));
      if (words.ok && layout.mintedAtMs) expect(layout.mintedAtMs(words.value)).toBe(MINTED_AT_MS);
    }
  });

  test("begin at the number that is asked for", () => {
    const next = incrementalIds({ layout: iuid, country: 5, service: 1 }, { first: 255n });
    expect(idsOf(next, 2)).toEqual(["00000000-0000-8005-8040-0000000000ff", "00000000-0000-8005-8040-000000000100"]);
  });

  test("are one ID if frozen", () => {
    const next = frozenIds({ layout: ulid }, { mintedAtMs: 1469922850259, first: 7n });
    expect(idsOf(next, 3)).toEqual(Array(3).fill("01ARZ3NDEK0000000000000007"));
  });

  test.each([
    [{ layout: uuidV5 }, {}, { reason: "not-mintable" }],
    [{ layout: iuid, country: 5 }, {}, { reason: "missing-key", field: "service" }],
    [{ layout: iuid, country: 5, service: 256 }, {}, { reason: "key-out-of-range", field: "service" }],
    [{ layout: ulid, country: 5 }, {}, { reason: "unknown-key", field: "country" }],
    [{ layout: ulid }, { first: -1n }, { reason: "key-out-of-range", field: "random" }],
    [{ layout: ulid }, { first: 2n ** 80n }, { reason: "key-out-of-range", field: "random" }],
    [{ layout: ulid }, { mintedAtMs: 0.5 }, { reason: "key-out-of-range", field: "mintedAt" }],
    [{ layout: ulid }, { mintedAtMs: -1 }, { reason: "key-out-of-range", field: "mintedAt" }],
    [{ layout: ulid }, { first: 0.5 }, { reason: "key-out-of-range", field: "random", value: "0.5" }],
    [{ layout: ulid }, { first: 2 ** 53 }, { reason: "key-out-of-range", field: "random" }],
    [{ layout: hotguid, shardKey: 7, machine: 1 }, {}, { reason: "missing-key", field: "process" }],
  ] as const)("of wrong options are refused: %#", (options, ids, cause) => {
    expect(thrownBy(() => incrementalIds(options as MinterOptions, ids))).toMatchObject({ cause });
    expect(thrownBy(() => frozenIds(options as MinterOptions, ids))).toMatchObject({ cause });
  });

  test.each([hotguid, hotguidSql])("of $name need no machine and process, as with createMinter", (layout) => {
    const texts = idsOf(incrementalIds({ layout, shardKey: 7 }, { first: 5, mintedAtMs: MINTED_AT_MS }), 2);
    for (const [at, text] of texts.entries()) {
      const words = layout.parse(text);
      const counted = { counter: 5 + at, shardKey: 7, machine: 0, process: 0 };
      expect(words.ok && layout.decode(words.value)).toMatchObject(counted);
      expect(everyLayout.some((other) => other.fixedBits > 0 && other.parse(text).ok)).toBe(false);
    }
    expect(frozenIds({ layout, shardKey: 7 }, { first: 5, mintedAtMs: MINTED_AT_MS })()).toBe(texts[0]);
  });

  test.each([5, 5n])("begin at a number of either type: %s", (first) => {
    expect(incrementalIds({ layout: ulid }, { first })()).toBe("00000000000000000000000005");
  });

  test("end with the field, and never repeat", () => {
    const next = incrementalIds({ layout: twitterSnowflake, datacenter: 1, worker: 1 }, { first: 4095n });
    next();
    expect(thrownBy(next)).toMatchObject({ cause: { reason: "key-out-of-range", field: "sequence", value: "4096" } });
  });
});

describe("a scope", () => {
  const letters = (letter: string): Generate<string> => {
    let count = 0;
    return () => `${letter}${++count}`;
  };

  test("that has ended refuses, and so do those within it", () => {
    const real = createScopedGenerator(letters("r"));
    let outer: GeneratorScope<string>;
    let inner: GeneratorScope<string>;
    {
      using scope = real.open(letters("a"));
      outer = scope;
      inner = scope.open(letters("b"));
      expect([outer.next(), inner.next()]).toEqual(["a1", "b1"]);
    }
    for (const ended of [outer, inner]) {
      const uses = [ended.next, () => ended.open(letters("c")), () => ended.run(letters("c"), () => "")];
      for (const use of uses) expect(thrownBy(use)).toMatchObject({ cause: { reason: "scope-ended" } });
    }
    expect(real.next()).toBe("r1");
  });

  test("ends with its call, returned or thrown, at once or later", async () => {
    const real = createScopedGenerator(letters("r"));
    const kept: GeneratorScope<string>[] = [];
    const keep = (scope: GeneratorScope<string>): string => {
      kept.push(scope);
      return scope.next();
    };
    const fail = (scope: GeneratorScope<string>): never => {
      throw new Error(keep(scope));
    };
    expect(real.run(letters("a"), keep)).toBe("a1");
    expect(() => real.run(letters("b"), fail)).toThrow("b1");
    const later = real.run(letters("c"), async (scope) => {
      await null;
      return keep(scope) + scope.next();
    });
    expect(await later).toBe("c1c2");
    await expect(real.run(letters("d"), async (scope) => fail(scope))).rejects.toThrow("d1");
    expect(kept).toHaveLength(4);
    for (const { next } of kept) expect(thrownBy(next)).toMatchObject({ cause: { reason: "scope-ended" } });
  });

  test("takes the asynchronous generators of DistributedIds", async () => {
    using scope = createScopedGenerator(incrementalGenerator(distributedIdKind, 7n).next);
    const words = await scope.next();
    expect(words.ok && distributedId.format(words.value)).toBe("1065896647567315933593600007");
  });

  test("changes no other: without an async context, outer code keeps its generator", () => {
    const real = createScopedGenerator(letters("r"));
    expect(real.run(letters("a"), ({ next }) => [real.next(), next()])).toEqual(["r1", "a1"]);
  });
});

/** As a program has it: one generator that all of its code takes from. */
const context = new AsyncLocalStorage<Generate<string>>();
const shared = createScopedGenerator(() => "real", context);
const createOrder = async (): Promise<string> => {
  await null;
  return new Order(shared.next).id;
};

describe("two tests at the same time", () => {
  let release = (): void => {};
  const met = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrived = 0;
  const meet = (): Promise<void> => {
    arrived += 1;
    if (arrived === 2) release();
    return met;
  };

  test.concurrent.each([0, 1])("test %d has generators of its own, ambient and as objects", async (at) => {
    using own = shared.open(incrementalIds({ layout: iuid, country: at, service: 0 }));
    await shared.run(incrementalIds({ layout: iuid, country: at, service: 1 }), async () => {
      // Both have opened their scopes before either takes an ID.
      await meet();
      const prefixes = ["8040-000000000001", "8040-000000000002"].map((end) => `00000000-0000-800${at}-${end}`);
      expect([await createOrder(), await createOrder()]).toEqual(prefixes);
      expect(own.next()).toBe(`00000000-0000-800${at}-8000-000000000001`);
    });
    expect(await createOrder()).toBe("real");
  });
});

/** An act of one test: it takes an ID, waits, or opens a block with a generator of its own. */
type Act = "take" | "wait" | { readonly block: readonly Act[] };
const { act } = fc.letrec<{ act: Act }>((tie) => ({
  act: fc.oneof(
    { depthSize: "small" },
    fc.constant<Act>("take"),
    fc.constant<Act>("wait"),
    fc.record({ block: fc.array(tie("act"), { maxLength: 4 }) }),
  ),
}));
const numbered = (name: string): Generate<string> => {
  let count = 0;
  return () => `${name}:${++count}`;
};

test("many tests at the same time see their own generators alone, in every order of their steps", async () => {
  const plays = fc.array(fc.array(act, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 6 });
  const property = fc.asyncProperty(fc.scheduler(), plays, async (scheduler, tests) => {
    let blocks = 0;
    const play = async (acts: readonly Act[], scope: GeneratorScope<string>, name: string): Promise<void> => {
      let taken = 0;
      for (const step of acts) {
        if (step === "wait") await scheduler.schedule(Promise.resolve());
        else if (step === "take") {
          // Ambient and as an object: the same generator.
          expect([new Order(shared.next).id, scope.next()]).toEqual([`${name}:${++taken}`, `${name}:${++taken}`]);
        } else {
          const inner = `${name}/${++blocks}`;
          await scope.run(numbered(inner), (block) => play(step.block, block, inner));
        }
      }
    };
    const outside = async (): Promise<void> => {
      for (let times = 0; times < 5; times++) {
        await scheduler.schedule(Promise.resolve());
        expect(shared.next()).toBe("real");
      }
    };
    const running = tests.map((acts, at) => shared.run(numbered(`${at}`), (scope) => play(acts, scope, `${at}`)));
    await scheduler.waitFor(Promise.all([...running, outside()]));
  });
  await fc.assert(property, { numRuns: runs(50) });
});
