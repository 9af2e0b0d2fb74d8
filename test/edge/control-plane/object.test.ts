import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { controlPlane } from "../../../src/control-plane/client.ts";
import { BODIES_RETAINED_MAX, RevisionStore } from "../../../src/control-plane/storage.ts";
import type { Env } from "../../../src/edge/env.ts";
import { sha256 } from "../../../src/edge/table/kv.ts";
import { packKey, pageKey } from "../../../src/features/packs/table/pack.ts";
import { bodyKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { RANGES, storePack } from "../pages/files.ts";

const { TABLE_KV, TABLE_TRUTH } = env as Env;
const history = controlPlane(TABLE_TRUTH, () => undefined);
const stub = () => TABLE_TRUTH.get(TABLE_TRUTH.idFromName("table"));

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Another table for each number: what it says of countries differs. */
const tableOf = (number: number) => ({
  ...DECLARED_TABLE,
  countries: { ...DECLARED_TABLE.countries, FR: 20 + number },
});

const publish = (expectedRevision: number, number = expectedRevision + 1, author = "ann") =>
  history.publish({ expectedRevision, author, note: `table ${number}` }, bytesOf(tableOf(number)));

async function putIntoKv(revision: number, declared: unknown): Promise<string> {
  const digest = await sha256(bytesOf(declared));
  await TABLE_KV.put(bodyKey(digest), bytesOf(declared));
  await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision, digest, publishedAt: "2026-11-21T00:00:00.000Z" }));
  return digest;
}

const pointer = () => TABLE_KV.get<{ revision: number; digest: string; change: number }>(POINTER_KEY, "json");

