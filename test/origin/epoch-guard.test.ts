import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { createEpochGuard, type EpochGuard, type EpochStore, memoryEpochStore } from "../../src/origin/index.ts";

/** A store that serializes its records, as a real origin's does. */
function databaseStore(): EpochStore {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE moves (id TEXT PRIMARY KEY, record TEXT NOT NULL)");
  return {
    async update(id, step) {
      await Promise.resolve();
      const row = database.prepare("SELECT record FROM moves WHERE id = ?").get(id);
      const held = row && JSON.parse(String(row["record"]));
      const next = step(held);
      if (next !== held) database.prepare("INSERT OR REPLACE INTO moves VALUES (?, ?)").run(id, JSON.stringify(next));
      return next;
    },
  };
}

const FENCED = (upTo: number) => ({ reason: "fenced", upTo });
const DISOWNED = { reason: "disowned", region: "us" };
const PASSED = (known: number) => ({ ok: false, error: { reason: "epoch-passed", known } });

describe.each([
  ["in memory", memoryEpochStore],
  ["in a database", databaseStore],
])("a guard that keeps its records %s", (_, makeStore) => {
  const make = () => createEpochGuard(makeStore());
  const write = async (guard: EpochGuard, epoch: number, id = "a") => outcome(await guard.admit(id, epoch, true));
  const read = async (guard: EpochGuard, epoch: number, id = "a") => outcome(await guard.admit(id, epoch, false));
  const outcome = (admitted: Awaited<ReturnType<EpochGuard["admit"]>>) => (admitted.ok ? "admitted" : admitted.error);

  it("admits every request for an entity without a fence, whatever the epoch", async () => {
    const guard = make();
    for (const epoch of [0, 2, 1, 0]) expect(await write(guard, epoch)).toBe("admitted");
  });

  it("fences writes up to an epoch, and that entity's alone", async () => {
    const guard = make();
    expect(await guard.fence("a", 2)).toEqual({ ok: true });
    expect([await write(guard, 0), await write(guard, 1), await write(guard, 2)]).toEqual(Array(3).fill(FENCED(2)));
    expect([await read(guard, 0), await read(guard, 2)]).toEqual(["admitted", "admitted"]);
    expect(await write(guard, 0, "b")).toBe("admitted");
  });

  it("ends a fence at a request of a later table, and for older ones too", async () => {
    const guard = make();
    await guard.fence("a", 2);
    expect(await read(guard, 3)).toBe("admitted");
    expect([await write(guard, 3), await write(guard, 1)]).toEqual(["admitted", "admitted"]);
  });

  it("fences when requests of the fence's own table came first", async () => {
    const guard = make();
    await read(guard, 2);
    expect(await guard.fence("a", 2)).toEqual({ ok: true });
    expect(await write(guard, 2)).toEqual(FENCED(2));
  });

  it("takes an entity without its writes, and opens it", async () => {
    const guard = make();
    await guard.take("a", 2);
    expect([await write(guard, 2), await read(guard, 0)]).toEqual([FENCED(2), "admitted"]);
    await guard.open("a", 3);
    expect([await write(guard, 0), await write(guard, 3)]).toEqual(["admitted", "admitted"]);
  });

  it("sends everyone to the region that an entity left for, until it is taken again", async () => {
    const guard = make();
    await guard.leave("a", 3, "us");
    expect([await write(guard, 0), await read(guard, 3), await write(guard, 9)]).toEqual([
      DISOWNED,
      DISOWNED,
      DISOWNED,
    ]);
    await guard.take("a", 5);
    expect([await read(guard, 5), await write(guard, 5), await write(guard, 6)]).toEqual([
      "admitted",
      FENCED(5),
      "admitted",
    ]);
  });

  it("refuses what an operator says too late, and says what it knows", async () => {
    const guard = make();
    await write(guard, 4);
    expect(await guard.fence("a", 3)).toEqual(PASSED(4));
    expect(await guard.take("a", 3)).toEqual(PASSED(4));
    expect(await guard.leave("a", 3, "us")).toEqual(PASSED(4));
    await guard.fence("a", 5);
    expect(await guard.open("a", 4)).toEqual(PASSED(5));
    expect(await write(guard, 4)).toEqual(FENCED(5));
  });

  it("may be told the same again", async () => {
    const guard = make();
    for (const _ of [1, 2]) expect(await guard.fence("a", 2)).toEqual({ ok: true });
    for (const _ of [1, 2]) expect(await guard.leave("a", 3, "us")).toEqual({ ok: true });
    expect(await write(guard, 2)).toEqual(DISOWNED);
  });
});
