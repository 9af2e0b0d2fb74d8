import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createEpochGuard, type EpochRecord, type EpochStore, memoryEpochStore } from "../../src/origin/index.ts";

/** The statements of docs/origins.md, in their order: table, raise, read, settle. */
function documentedStore(): EpochStore {
  const page = readFileSync(fileURLToPath(new URL("../../docs/origins.md", import.meta.url)), "utf8");
  const [, sql = ""] = /```sql\n(.*?)```/s.exec(page) ?? [];
  const statements = sql
    .replace(/^--.*$/gm, "")
    .replaceAll("$", "?")
    .split(";");
  const [table = "", raise = "", read = "", settle = ""] = statements;
  const database = new DatabaseSync(":memory:");
  database.exec(table);
  return {
    raise(id, epoch) {
      if (epoch > 0) database.prepare(raise).run(id, epoch);
      const row = database.prepare(read).get(id);
      return row === undefined ? undefined : (JSON.parse(JSON.stringify(row)) as EpochRecord);
    },
    settle(id, record) {
      const region = record.state === "elsewhere" ? record.region : null;
      database.prepare(settle).run(id, record.epoch, record.state, region);
    },
  };
}

describe.each([
  ["in memory", memoryEpochStore],
  ["by the documented statements", documentedStore],
])("the guard %s", (_, makeStore) => {
  const make = () => {
    const guard = createEpochGuard(makeStore());
    const outcome = async (epoch: number, id = "a") => {
      const admitted = await guard.admit(id, epoch);
      return admitted.ok ? "admitted" : admitted.error;
    };
    return { guard, outcome };
  };

  it("admits whoever asks for an entity that never moved", async () => {
    const { outcome } = make();
    expect([await outcome(0), await outcome(0)]).toEqual(["admitted", "admitted"]);
  });

  it("refuses a lower epoch than it has seen, for that entity alone", async () => {
    const { outcome } = make();
    expect(await outcome(2)).toBe("admitted");
    expect(await outcome(1)).toEqual({ reason: "stale-epoch", seen: 2 });
    expect(await outcome(0)).toEqual({ reason: "stale-epoch", seen: 2 });
    expect(await outcome(2)).toBe("admitted");
    expect(await outcome(3)).toBe("admitted");
    expect(await outcome(0, "b")).toBe("admitted");
  });

  it("sends on what it has disowned, until the entity comes back with a higher epoch", async () => {
    const { guard, outcome } = make();
    await guard.disown("a", 3, "us");
    const disowned = { reason: "disowned", region: "us" };
    expect([await outcome(0), await outcome(2), await outcome(3)]).toEqual([disowned, disowned, disowned]);
    expect(await outcome(6)).toBe("admitted");
    expect(await outcome(3)).toEqual({ reason: "stale-epoch", seen: 6 });
  });

  it("disowns what it has seen with the same epoch, and not what has come back since", async () => {
    const { guard, outcome } = make();
    expect(await outcome(3)).toBe("admitted");
    await guard.disown("a", 3, "us");
    expect(await outcome(3)).toEqual({ reason: "disowned", region: "us" });
    expect(await outcome(6)).toBe("admitted");
    await guard.disown("a", 4, "us");
    expect(await outcome(6)).toBe("admitted");
  });

  it("takes all requests for what it has adopted, until the next move begins", async () => {
    const { guard, outcome } = make();
    await guard.adopt("a", 3);
    expect([await outcome(0), await outcome(3)]).toEqual(["admitted", "admitted"]);
    expect(await outcome(4)).toBe("admitted");
    expect(await outcome(3)).toEqual({ reason: "stale-epoch", seen: 4 });
  });
});
