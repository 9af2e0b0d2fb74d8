import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import {
  type Command,
  type CommandRecord,
  type CommandStore,
  commandOf,
  commandStoreRules,
  createCommands,
  memoryCommandStore,
  refusalOf,
} from "../../src/origin/index.ts";

/** A store that serializes its records, as a real origin's does. */
function databaseStore(): CommandStore<unknown> {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE commands (entity TEXT, key TEXT, record TEXT NOT NULL, PRIMARY KEY (entity, key))");
  // A text of SQLite ends at NUL for some of its functions.
  const hex = (text: string) => Buffer.from(text).toString("hex");
  return {
    async update(entity, key, step) {
      await Promise.resolve();
      const row = database
        .prepare("SELECT record FROM commands WHERE entity = ? AND key = ?")
        .get(hex(entity), hex(key));
      const held = row && JSON.parse(String(row["record"]));
      const next = step(held);
      if (next !== undefined && next !== held) {
        database
          .prepare("INSERT OR REPLACE INTO commands VALUES (?, ?, ?)")
          .run(hex(entity), hex(key), JSON.stringify(next));
      }
      return next;
    },
  };
}

const STORES: readonly (readonly [string, () => CommandStore<unknown>])[] = [
  ["in memory", memoryCommandStore],
  ["in a database", databaseStore],
];

describe.each(STORES)("a store of commands %s", (_, make) => {
  it.each(commandStoreRules)("$name", ({ check }) => check(make()));
});

describe("the rules of a store find one that", () => {
  const broken: Record<string, (store: CommandStore<unknown>) => CommandStore<unknown>> = {
    forgets: () => ({ update: (_, __, step) => step(undefined) }),
    "returns what it had": (store) => ({
      async update(entity, key, step) {
        const held = await store.update(entity, key, (before) => before);
        await store.update(entity, key, step);
        return held;
      },
    }),
    "has one row for an entity": (store) => ({ update: (entity, _, step) => store.update(entity, "", step) }),
    "joins names without a border": (store) => ({
      update: (entity, key, step) => store.update("", entity + key, step),
    }),
    "folds case": (store) => ({ update: (entity, key, step) => store.update(entity.toLowerCase(), key, step) }),
    "reads and writes apart": (store) => ({
      async update(entity, key, step) {
        const held = await store.update(entity, key, (before) => before);
        await Promise.resolve();
        const next = step(held);
        return store.update(entity, key, () => next);
      },
    }),
    "takes null for no answer": (store) => ({
      async update(entity, key, step) {
        const held = await store.update(entity, key, step);
        if (held?.done?.answer !== null) return held;
        const { done: _, ...rest } = held;
        return rest;
      },
    }),
    "swallows errors": (store) => ({
      async update(entity, key, step) {
        try {
          return await store.update(entity, key, step);
        } catch {
          return undefined;
        }
      },
    }),
  };

  it.each(Object.entries(broken))("%s", async (_, wrap) => {
    const outcomes = await Promise.allSettled(commandStoreRules.map(({ check }) => check(wrap(memoryCommandStore()))));
    expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);
  });
});

