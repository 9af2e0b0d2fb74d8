import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { CALL_DEADLINES, controlPlane } from "../../../src/control-plane/client.ts";
import {
  REJECTIONS_RETAINED_MAX,
  REJECTIONS_RETAINED_MAX_EACH,
  RevisionStore,
} from "../../../src/control-plane/storage.ts";
import type { Env } from "../../../src/edge/env.ts";
import { sha256 } from "../../../src/edge/table/kv.ts";
import { POINTER_KEY } from "../../../src/formats/kv.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const { TABLE_KV, TABLE_TRUTH } = env as Env;
const lost: unknown[] = [];
const history = controlPlane(TABLE_TRUTH, (...refused) => lost.push(refused));
const stub = () => TABLE_TRUTH.get(TABLE_TRUTH.idFromName("table"));

const BYTES = new TextEncoder().encode(JSON.stringify(DECLARED_TABLE));
const request = (expectedRevision: number) => ({ expectedRevision, author: "ann", note: "" });

const inStorage = <Value>(use: (storage: DurableObjectStorage) => Value) =>
  runInDurableObject(stub(), (_, { storage }) => use(storage));

async function got<Value>(answer: Promise<{ ok: true; value: Value } | { ok: false; error: unknown }>) {
  const result = await answer;
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const revisions = () => got(history.revisions({ before: undefined, limit: 100 }));
const audit = () => got(history.audit({ before: undefined, limit: 100 }));

beforeEach(async () => {
  lost.length = 0;
  await reset();
});

describe("whom a canary served", () => {
  it.each([{ share: 2.5 }, { countries: ["KZ", "BR"] }, { entities: ["order"] }])(
    "stays in the history and in the audit, from its start to its end: %j",
    async (audience) => {
      await got(history.publish(request(0), BYTES));
      expect(await got(history.startCanary(request(1), BYTES, audience))).toMatchObject({ revision: 2, audience });
      await got(history.abort(request(2)));
      await got(history.startCanary(request(1), BYTES, audience));
      await got(history.promote(request(3)));
      await got(history.publish(request(4), BYTES));
      expect((await revisions()).map(({ revision, kind, audience }) => [revision, kind, audience])).toEqual([
        [5, "publish", undefined],
        [4, "promote", undefined],
        [3, "canary", audience],
        [2, "canary", audience],
        [1, "publish", undefined],
      ]);
      expect((await audit()).map(({ action, revision, audience }) => [action, revision, audience])).toEqual([
        ["publish", 5, undefined],
        ["promote", 4, audience],
        ["canary", 3, audience],
        ["abort", 2, audience],
        ["canary", 2, audience],
        ["publish", 1, undefined],
      ]);
    },
  );
});

/** As the first version of the code made them. */
const FORMER_SCHEMA = `
  DROP TABLE revisions; DROP TABLE audit;
  CREATE TABLE revisions (
    revision INTEGER PRIMARY KEY, digest TEXT NOT NULL, bytes INTEGER NOT NULL, author TEXT NOT NULL,
    time TEXT NOT NULL, note TEXT NOT NULL, kind TEXT NOT NULL, based_on INTEGER);
  CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, author TEXT NOT NULL, action TEXT NOT NULL,
    revision INTEGER, outcome TEXT NOT NULL, note TEXT NOT NULL);
`;

const TIME = "2026-11-21T12:00:00.000Z";

const DIGEST = await sha256(BYTES);

/** As that version writes. */
function formerWrites({ sql }: DurableObjectStorage, revision: number, kind: string): void {
  sql.exec("INSERT OR IGNORE INTO bodies (digest, part, octets) VALUES (?, 0, ?)", DIGEST, BYTES);
  sql.exec(
    "INSERT INTO revisions (revision, digest, bytes, author, time, note, kind, based_on) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    revision,
    DIGEST,
    1,
    "bob",
    TIME,
    "before",
    kind,
    revision - 1,
  );
  sql.exec(
    "INSERT INTO audit (time, author, action, revision, outcome, note) VALUES (?, ?, ?, ?, ?, ?)",
    TIME,
    "bob",
    kind,
    revision,
    "done",
    "before",
  );
}

const formerRevision = (revision: number, kind: string) => ({
  revision,
  digest: DIGEST,
  bytes: 1,
  author: "bob",
  time: TIME,
  note: "before",
  kind,
  basedOn: revision - 1,
  audience: undefined,
});

describe("a database of a former version", () => {
  beforeEach(() =>
    inStorage((storage) => {
      storage.sql.exec(FORMER_SCHEMA);
      formerWrites(storage, 1, "publish");
      formerWrites(storage, 2, "canary");
    }),
  );

  it("is read and gone on with, a canary that runs in it too", async () => {
    const audience = { share: 5 };
    await inStorage(({ sql }) => {
      const canary = { revision: 2, digest: DIGEST, audience };
      sql.exec("INSERT OR REPLACE INTO state (id, json) VALUES (0, ?)", JSON.stringify({ isBegun: true, canary }));
    });
    await evictDurableObject(stub());
    expect(await revisions()).toEqual([formerRevision(2, "canary"), formerRevision(1, "publish")]);
    await got(history.abort(request(2)));
    await got(history.startCanary(request(1), BYTES, { entities: ["order"] }));
    expect(await revisions()).toEqual([
      expect.objectContaining({ revision: 3, audience: { entities: ["order"] } }),
      formerRevision(2, "canary"),
      formerRevision(1, "publish"),
    ]);
    expect((await audit()).map(({ action, audience }) => [action, audience])).toEqual([
      ["canary", { entities: ["order"] }],
      ["abort", audience],
      ["canary", undefined],
      ["publish", undefined],
    ]);
  });

  it("is still one for the former version, which knows none of the new columns", async () => {
    await evictDurableObject(stub());
    await history.recordRejection({ author: "eve", action: "publish", outcome: "forbidden" });
    await inStorage((storage) => formerWrites(storage, 3, "publish"));
    const rows = await inStorage(({ sql }) => sql.exec("SELECT * FROM revisions ORDER BY revision").toArray());
    expect(rows.map(({ revision, based_on }) => [revision, based_on])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    // It hands on what it finds: nothing in it may look like a member of an answer, and be null.
    const entries = await inStorage(({ sql }) => sql.exec("SELECT * FROM audit").toArray());
    expect([...rows, ...entries].some((row) => "audience" in row || "times" in row || "pack" in row)).toBe(false);
    await evictDurableObject(stub());
    expect((await revisions())[0]).toEqual(formerRevision(3, "publish"));
    expect((await audit())[0]).toMatchObject({ id: 4, action: "publish", author: "bob", audience: undefined });
  });
});

describe("a state of a later version, with members and an audience that this one does not know", () => {
  const later = { revision: 2, digest: DIGEST, audience: { plan: "gold" }, since: TIME };
  const stateNow = () =>
    inStorage(({ sql }) => JSON.parse(sql.exec<{ json: string }>("SELECT json FROM state").one().json) as object);

  beforeEach(async () => {
    await got(history.publish(request(0), BYTES));
    await got(history.startCanary(request(1), BYTES, { share: 5 }));
    const state = await stateNow();
    await inStorage(({ sql }) =>
      sql.exec("UPDATE state SET json = ?", JSON.stringify({ ...state, gates: ["dark"], canary: later })),
    );
    await evictDurableObject(stub());
  });

  it("is read, and the canary can be seen and ended", async () => {
    expect(await got(history.status())).toMatchObject({ truth: { revision: 1 }, canary: { revision: 2 } });
    await got(history.abort(request(2)));
    expect(await got(history.status())).toMatchObject({ truth: { revision: 1 }, canary: undefined });
    expect((await audit())[0]).toMatchObject({ action: "abort", revision: 2, outcome: "done" });
  });

  it("is written back with all that it had, so that the later version finds it again", async () => {
    await got(history.publish(request(2), BYTES));
    expect(await stateNow()).toMatchObject({ gates: ["dark"], ownsKv: true });
  });
});

describe("refused tries", () => {
  const refused = (author: string, time: string, outcome = "forbidden") =>
    ({ time, author, action: "publish", revision: undefined, outcome, note: "" }) as const;
  const atMinute = (minute: number) => new Date(Date.parse(TIME) + minute * 60_000).toISOString();
  const perAuthor = () =>
    inStorage(({ sql }) =>
      sql
        .exec("SELECT author, outcome, COUNT(*) AS entries FROM audit GROUP BY author, outcome ORDER BY author")
        .toArray(),
    );

  it("that are alike are one entry a minute, with how often", async () => {
    const seconds = [0, 1, 59.999, 60, 61, 119, 180];
    await inStorage((storage) => {
      const rows = new RevisionStore(storage);
      for (const second of seconds)
        rows.note(refused("loop", new Date(Date.parse(TIME) + second * 1000).toISOString()));
      for (const other of [refused("loop", TIME, "stale-revision"), refused("other", TIME)]) rows.note(other);
    });
    const entries = await audit();
    expect(entries.toReversed().map(({ author, outcome, time, times }) => [author, outcome, time, times])).toEqual([
      ["loop", "forbidden", TIME, 3],
      ["loop", "forbidden", atMinute(1), 3],
      ["loop", "forbidden", atMinute(3), undefined],
      ["loop", "stale-revision", TIME, undefined],
      ["other", "forbidden", TIME, undefined],
    ]);
  });

  it("of one who never stops push out his own alone", async () => {
    await inStorage((storage) => {
      const rows = new RevisionStore(storage);
      rows.note({ ...refused("ann", TIME), outcome: "done", revision: 1 });
      rows.note(refused("ann", TIME));
      rows.note(refused("loop", TIME, "done"));
      for (let minute = 0; minute < REJECTIONS_RETAINED_MAX_EACH + 50; minute++)
        rows.note(refused("loop", atMinute(minute)));
    });
    expect(await perAuthor()).toEqual([
      { author: "ann", outcome: "done", entries: 1 },
      { author: "ann", outcome: "forbidden", entries: 1 },
      { author: "loop", outcome: "done", entries: 1 },
      { author: "loop", outcome: "forbidden", entries: REJECTIONS_RETAINED_MAX_EACH },
    ]);
    expect((await audit())[0]?.time).toBe(atMinute(REJECTIONS_RETAINED_MAX_EACH + 49));
  });

  it("have an end in all, whoever they are of, and what was done has none", async () => {
    const count = await inStorage((storage) => {
      const rows = new RevisionStore(storage);
      rows.note(refused("ann", TIME, "done"));
      storage.sql.exec(
        `INSERT INTO audit (time, author, action, outcome, note) WITH RECURSIVE numbers(n) AS
           (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?) SELECT ?, 'p' || n, 'publish', 'forbidden', '' FROM numbers`,
        REJECTIONS_RETAINED_MAX + 500,
        TIME,
      );
      rows.note(refused("bob", TIME));
      return storage.sql
        .exec("SELECT outcome, COUNT(*) AS entries FROM audit GROUP BY outcome ORDER BY outcome")
        .toArray();
    });
    expect(count).toEqual([
      { outcome: "done", entries: 1 },
      { outcome: "forbidden", entries: REJECTIONS_RETAINED_MAX },
    ]);
    expect((await audit())[0]).toMatchObject({ author: "bob" });
  });

  it("are told of while nobody can say what is in force, which is what refused them", async () => {
    await TABLE_KV.put(POINTER_KEY, "{");
    expect(await history.publish(request(0), BYTES)).toMatchObject({ error: { reason: "control-plane-unavailable" } });
    expect(await history.text()).toMatchObject({ error: { reason: "control-plane-unavailable" } });
    expect(await audit()).toMatchObject([{ author: "ann", action: "publish", outcome: "control-plane-unavailable" }]);
  });

  it("that a truth which cannot be asked never hears of are reported", async () => {
    const gone = { idFromName: TABLE_TRUTH.idFromName.bind(TABLE_TRUTH), get: () => ({}) };
    const refusal = { author: "eve", action: "abort", outcome: "forbidden" } as const;
    const asked = controlPlane(gone as unknown as typeof TABLE_TRUTH, (...one) => lost.push(one));
    expect(await asked.recordRejection(refusal)).toMatchObject({ error: { reason: "control-plane-unavailable" } });
    expect(lost).toEqual([[refusal, expect.any(String)]]);
  });
});

describe("an object that does not answer as it should", () => {
  const historyOn = (object: object) => {
    const namespace = { idFromName: TABLE_TRUTH.idFromName.bind(TABLE_TRUTH), get: () => object };
    return controlPlane(namespace as unknown as typeof TABLE_TRUTH, () => undefined, { ...CALL_DEADLINES, read: 50 });
  };
  const request = { expectedRevision: 0, author: "ann", note: "" };

  it("leaves open what became of a change, and of nothing else", async () => {
    const broken = historyOn({ publish: () => Promise.reject(new Error("gone")), abort: () => ({}) });
    expect(await broken.publish(request, BYTES)).toMatchObject({ error: { why: "gone", outcome: "unknown" } });
    expect(await broken.promote(request)).toMatchObject({ error: { outcome: "unknown" } });
    expect(await broken.text()).toMatchObject({ error: { outcome: undefined } });
  });

  it("has the time that a check of packs takes", async () => {
    const answer = { ok: true, value: { revision: 1 } };
    const late = () => new Promise((done) => setTimeout(done, 200, answer));
    const slow = historyOn({ publish: late, text: late });
    expect(await slow.publish(request, BYTES)).toEqual(answer);
    expect(await slow.text()).toMatchObject({ error: { why: "no answer within 50 ms" } });
    expect(CALL_DEADLINES).toMatchObject({ read: 5_000, check: 30_000 });
  });
});
