import { evictDurableObject, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { controlPlane } from "../../../src/control-plane/client.ts";
import type { Env } from "../../../src/edge/env.ts";
import { EVENTS_MAX } from "../../../src/edge/events/event-store.ts";
import { tellOfNews } from "../../../src/edge/events/tell.ts";
import { seriesKey } from "../../../src/edge/metrics/catalogue.ts";
import { durableMetrics, type OriginUpdate } from "../../../src/edge/metrics/store.ts";
import type { ControlPlaneApi } from "../../../src/ports/admin.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

/** The log of the object, with its disk and its alarm, and the control plane beside it. */

const { TRAFFIC, TABLE_TRUTH } = env as Env;
const store = durableMetrics(TRAFFIC);
const stub = () => TRAFFIC.get(TRAFFIC.idFromName("all"));
const truth = (): ControlPlaneApi => controlPlane(TABLE_TRUTH, () => undefined);

const tableOf = (note: string) => {
  const us = { origins: [{ url: `http://us.test/${note.replaceAll(" ", "-")}` }] };
  const declared = { ...DECLARED_TABLE, regions: { ...DECLARED_TABLE.regions, us } };
  return new TextEncoder().encode(JSON.stringify(declared));
};

async function publish(note: string, how: "publish" | "canary" = "publish") {
  const status = await truth().status();
  if (!status.ok) throw new Error(status.error.reason);
  const { truth: current, canary } = status.value;
  const change = { expectedRevision: canary?.revision ?? current.revision, author: "jane", note };
  const made =
    how === "publish"
      ? await truth().publish(change, tableOf(note))
      : await truth().startCanary(change, tableOf(note), { share: 5 });
  if (!made.ok) throw new Error(JSON.stringify(made.error));
  // Writes it to KV.
  await runDurableObjectAlarm(TABLE_TRUTH.get(TABLE_TRUTH.idFromName("table")));
  return made.value.revision;
}

const WAITS = { timeout: 10_000, interval: 200 };

const alarm = () => runDurableObjectAlarm(stub());
const words = async () => (await store.events({ limit: 100 })).events.map((event) => event.words);
const types = async () => (await store.events({ limit: 100 })).events.map(({ type }) => type);

const news = (url: string, origin: Partial<OriginUpdate>) =>
  store.report({
    sums: new Map([[seriesKey("requests_total", "order", "eu", "2xx"), 1]]),
    origins: [{ url, answeredAtMs: undefined, fault: undefined, breaker: undefined, ...origin }],
  });

beforeEach(() => reset());

describe("changes of the table", () => {
  it("are events once, whoever tells of them how often, and after a restart", async () => {
    await store.events({ limit: 1 });
    const first = await publish("first");
    await publish("second");
    for (let at = 0; at < 3; at++) {
      await tellOfNews({ TRAFFIC });
      await alarm();
    }
    await evictDurableObject(stub());
    await tellOfNews({ TRAFFIC });
    await alarm();
    expect(await words()).toEqual([
      `jane published revision ${first + 1}: second`,
      `jane published revision ${first}: first`,
    ]);
  });

  it("are begun, changed, promoted and ended canaries, and rollbacks", async () => {
    await store.events({ limit: 1 });
    const first = await publish("first");
    const canary = await publish("try it", "canary");
    const changed = await publish("try again", "canary");
    const request = (expectedRevision: number, note: string) => ({ expectedRevision, author: "joe", note });
    const promoted = await truth().promote(request(changed, ""));
    const promotedAs = promoted.ok ? promoted.value.revision : 0;
    const again = await publish("once more", "canary");
    await truth().abort(request(again, "too slow"));
    await truth().rollback(request(promotedAs, "all back"), first);
    const last = await publish("with", "canary");
    const ending = await publish("over it");
    await tellOfNews({ TRAFFIC });
    await alarm();
    const { events } = await store.events({ limit: 100 });
    expect(events.map((event) => event.words).toReversed()).toEqual([
      `jane published revision ${first}: first`,
      `jane began canary ${canary} for 5 % of the IDs: try it`,
      `jane changed the canary from ${canary} to ${changed} for 5 % of the IDs: try again`,
      `joe promoted canary ${changed}: revision ${promotedAs} is in force for all.`,
      `jane began canary ${again} for 5 % of the IDs: once more`,
      `joe aborted canary ${again}: too slow`,
      `joe rolled back to revision ${first}, as revision ${again + 1}: all back`,
      `jane began canary ${last} for 5 % of the IDs: with`,
      `jane published revision ${ending}, which ended canary ${last}: over it`,
    ]);
    expect(events.find(({ type }) => type === "canary.aborted")).toMatchObject({
      kind: "canary",
      revision: again,
      isOver: true,
      evidence: { author: "joe", note: "too slow", audience: "5 % of the IDs" },
    });
    expect(events.find(({ type }) => type === "publication.rolled-back")).toMatchObject({
      kind: "publication",
      revision: again + 1,
      evidence: { basedOn: first },
    });
  });

  it("from before the log are none, and refused ones neither", async () => {
    const before = await publish("long ago");
    await runInDurableObject(TABLE_TRUTH.get(TABLE_TRUTH.idFromName("table")), (_, { storage }) => {
      storage.sql.exec("UPDATE audit SET time = '2020-01-01T00:00:00.000Z'");
    });
    await store.events({ limit: 1 });
    await truth().rollback({ expectedRevision: before + 7, author: "joe", note: "" }, before);
    await publish("now");
    await tellOfNews({ TRAFFIC });
    await alarm();
    expect(await words()).toEqual([`jane published revision ${before + 1}: now`]);
  });

  it("are found with the table where nobody told of them", async () => {
    await store.events({ limit: 1 });
    const revision = await publish("quietly");
    await news("http://eu.test", { answeredAtMs: Date.now() });
    // The first alarm loads the table, and asks what it came by.
    await vi.waitFor(async () => {
      await alarm();
      expect(await words()).toEqual([`jane published revision ${revision}: quietly`]);
    }, WAITS);
  });
});

describe("regions", () => {
  const opened = () => ({ atMs: Date.now(), untilMs: Date.now() + 60_000 });

  it("are down once for all isolates, and since then, also when the object begins anew", async () => {
    await publish("a table");
    await store.events({ limit: 1 });
    await alarm();
    const downs = async () => (await types()).filter((type) => type === "region.down");
    await vi.waitFor(async () => {
      for (let isolate = 0; isolate < 3; isolate++) await news("http://eu.test", { breaker: opened() });
      await alarm();
      expect(await downs()).toHaveLength(1);
    }, WAITS);
    const { states } = await store.totals();
    const eu = states?.get("eu");
    expect(eu).toMatchObject({ state: "down" });
    await evictDurableObject(stub());
    await vi.waitFor(async () => {
      await news("http://eu.test", { breaker: opened() });
      await alarm();
      // It has judged again.
      expect((await store.totals()).states?.get("eu")).toEqual(eu);
    }, WAITS);
    expect(await downs()).toHaveLength(1);
  });

  it("are judged while somebody looks or asks, and by no alarm without an end", async () => {
    await publish("a table");
    await news("http://eu.test", { answeredAtMs: Date.now() });
    await alarm();
    const at = await runInDurableObject(stub(), (_, { storage }) => storage.getAlarm());
    expect(at).toBeLessThanOrEqual(Date.now() + 60_000);
  });
});

describe("the log", () => {
  it("has pages, its last thousand events, and says that it was not asked", async () => {
    await store.events({ limit: 1 });
    await runInDurableObject(stub(), (_, { storage }) => {
      for (let at = 0; at < EVENTS_MAX + 20; at++) {
        const event = JSON.stringify({ kind: "origin", type: "origin.down", words: `number ${at}`, evidence: {} });
        storage.sql.exec("INSERT INTO events (ms, event) VALUES (?, ?)", Date.now() - 1_000 * at, event);
      }
      storage.sql.exec("UPDATE events SET ms = ? WHERE id = 1015", Date.now() - 31 * 86_400_000);
    });
    await evictDurableObject(stub());
    const first = await store.events({ limit: 3 });
    expect(first.events.map(({ id }) => id)).toEqual([1020, 1019, 1018]);
    // The one of a month ago is left out.
    expect((await store.events({ before: 1018, limit: 3 })).events.map(({ id }) => id)).toEqual([1017, 1016, 1014]);
    await publish("one more");
    await tellOfNews({ TRAFFIC });
    await alarm();
    expect(
      await runInDurableObject(stub(), (_, { storage }) => storage.sql.exec("SELECT id FROM events").toArray()),
    ).toHaveLength(EVENTS_MAX - 1);
    expect((await store.history("hour")).lastEvent).toBe(1021);
  });
});