describe.each(STORES)("commands that are kept %s", (_, make) => {
  function setUp({ keepMs = 10_000, leaseMs = 1_000 } = {}) {
    let nowMs = 1_000_000;
    const store = make();
    const done: string[] = [];
    const create = () => createCommands({ store, keepMs, leaseMs, now: () => nowMs });
    const commands = create();
    const send = (more: Partial<Command> = {}, name = `${done.length}`) =>
      commands.once({ entity: "order 1", key: "k", payload: "pay 5", ...more }, () => {
        done.push(name);
        return { receipt: name };
      });
    const pass = (ms: number) => {
      nowMs += ms;
    };
    return { store, commands, create, send, done, pass };
  }
  const answered = (receipt: string, isReplayed: boolean) => ({ ok: true, value: { answer: { receipt }, isReplayed } });
  const OTHER = { ok: false, error: { reason: "other-command" } };
  const inProgress = (retryAfterSeconds: number) => ({
    ok: false,
    error: { reason: "in-progress", retryAfterSeconds },
  });

  it("are done once, and a retry gets the first answer", async () => {
    const { send, done, create } = setUp();
    expect([await send(), await send(), await send()]).toEqual([
      answered("0", false),
      answered("0", true),
      answered("0", true),
    ]);
    const later = await create().once({ entity: "order 1", key: "k", payload: "pay 5" }, () => "again");
    expect([later, done]).toEqual([answered("0", true), ["0"]]);
  });

  it.each<[string, Partial<Command>]>([
    ["another payload", { payload: "pay 6" }],
    ["an empty payload", { payload: "" }],
    ["other bytes", { payload: new Uint8Array([0xff]) }],
  ])("with %s and the same key are refused, while the first runs too", async (_, more) => {
    const { send, commands, done } = setUp();
    const inside = await commands.once({ entity: "order 1", key: "k", payload: "pay 5" }, () => send(more));
    expect(inside).toEqual({ ok: true, value: { answer: OTHER, isReplayed: false } });
    expect([await send(more), done]).toEqual([OTHER, []]);
  });

  it.each<[string, Partial<Command>]>([
    ["entity", { entity: "order 2" }],
    ["key", { key: "k2" }],
    ["caller", { caller: "ann" }],
  ])("of another %s are others", async (_, more) => {
    const { send, done } = setUp();
    expect([await send(), await send(more), await send(more)]).toEqual([
      answered("0", false),
      answered("1", false),
      answered("1", true),
    ]);
    expect(done).toEqual(["0", "1"]);
  });

  it("no caller and key spell another caller's", async () => {
    const { send, done } = setUp();
    await send({ caller: "ann" });
    await send({ key: '["ann","k"]', caller: "" });
    await send({ key: 'k"]', caller: 'ann","' });
    expect(done).toHaveLength(3);
  });

  it("are the same as text and as bytes", async () => {
    const { send } = setUp();
    await send({ payload: "é" });
    expect(await send({ payload: new TextEncoder().encode("é") })).toEqual(answered("0", true));
  });

  it("are refused while an attempt is at work, and one of twenty at once is done", async () => {
    const { commands, done } = setUp();
    const one = (name: number) =>
      commands.once({ entity: "order 1", key: "k", payload: "pay 5" }, async () => {
        done.push(`${name}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return name;
      });
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, at) => one(at)));
    expect([done.length, outcomes.filter(({ ok }) => ok).length]).toEqual([1, 1]);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array(19).fill(inProgress(1)));
  });

  it("that throw may be sent again, and are done then", async () => {
    const { send, commands } = setUp();
    const failing = commands.once({ entity: "order 1", key: "k", payload: "pay 5" }, () => {
      throw new Error("no money");
    });
    await expect(failing).rejects.toThrow("no money");
    expect(await send({ payload: "pay 6" })).toEqual(OTHER);
    expect([await send(), await send()]).toEqual([answered("0", false), answered("0", true)]);
  });

  it("whose attempt is dead are done again when its lease is over", async () => {
    const { store, send, pass } = setUp();
    // As a process leaves it that was killed.
    const held = await heldAfter(store, send);
    await store.update("order 1", "k", () => ({ ...held, attempt: "dead", leaseUntilMs: 1_001_000 }));
    expect(await send()).toEqual(inProgress(1));
    pass(999);
    expect(await send()).toEqual(inProgress(1));
    pass(1);
    expect([await send(), await send()]).toEqual([answered("1", false), answered("1", true)]);
  });

  it("of an attempt that outlives its lease answer as the next one did", async () => {
    const { send, commands, done, pass } = setUp();
    const slow = await commands.once({ entity: "order 1", key: "k", payload: "pay 5" }, async () => {
      pass(1_000);
      await send({}, "next");
      return { receipt: "slow" };
    });
    expect([slow, await send(), done]).toEqual([answered("next", false), answered("next", true), ["next"]]);
  });

  it("are new when their time has ended, and never before their attempt", async () => {
    const { send, pass } = setUp();
    await send();
    pass(9_999);
    expect(await send()).toEqual(answered("0", true));
    pass(1);
    expect(await send({ payload: "pay 6" })).toEqual(answered("1", false));
  });

  it("keep their answer in the transaction of the effect: a crash after it is no second effect", async () => {
    const { store, commands, send, done, pass } = setUp();
    const command = { entity: "order 1", key: "k", payload: "pay 5" };
    const crashed = commands.once(command, async (keep) => {
      done.push("effect");
      await store.update("order 1", "k", keep({ receipt: "kept" }));
      throw new Error("the process ended");
    });
    await expect(crashed).rejects.toThrow();
    pass(1_000);
    expect([await send(), done]).toEqual([answered("kept", true), ["effect"]]);
  });

  async function heldAfter(
    store: CommandStore<unknown>,
    send: () => Promise<unknown>,
  ): Promise<CommandRecord<unknown>> {
    await send();
    const held = await store.update("order 1", "k", (before) => before);
    if (held === undefined) throw new Error("nothing is kept");
    const { done: _, ...running } = held;
    return running;
  }
});

describe("a command in a request", () => {
  const requestOf = (headers: Record<string, string>, url = "/orders/1/pay", method = "POST") => ({
    method,
    url,
    headers,
  });
  const at = { entity: "order 1" };
  const payloadOf = (request: ReturnType<typeof requestOf>, body: string | Uint8Array = "{}") => {
    const command = commandOf(request, body, at);
    if (!command.ok || command.value === undefined) throw new Error("no command");
    return Buffer.from(command.value.payload).toString("latin1");
  };

  it("has its key in both spellings, and no other", () => {
    for (const key of ["a-1", '"a-1"']) {
      expect(commandOf(requestOf({ "idempotency-key": key }), "", at)).toMatchObject({ value: { key: "a-1", ...at } });
    }
    expect(commandOf(requestOf({}), "", at)).toEqual({ ok: true, value: undefined });
    for (const key of ["", "a, b", '"a', "a b", "x".repeat(256)]) {
      expect(commandOf(requestOf({ "idempotency-key": key }), "", at)).toMatchObject({ ok: false });
    }
  });

  it("is another by method, target, type and body", () => {
    const headers = { "idempotency-key": "k" };
    const all = [
      payloadOf(requestOf(headers)),
      payloadOf(requestOf(headers, "/orders/1/pay?x=1")),
      payloadOf(requestOf(headers, "/orders/1/pay", "PUT")),
      payloadOf(requestOf({ ...headers, "content-type": "text/plain" })),
      payloadOf(requestOf(headers), "[]"),
      payloadOf(requestOf(headers), new Uint8Array([0xe9])),
      payloadOf(requestOf(headers), "é"),
    ];
    expect(new Set(all).size).toBe(all.length);
    const fetched = new Request("http://eu.test/orders/1/pay", { method: "POST", headers });
    expect(commandOf(fetched, "{}", at)).toMatchObject({ value: { payload: expect.any(Uint8Array) } });
  });
});

it.each([
  [{ reason: "other-command" }, 422, "idempotency-key-mismatch", undefined],
  [{ reason: "in-progress", retryAfterSeconds: 3 }, 409, "idempotency-key-in-use", "3"],
  [{ reason: "idempotency-key-invalid" }, 400, "idempotency-key-invalid", undefined],
] as const)("%j is a problem as the gateway's own", (fault, status, slug, retryAfter) => {
  const refusal = refusalOf(fault);
  expect([refusal.status, refusal.fields["retry-after"]]).toEqual([status, retryAfter]);
  expect(JSON.parse(refusal.body)).toMatchObject({ type: `/-/problems/${slug}`, status });
});
