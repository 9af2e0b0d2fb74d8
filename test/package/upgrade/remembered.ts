import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { countersOf, type Pages as Gateway, historyOf, totalOf } from "./gateway.ts";
import { failingOnce } from "./world.ts";

/** Clients' memory of a gateway over its versions: all that it ever answered must stay true. */

const CANARY_IDS = 120;

/** An ID of the table's `moved`. */
export const MOVED = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";

const MINTS = [
  { entity: "order", country: "KZ", count: 5 },
  { entity: "invoice", country: "BR", count: 5 },
  { entity: "parcel", shardKey: 1500, count: 5 },
  { entity: "person", count: 20 },
  { entity: "ticket", fields: { datacenter: 0, worker: 0 }, count: 5 },
] as const;

interface Kept {
  readonly path: string;
  readonly status: number;
  readonly id: string | null;
  readonly location: string | null;
  readonly body: string;
}

const claimOf = (name: string) => ({ owner: `owner-of-${name}`, operation: `claim-of-${name}` });
const pathOf = (key: string): string => `/-/directory/slug/${key}`;
const primaryKeyOf = (luuid: string): number => Number.parseInt(luuid.slice(0, 13).replace("-", ""), 16);

const regionOf = async (gateway: Gateway, path: string): Promise<string> => {
  const answer = await gateway.ask("GET", path);
  await answer.arrayBuffer();
  return answer.headers.get("x-region") ?? String(answer.status);
};

async function directoryOf(gateway: Gateway, names: readonly string[]) {
  const keys = names.map(async (name) => {
    const answer = await gateway.ask("GET", pathOf(name));
    return [name, answer.status, answer.headers.get("etag"), await answer.json()];
  });
  const read = async (path: string) => JSON.parse(await gateway.read(`/-/directory/slug${path}`));
  let { at: _, ...counts } = await read("/-/counts");
  // A busy machine answers for some of the objects in time.
  while (counts.answered < counts.shards) ({ at: _, ...counts } = await read("/-/counts"));
  return {
    keys: await Promise.all(keys),
    rows: (await gateway.command("directory", "export", "slug")).trimEnd().split("\n").toSorted(),
    orphans: await read("?only=orphans"),
    counts,
    copy: await read("/-/copy"),
  };
}

