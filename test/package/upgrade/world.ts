import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

/** Outside of the gateway: origins, a collector of metrics, and the tables. */

export const REGIONS = ["eu", "us", "ap"] as const;

/** How many creates an origin fails before it does them. */
const FAILS_ONCE = "fails-once";

/** Origins of all regions at one address, by the first segment, and a collector at `/v1/metrics`. */
export async function startWorld() {
  const created: string[] = [];
  const failed = new Set<string>();
  let pushes = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const [, region = "", ...rest] = (request.url ?? "").split("/");
      if (region === "v1") {
        pushes += 1;
        response.setHeader("content-type", "application/json");
        return response.end("{}");
      }
      const id = String(request.headers["waybill-entity-id"]);
      response.setHeader("x-region", region);
      const attempt = request.headers["x-attempt"];
      if (attempt === FAILS_ONCE && !failed.has(id)) {
        failed.add(id);
        response.statusCode = 503;
        return response.end();
      }
      if (request.method === "POST") {
        created.push(id);
        response.statusCode = 201;
        response.setHeader("content-type", "application/json");
      }
      return response.end(JSON.stringify({ region, path: rest.join("/"), id, number: created.length }));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  return {
    url,
    created,
    pushes: () => pushes,
    stop(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const failingOnce = { "x-attempt": FAILS_ONCE };

/** A table with all that keeps state. `kz`: the region of the orders of Kazakhstan. */
export const tableOf = (originUrl: string, kz: string, more: object = {}) => ({
  regions: Object.fromEntries(REGIONS.map((region) => [region, { origins: [{ url: `${originUrl}/${region}` }] }])),
  countries: { KZ: 5, BR: 7, DE: 9 },
  entities: {
    order: {
      path: "/orders/:id",
      ids: [{ layout: "iuid", service: 1 }],
      create: { key: { country: [{ header: "x-country" }] }, idempotency: { keepAnswer: {} } },
    },
    invoice: { path: "/invoices/:id", ids: [{ layout: "iuid", service: 3 }], public: true },
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
    person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
    ticket: { path: "/tickets/:id", ids: [{ layout: "snowflake" }] },
    shop: { path: "/shops/:id", directory: "slug" },
  },
  routes: [
    { when: { layout: "iuid", country: "KZ" }, region: kz },
    { when: { layout: "iuid", country: ["BR", "DE"] }, region: "eu" },
    { when: { entity: "person" }, region: "us" },
    { when: { entity: "ticket" }, region: "ap" },
    { when: { layout: "hotguid" }, pack: "shards" },
  ],
  directory: { slug: { key: { text: "lower" }, cacheSeconds: 1, absentSeconds: 1 } },
  ...more,
});

export const writeJson = (folder: string, name: string, value: unknown): void =>
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
