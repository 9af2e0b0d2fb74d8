import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { serveWorker } from "../../../src/host/workerd/gateway.ts";
import { workerWith } from "../../../src/host/workerd/table-modules.ts";

const GATEWAYS = 4;
/** How the lives of a gateway end. */
const ENDS = ["kill", "stop", "kill", "kill", "stop"] as const;
const IDS_A_LIFE = 3000;
/** Requests that are under way at one gateway all the time. */
const CLIENTS = 8;

const tableText = JSON.stringify({
  regions: { eu: { origins: [{ url: "http://127.0.0.1:9" }] } },
  countries: { KZ: 5 },
  entities: {
    order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
    person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
    ticket: { path: "/tickets/:id", ids: [{ layout: "snowflake" }] },
  },
  routes: [],
  default: "eu",
});

const root = mkdtempSync(join(tmpdir(), "waybill-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** As docs/operate/deploy.md has gateways apart: each has a part of the primary keys, and node numbers of its own. */
const ordersOf = (at: number) =>
  [
    { entity: "order", country: "KZ" },
    { entity: "parcel", shardKey: 7 },
    { entity: "person" },
    { entity: "ticket", fields: { datacenter: 0, worker: at } },
  ] as const;

/** All IDs that a client has read, by entity. */
const given = new Map<string, string[]>(ordersOf(0).map(({ entity }) => [entity, []]));

/** The IDs of a request; `undefined` where the gateway ended before the answer did. */
async function mint(url: string, order: object): Promise<readonly string[] | undefined> {
  const answer = await fetch(`${url}/mint`, { method: "POST", body: JSON.stringify(order) })
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch(() => undefined);
  if (answer === undefined) return undefined;
  if (answer.status !== 201) throw new Error(answer.text);
  return (JSON.parse(answer.text) as { readonly ids: readonly string[] }).ids;
}

/** Mints with requests under way all the time; calls `end` once there are enough IDs. Resolves when no client goes on. */
async function mintUntil(url: string, at: number, enough: number, end: () => void, isKilled: boolean): Promise<void> {
  let made = 0;
  const client = async (first: number): Promise<void> => {
    // A killed gateway ends the clients, in the middle of a request.
    for (let turn = first; isKilled || made < enough; turn++) {
      const order = ordersOf(at)[turn % 4] as ReturnType<typeof ordersOf>[number];
      const ids = await mint(url, { ...order, count: 1 + ((turn * 17) % 90) });
      if (ids === undefined) return;
      given.get(order.entity)?.push(...ids);
      const before = made;
      made += ids.length;
      if (before < enough && made >= enough) end();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, first) => client(first)));
}

it("four gateways that are stopped and killed while they mint, and start again on their states, give no ID twice", async () => {
  const worker = await workerWith(tableText);
  const runOne = async (at: number): Promise<void> => {
    const vars = { REQUEST_LOG: "off", SEQUENCE_RANGE: `${at}/${GATEWAYS}` };
    for (const [life, how] of ENDS.entries()) {
      const gateway = await serveWorker(worker, { port: 0, tableText, stateFolder: join(root, `${at}`), vars });
      const isKilled = how === "kill";
      const end = () => isKilled && process.kill(gateway.pid, "SIGKILL");
      // Each life ends at another number of IDs.
      await mintUntil(gateway.url, at, IDS_A_LIFE + 977 * life + 331 * at, end, isKilled);
      await (isKilled ? gateway.exited : gateway.stop());
    }
  };
  await Promise.all(Array.from({ length: GATEWAYS }, (_, at) => runOne(at)));
  expect([...given.values()].flat().length).toBeGreaterThan(GATEWAYS * ENDS.length * IDS_A_LIFE);
  for (const [entity, ids] of given) expect([entity, new Set(ids).size]).toEqual([entity, ids.length]);
  // The last 60 bits of an LUUID are random: it is the primary keys that must differ.
  const keys = (given.get("person") ?? []).map((id) => id.slice(0, 13));
  expect(new Set(keys).size).toBe(keys.length);
});