/** `created`: all entities that origins have created. */
export function remember(created: readonly string[]) {
  const ids = new Map<string, string[]>(MINTS.map(({ entity }) => [entity, []]));
  const answers = new Map<string, Kept>();
  const names: string[] = [];
  let orders: readonly string[] = [];
  let paths: readonly string[] = [];
  let counters: ReadonlyMap<string, number> = new Map();
  let noted: Awaited<ReturnType<typeof seen>> | undefined;

  const firstOf = (entity: string): string => ids.get(entity)?.[0] ?? "";

  async function mint(gateway: Gateway, entity: (typeof MINTS)[number]["entity"], count?: number): Promise<void> {
    const order = MINTS.find((each) => each.entity === entity);
    const answer = await gateway.ask("POST", "/mint", count === undefined ? order : { ...order, count });
    if (answer.status !== 201) throw new Error(await answer.text());
    const made = (await answer.json()) as { readonly ids: readonly string[] };
    ids.get(entity)?.push(...made.ids);
  }

  async function send(gateway: Gateway, path: string, key: string, fields: object = {}) {
    const body = path === "/mint" ? { entity: "person", count: 3 } : { total: 42 };
    const json = { "content-type": "application/json", "idempotency-key": key, "x-country": "DE" };
    const { headers, status, ...answer } = await gateway
      .ask("POST", path, body, { ...json, ...fields })
      .then(async (response) => ({
        headers: response.headers,
        status: response.status,
        body: await response.text(),
      }));
    const id = headers.get("waybill-entity-id");
    const kept: Kept = { path, status, id, location: headers.get("location"), body: answer.body };
    return { kept, isReplayed: headers.get("idempotent-replayed") === "true" };
  }

  /** A create and a mint with idempotency keys. */
  async function sendWithKeys(gateway: Gateway, prefix: string): Promise<void> {
    for (const path of ["/orders", "/mint"]) {
      const key = `${prefix}-${path}`;
      const { kept, isReplayed } = await send(gateway, path, key);
      expect([kept.status, isReplayed], kept.body).toEqual([201, false]);
      answers.set(key, kept);
      if (path === "/mint") ids.get("person")?.push(...JSON.parse(kept.body).ids);
    }
  }

  async function retryAll(gateway: Gateway): Promise<void> {
    const before = created.length;
    for (const [key, answer] of answers) {
      const { kept, isReplayed } = await send(gateway, answer.path, key);
      expect(kept, key).toEqual(answer);
      // A mint is made again of what was written down.
      if (answer.path !== "/mint") expect(isReplayed, key).toBe(true);
    }
    expect(created.length, "creates at origins").toBe(before);
  }

  /** Keys that are reserved, confirmed, moved, and reported as those of no entity. */
  async function claimKeys(gateway: Gateway, prefix: string): Promise<void> {
    const steps = ["reserved", "confirmed", "moved", "missing"].map((state) => [state, `${prefix}-${state}`] as const);
    for (const [state, name] of steps) {
      names.push(name);
      await change(gateway, "PUT", name, { ...claimOf(name), region: "us", leaseSeconds: 3600 });
      if (state === "reserved") continue;
      const etag = await confirm(gateway, name);
      if (state === "moved") await change(gateway, "PUT", name, { region: "ap" }, { "if-match": etag });
      if (state === "missing") await change(gateway, "POST", name, { action: "missing" }, { "if-match": etag });
    }
  }

  async function change(gateway: Gateway, method: string, name: string, body: object, fields = {}): Promise<Response> {
    const answer = await gateway.ask(method, pathOf(name), body, fields);
    if (!answer.ok) throw new Error(`${method} ${name}: ${await answer.text()}`);
    return answer;
  }

  /** Gives its etag. */
  async function confirm(gateway: Gateway, name: string): Promise<string> {
    const answer = await change(gateway, "POST", name, { action: "confirm", ...claimOf(name) });
    return answer.headers.get("etag") ?? "";
  }

  async function seen(gateway: Gateway) {
    const regions: (readonly [string, string])[] = [];
    for (const path of paths) regions.push([path, await regionOf(gateway, path)]);
    return { ...(await historyOf(gateway)), directory: await directoryOf(gateway, names), regions };
  }

  return {
    send,
    confirm,

    /** No ID comes twice, and no number of a sequence. */
    async mintMore(gateway: Gateway): Promise<void> {
      for (const { entity } of MINTS) await mint(gateway, entity);
      for (const [entity, own] of ids) expect(new Set(own).size, entity).toBe(own.length);
      const numbers = ids.get("person")?.map(primaryKeyOf) ?? [];
      expect(new Set(numbers).size, "primary keys").toBe(numbers.length);
    },

    /** Chooses what is asked from now on: an ID of each kind, and keys that are known, moved and unknown. */
    async choosePaths(gateway: Gateway): Promise<void> {
      await mint(gateway, "order", CANARY_IDS);
      orders = ids.get("order")?.slice(-CANARY_IDS) ?? [];
      paths = [
        `/orders/${MOVED}`,
        `/invoices/${firstOf("invoice")}`,
        `/parcels/${firstOf("parcel")}`,
        `/person/${firstOf("person")}`,
        `/tickets/${firstOf("ticket")}`,
        ...["shop-1", "shop-2", `${names[0]}`, `${names[2]}`, "nobody"].map((key) => `/shops/${key}`),
      ];
    },

    /** More of everything that a gateway keeps. */
    async addAll(gateway: Gateway, prefix: string): Promise<void> {
      await this.mintMore(gateway);
      await sendWithKeys(gateway, prefix);
      await claimKeys(gateway, prefix);
    },

    /** A create whose origin fails: the key is open. Gives the ID that was chosen for it. */
    async failOnce(gateway: Gateway): Promise<string | null> {
      const { kept } = await send(gateway, "/orders", "fails", failingOnce);
      expect([kept.status, kept.id], kept.body).toEqual([503, expect.any(String)]);
      return kept.id;
    },

    /** Orders of which the canary decides. */
    async inCanary(gateway: Gateway): Promise<ReadonlySet<string>> {
      const own = new Set<string>();
      for (const id of orders) {
        const region = await regionOf(gateway, `/orders/${id}`);
        expect(["ap", "eu"]).toContain(region);
        if (region === "eu") own.add(id);
      }
      return own;
    },

    /** Keeps in mind what the next version must find. */
    async note(gateway: Gateway) {
      noted = await seen(gateway);
      return noted;
    },

    async expectNoted(gateway: Gateway) {
      const found = await seen(gateway);
      expect(found).toEqual(noted);
      await retryAll(gateway);
      return found;
    },

    /** No counter that was ever shown goes back. Waits until the requests of this run are counted. */
    async countersGoOn(gateway: Gateway): Promise<ReadonlyMap<string, number>> {
      const earlier = totalOf(counters, "waybill_requests_total");
      for (;;) {
        const now = await countersOf(gateway);
        // A version shows the metrics that it knows.
        const metrics = new Set([...now.keys()].map((series) => series.replace(/\{.*/, "")));
        for (const [series, value] of counters)
          if (metrics.has(series.replace(/\{.*/, ""))) expect(now.get(series), series).toBeGreaterThanOrEqual(value);
        if (totalOf(now, "waybill_requests_total") >= earlier + paths.length) {
          counters = new Map([...counters, ...now]);
          return counters;
        }
        await pause(200);
      }
    },

    /** How much of it there is. */
    figures: () => ({
      ids: [...ids.values()].flat().length,
      primaryKeys: ids.get("person")?.length,
      answers: answers.size,
      keys: names.length,
      series: counters.size,
      revisions: noted?.revisions.length,
      entries: noted?.entries.length,
    }),
  };
}