async function got<Value>(answer: Promise<{ ok: true; value: Value } | { ok: false; error: unknown }>) {
  const result = await answer;
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

/** Until the alarm has brought KV to a revision. */
const untilHeld = (revision: number) =>
  vi.waitFor(
    async () => {
      expect(await got(history.status())).toMatchObject({ isPending: false, lastError: undefined });
      expect(await pointer()).toMatchObject({ revision });
    },
    { timeout: 20_000, interval: 50 },
  );

beforeEach(() => reset());

describe("publishing", () => {
  it("makes revisions in a row, each with who, when and why, and brings KV to the last one", async () => {
    const first = await got(publish(0));
    expect(first).toMatchObject({ revision: 1, author: "ann", note: "table 1", kind: "publish", basedOn: 0 });
    expect(first.digest).toBe(await sha256(bytesOf(tableOf(1))));
    expect(first.bytes).toBe(bytesOf(tableOf(1)).byteLength);
    expect(Math.abs(Date.now() - Date.parse(first.time ?? ""))).toBeLessThan(10_000);
    await got(publish(1));
    await untilHeld(2);
    const held = await pointer();
    expect(await TABLE_KV.get(bodyKey(held?.digest ?? ""))).toBe(JSON.stringify(tableOf(2)));
    const text = await got(history.text());
    expect(new TextDecoder().decode(text.bytes)).toBe(JSON.stringify(tableOf(2)));
    expect((await got(history.text(1))).revision).toEqual(first);
  });

  it("begins with the table of the build, as revision 0", async () => {
    const { revision, bytes } = await got(history.text());
    expect(revision).toMatchObject({ revision: 0, kind: "bundled" });
    expect(JSON.parse(new TextDecoder().decode(bytes))).toHaveProperty("regions");
    expect(await pointer()).toBeNull();
  });

  it("is won by exactly one of 100 at once, round after round, without a gap", async () => {
    for (let round = 0; round < 3; round++) {
      const tries = await Promise.all(
        Array.from({ length: 100 }, (_, at) => publish(round, round * 100 + at, `p${at}`)),
      );
      const won = tries.filter((one) => one.ok);
      expect(won).toHaveLength(1);
      for (const one of tries) {
        if (one.ok) expect(one.value.revision).toBe(round + 1);
        else
          expect(one.error).toEqual({
            reason: "stale-revision",
            expected: round,
            current: round + 1,
            canary: undefined,
          });
      }
    }
    const revisions = await got(history.revisions({ before: undefined, limit: 50 }));
    expect(revisions.map(({ revision }) => revision)).toEqual([3, 2, 1]);
    await untilHeld(3);
    expect((await pointer())?.digest).toBe(revisions[0]?.digest);
  });

  it("refuses a table with faults, and keeps who tried", async () => {
    const refused = await history.publish({ expectedRevision: 0, author: "eve", note: "" }, bytesOf({ regions: {} }));
    expect(refused).toMatchObject({ ok: false, error: { reason: "invalid-table" } });
    const [entry] = await got(history.audit({ before: undefined, limit: 10 }));
    expect(entry).toMatchObject({ author: "eve", action: "publish", outcome: "invalid-table", revision: undefined });
    expect(await got(history.revisions({ before: undefined, limit: 10 }))).toEqual([]);
  });

  it("takes a text of several megabytes, in parts", async () => {
    const text = `${JSON.stringify(DECLARED_TABLE)}${" ".repeat(5 * 1024 * 1024)}`;
    await got(history.publish({ expectedRevision: 0, author: "ann", note: "" }, new TextEncoder().encode(text)));
    const { bytes } = await got(history.text(1));
    expect(await sha256(bytes)).toBe(await sha256(new TextEncoder().encode(text)));
    await untilHeld(1);
  });

  it("refuses a text that is too large before it reads it", async () => {
    const bytes = new Uint8Array(8 * 1024 * 1024 + 1);
    expect(await history.publish({ expectedRevision: 0, author: "ann", note: "" }, bytes)).toMatchObject({
      error: { reason: "invalid-table", faults: [{ kind: "size", pointer: "" }] },
    });
  });
});

describe("a table with packs", () => {
  it("is published when KV has all of each, verified, and not before", async () => {
    const pack = await storePack(TABLE_KV, RANGES);
    const routes = [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes];
    const bytes = bytesOf({ ...DECLARED_TABLE, packs: { shards: pack }, routes });
    const whole = await TABLE_KV.get(pageKey(pack.sha256, 0), "arrayBuffer");
    await TABLE_KV.delete(pageKey(pack.sha256, 0));
    const request = { expectedRevision: 0, author: "ann", note: "" };
    expect(await history.publish(request, bytes)).toMatchObject({
      error: { reason: "invalid-table", faults: [{ pointer: "/packs/shards", kind: "pack" }] },
    });
    await TABLE_KV.put(pageKey(pack.sha256, 0), whole ?? "");
    expect(await got(history.publish(request, bytes))).toMatchObject({ revision: 1 });
    await got(publish(1));
    await TABLE_KV.delete(packKey(pack.sha256));
    const back = await history.rollback({ ...request, expectedRevision: 2 }, 1);
    expect(back).toMatchObject({ error: { reason: "invalid-table", faults: [{ kind: "pack" }] } });
  });
});

describe("rolling back", () => {
  it("is a new revision with the old text, checked and compared like any other", async () => {
    await got(publish(0));
    await got(publish(1));
    const request = { expectedRevision: 2, author: "bob", note: "back" };
    expect(await history.rollback({ ...request, expectedRevision: 1 }, 1)).toMatchObject({
      error: { reason: "stale-revision" },
    });
    expect(await history.rollback(request, 7)).toMatchObject({ error: { reason: "unknown-revision", revision: 7 } });
    expect(await got(history.rollback(request, 1))).toMatchObject({ revision: 3, kind: "rollback", basedOn: 1 });
    await untilHeld(3);
    expect((await pointer())?.digest).toBe(await sha256(bytesOf(tableOf(1))));
    const audit = await got(history.audit({ before: undefined, limit: 10 }));
    expect(audit.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      "rollback done",
      "rollback unknown-revision",
      "rollback stale-revision",
      "publish done",
      "publish done",
    ]);
  });
});

const abortedCanary = async () => {
  await got(publish(0));
  const request = { expectedRevision: 1, author: "ann", note: "" };
  await got(history.startCanary(request, bytesOf(tableOf(2)), { share: 1 }));
  await got(history.abort({ ...request, expectedRevision: 2 }));
  await untilHeld(1);
};

