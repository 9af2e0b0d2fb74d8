import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it, vi } from "vitest";
import { controlPlane } from "../../../src/control-plane/client.ts";
import type { Env } from "../../../src/edge/env.ts";
import { durableMetrics } from "../../../src/edge/metrics/store.ts";
import { type EdgeCache, movedMemory } from "../../../src/edge/origins/moved-memory.ts";
import { edgeTableCache } from "../../../src/edge/table/edge-cache.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { durableIdempotency } from "../../../src/features/idempotency/edge/keys.ts";
import { isolateMinters } from "../../../src/features/mint/edge/minters.ts";
import { durableSequences } from "../../../src/features/mint/edge/sequences.ts";
import { makePack, RANGES } from "../../edge/pages/files.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { setUp } from "../../routes/harness.ts";
import { sections, shapeOf } from "../shape.ts";

const { DIRECTORY, IDEMPOTENCY, TABLE_KV, TABLE_TRUTH, TRAFFIC, SEQUENCES } = env as Env;

const withoutDigests = (text: string): string => text.replace(/[0-9a-f]{64}/g, "<digest>");

/** The namespace, and the names of the objects that it was asked for. */
const namesAsked = <Namespace extends DurableObjectNamespace>(namespace: Namespace) => {
  const names: string[] = [];
  const idFromName = (name: string) => {
    names.push(name);
    return namespace.idFromName(name);
  };
  const proxy = new Proxy(namespace, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      return member === "idFromName" ? idFromName : typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { names, proxy };
};

/** The schema of the object's database, as SQLite itself says. */
const schemaOf = (namespace: DurableObjectNamespace, name: string): Promise<string[]> =>
  runInDurableObject(namespace.get(namespace.idFromName(name)), (_, { storage }) =>
    storage.sql
      .exec<{ sql: string }>(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE '\\_cf%' ESCAPE '\\' ORDER BY name",
      )
      .toArray()
      .map(({ sql }) => sql.replace(/\s+/g, " ")),
  );

/** Notes what is put into it, and holds nothing. */
const notedCache = () => {
  const puts: string[] = [];
  const cache: Pick<EdgeCache, "match" | "put" | "delete"> = {
    match: async () => undefined,
    put: async (url, response) => {
      const headers = [...response.headers].filter(([name]) => name !== "content-type");
      puts.push(`${withoutDigests(String(url))}  ${headers.map(([name, value]) => `${name}: ${value}`).join("; ")}`);
    },
    delete: async () => false,
  };
  return { puts, cache: cache as EdgeCache };
};

beforeEach(() => reset());

it("keeps the keys of KV, the objects' names and their databases", async () => {
  const table = namesAsked(TABLE_TRUTH as unknown as DurableObjectNamespace);
  const traffic = namesAsked(TRAFFIC as unknown as DurableObjectNamespace);
  const sequences = namesAsked(SEQUENCES as unknown as DurableObjectNamespace);
  const idempotency = namesAsked(IDEMPOTENCY as unknown as DurableObjectNamespace);
  const directory = namesAsked(DIRECTORY as unknown as DurableObjectNamespace);
  const history = controlPlane(table.proxy as never, () => undefined);
  const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const pack = await makePack(RANGES);
  const upload = { sha256: pack.sha256, author: "ann" };
  await history.putPackPart({ ...upload, part: "header" }, pack.header);
  for (const [part, page] of pack.pages.entries()) await history.putPackPart({ ...upload, part }, page);
  await history.publish({ expectedRevision: 0, author: "ann", note: "" }, bytesOf(DECLARED_TABLE));
  const next = { ...DECLARED_TABLE, routes: [{ when: {}, region: "us" }] };
  await history.startCanary({ expectedRevision: 1, author: "ann", note: "" }, bytesOf(next), { share: 5 });
  await vi.waitFor(async () => expect(await history.status()).toMatchObject({ value: { isPending: false } }), 20_000);
  await durableMetrics(traffic.proxy as never).totals();
  await durableIdempotency(idempotency.proxy as never).show("8e03978e-40d5-43dd-bc93-6894a57f9324");
  await durableDirectory(directory.proxy as never).get({ directory: "slug", key: "ann" });
  const minted = setUp({ gateway: { minters: isolateMinters(mintersOver(sequences.proxy)) } });
  await minted.request("/mint", { method: "POST", body: JSON.stringify({ entity: "person" }) });
  const keys = (await TABLE_KV.list()).keys.map(({ name }) => withoutDigests(name));
  const [state] = await stateOf();
  const snapshot = {
    "KV keys": [...new Set(keys)].toSorted(),
    "KV table.current": shapeOf([await TABLE_KV.get("table.current", "json")]),
    Objects: [
      ...namesOf("TABLE_TRUTH", table.names),
      ...namesOf("TRAFFIC", traffic.names),
      ...namesOf("SEQUENCES", sequences.names),
      ...namesOf("IDEMPOTENCY", idempotency.names),
      ...namesOf("DIRECTORY", directory.names),
    ],
    "SQLite TableTruth": await schemaOf(TABLE_TRUTH as unknown as DurableObjectNamespace, "table"),
    "SQLite TableTruth state": shapeOf([state]),
    "SQLite TrafficReports": await schemaOf(TRAFFIC as unknown as DurableObjectNamespace, "all"),
    "SQLite SequenceBlocks": await schemaOf(SEQUENCES as unknown as DurableObjectNamespace, sequences.names[0] ?? ""),
    "SQLite IdempotencyKeys": await schemaOf(
      IDEMPOTENCY as unknown as DurableObjectNamespace,
      idempotency.names[0] ?? "",
    ),
    "SQLite DirectoryKeys": await schemaOf(DIRECTORY as unknown as DurableObjectNamespace, directory.names[0] ?? ""),
  };
  await expect(sections(snapshot)).toMatchFileSnapshot("../snapshots/storage.txt");
});

const mintersOver = (namespace: DurableObjectNamespace) => ({
  clock: { nowMs: Date.now },
  entropy: { word: () => 7 },
  sequences: durableSequences(namespace as never),
});

const namesOf = (binding: string, names: readonly string[]): string[] =>
  [...new Set(names)].toSorted().map((name) => `${binding}  ${name}`);

const stateOf = () =>
  runInDurableObject(
    TABLE_TRUTH.get(TABLE_TRUTH.idFromName("table")) as never,
    (_: unknown, { storage }: DurableObjectState) =>
      storage.sql
        .exec<{ json: string }>("SELECT json FROM state")
        .toArray()
        .map(({ json }) => JSON.parse(json) as unknown),
  );

it("keeps the keys of the edge's cache", async () => {
  const { puts, cache } = notedCache();
  const clock = { nowMs: () => 1_000_000 };
  const tables = edgeTableCache(cache, "one", clock);
  await tables.putPart(`table.${"0".repeat(64)}`, new ArrayBuffer(1));
  await tables.putPointer({ pointer: { revision: 1, digest: "0".repeat(64), change: 1 }, confirmedAtMs: 1_000_000 });
  const background: Promise<unknown>[] = [];
  const memory = movedMemory({ clock, cache, namespace: "one", waitUntil: (work) => background.push(work) });
  memory.remember({ entity: "order", id: "iuid:1.2.3.4", decided: "eu" }, "us", 60);
  await Promise.all(background);
  await expect(`${puts.join("\n")}\n`).toMatchFileSnapshot("../snapshots/edge-cache.txt");
});