/** As a version had it that let others write KV: the object never owned it. */
const asFormerState = async (changes: object = {}) => {
  await runInDurableObject(stub(), (_, { storage }) => {
    const rows = new RevisionStore(storage);
    const { ownsKv: _owns, ...former } = rows.state();
    rows.save({ ...former, ...changes });
  });
  await evictDurableObject(stub());
};

describe("a table that a former version left in KV", () => {
  it("is adopted at the first use, and the next revision comes after it", async () => {
    const digest = await putIntoKv(41, DECLARED_TABLE);
    expect((await got(history.text())).revision).toMatchObject({ revision: 41, digest, kind: "import", author: "kv" });
    expect(await publish(0)).toMatchObject({ error: { reason: "stale-revision", current: 41 } });
    expect(await got(publish(41))).toMatchObject({ revision: 42 });
    await untilHeld(42);
  });

  it("is adopted by a history that is behind it, with the numbers that are missing", async () => {
    await got(publish(0));
    await untilHeld(1);
    await asFormerState({ isBegun: true });
    const digest = await putIntoKv(7, tableOf(7));
    const note =
      "Found in KV, where a former version had put it. Revisions 2 to 6, used in KV before, never reached this history.";
    expect((await got(history.text())).revision).toMatchObject({ revision: 7, digest, kind: "import", note });
    await untilHeld(7);
    expect((await pointer())?.digest).toBe(digest);
  });

  it.each([
    ["another text", 3],
    ["the canary's own text", 2],
  ])("is adopted under the next number, where a canary that is over had its number: %s", async (_, number) => {
    await abortedCanary();
    await asFormerState();
    const digest = await putIntoKv(2, tableOf(number));
    expect((await got(history.text())).revision).toMatchObject({ revision: 3, digest, kind: "import" });
    await untilHeld(3);
    expect((await pointer())?.digest).toBe(digest);
    expect(await got(publish(3))).toMatchObject({ revision: 4 });
  });

  it("is adopted before a step that the former version left would overwrite it", async () => {
    await got(publish(0));
    await untilHeld(1);
    const { publication } = await runInDurableObject(stub(), (_, { storage }) => new RevisionStore(storage).state());
    await asFormerState({ publication: { ...publication, isPut: false, isHeld: false, over: 0 } });
    const digest = await putIntoKv(7, tableOf(7));
    await runInDurableObject(stub(), (_, { storage }) => storage.setAlarm(Date.now()));
    await untilHeld(7);
    expect((await pointer())?.digest).toBe(digest);
  });

  it("is the history's own, where that wrote it", async () => {
    await got(publish(0));
    await untilHeld(1);
    await asFormerState({ isBegun: true });
    expect((await got(history.text())).revision).toMatchObject({ revision: 1, kind: "publish" });
    expect(await got(history.revisions({ before: undefined, limit: 10 }))).toHaveLength(1);
  });

  it("is not adopted if it is broken: the history's table gets a number that isolates take", async () => {
    await got(publish(0));
    await untilHeld(1);
    await asFormerState();
    await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: 41, digest: "0".repeat(64) }));
    expect((await got(history.text())).revision).toMatchObject({ revision: 42, kind: "rollback", basedOn: 1 });
    await untilHeld(42);
    expect((await pointer())?.digest).toBe(await sha256(bytesOf(tableOf(1))));
  });

  it("is not adopted if it is broken, where there is no history: the table of the build is in force", async () => {
    await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: 41, digest: "0".repeat(64) }));
    expect((await got(history.text())).revision).toMatchObject({ revision: 42, kind: "rollback", basedOn: 0 });
    await untilHeld(42);
    const [, skipped] = await got(history.audit({ before: undefined, limit: 10 }));
    const note = "Revisions 1 to 41, used in KV before, never reached this history.";
    expect(skipped).toMatchObject({ action: "import", author: "kv", outcome: "done", note });
  });

  it("may have the last number: then nothing comes after it, unless it is broken", async () => {
    const last = 999_999_999_999_999;
    await putIntoKv(last, tableOf(7));
    expect((await got(history.text())).revision.revision).toBe(last);
    expect(await publish(last)).toMatchObject({ error: { reason: "control-plane-unavailable" } });
    await reset();
    await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: last, digest: "0".repeat(64) }));
    expect(await got(publish(0))).toMatchObject({ revision: 1 });
    await untilHeld(1);
  });
});

describe("a pointer that another wrote into KV", () => {
  it.each([
    ["a higher number", { revision: 50, change: 0 }, 51],
    ["a higher number without a text", { revision: 50, change: 0, digest: "0".repeat(64) }, 51],
    ["the same number, and a later change", { revision: 1, change: 9 }, 1],
    ["the highest number", { revision: 999_999_999_999_999, change: 0 }, 1],
  ])("is overwritten, and isolates that took it take the table of the history: %s", async (_, stray, number) => {
    await got(publish(0));
    await untilHeld(1);
    const digest = await putIntoKv(1, tableOf(7));
    await TABLE_KV.put(POINTER_KEY, JSON.stringify({ digest, ...stray }));
    expect((await got(history.text())).revision).toMatchObject({ revision: number });
    await untilHeld(number);
    expect((await pointer())?.digest).toBe(await sha256(bytesOf(tableOf(1))));
    expect((await pointer())?.change).toBeGreaterThan(stray.change);
    const audit = await got(history.audit({ before: undefined, limit: 10 }));
    const repeated = { action: "rollback", author: "kv", note: "KV had revision 50, not of this history." };
    expect(audit.filter(({ action }) => action === "rollback")).toMatchObject(number === 51 ? [repeated] : []);
    expect(await got(publish(number))).toMatchObject({ revision: number + 1 });
  });

  it("is overwritten by the table of the build, where nothing is published", async () => {
    expect((await got(history.text())).revision.revision).toBe(0);
    await TABLE_KV.put(
      POINTER_KEY,
      JSON.stringify({ revision: 999_999_999_999_999, digest: "0".repeat(64), change: 3 }),
    );
    expect((await got(history.text())).revision).toMatchObject({ revision: 1, kind: "rollback", basedOn: 0 });
    await untilHeld(1);
  });

  it("is overwritten under a lower number", async () => {
    for (const revision of [0, 1, 2]) await got(publish(revision));
    await untilHeld(3);
    await putIntoKv(2, tableOf(7));
    await untilHeld(3);
    expect((await pointer())?.digest).toBe(await sha256(bytesOf(tableOf(3))));
  });

  it("is overwritten under the number of a canary that is over", async () => {
    await abortedCanary();
    await putIntoKv(2, tableOf(3));
    expect((await got(history.text())).revision).toMatchObject({ revision: 3, kind: "rollback", basedOn: 1 });
    await untilHeld(3);
  });

  it("is not guessed at, where its pointer makes no sense", async () => {
    await TABLE_KV.put(POINTER_KEY, "{");
    expect(await publish(0)).toMatchObject({ error: { reason: "control-plane-unavailable" } });
  });

  it("is put back where somebody emptied it", async () => {
    await got(publish(0));
    await untilHeld(1);
    await TABLE_KV.delete(POINTER_KEY);
    await untilHeld(1);
  });
});

describe("the object", () => {
  it("that ends between the rows and KV goes on where it was", async () => {
    await got(publish(0));
    await evictDurableObject(stub());
    await untilHeld(1);
    await got(publish(1));
    await evictDurableObject(stub());
    expect((await got(history.text())).revision.revision).toBe(2);
    await untilHeld(2);
  });

  it("keeps all revisions and the texts of the last thousand", async () => {
    await got(publish(0));
    await untilHeld(1);
    await runInDurableObject(stub(), (_, { storage }) => {
      const rows = new RevisionStore(storage);
      for (let revision = 2; revision <= BODIES_RETAINED_MAX + 3; revision++) {
        const text = bytesOf(revision);
        const known = {
          bytes: text.byteLength,
          author: "ann",
          time: "",
          note: "",
          kind: "publish",
          basedOn: 0,
        } as const;
        rows.add({ revision, digest: `${revision}`, ...known }, text);
      }
    });
    expect(await history.text(3)).toMatchObject({ error: { reason: "unknown-revision" } });
    expect((await got(history.text(4))).bytes).toEqual(bytesOf(4));
    const revisions = await got(history.revisions({ before: 3, limit: 50 }));
    expect(revisions.map(({ revision }) => revision)).toEqual([2, 1]);
  });
});
