import { startOrigin } from "../lib/processes.ts";
import type { Bench, Section } from "../lib/report.ts";
import { countryServiceTable } from "../lib/tables.ts";
import { type TurnSubject, turnSection } from "../lib/turn-section.ts";
import { startLoad } from "../lib/turns.ts";
import { startWorker } from "../lib/workerd.ts";

const CONNECTIONS = 32;

const BARE = "POST by a bare Worker";
const AGAIN = "the same again";
const PLAIN = "POST to an entity's path";

/** Bytes behind the ID, or before it. */
const SIZES = [100, 12 * 1024, 256 * 1024];

/** The cost of reading an ID from a body that streams on, beside a POST of the same body that is only proxied. */
export const placesBench: Bench = {
  name: "places",
  run: async (options) => {
    const stops: (() => Promise<unknown>)[] = [];
    try {
      const origin = await startOrigin();
      stops.push(origin.stop);
      const bare = await startWorker({
        worker: new URL("../gateway/bare.worker.ts", import.meta.url),
        vars: { ORIGIN: origin.url },
      });
      stops.push(bare.stop);
      const gateway = await startWorker({ tableText: tableAt(origin.url) });
      stops.push(gateway.stop);
      const load = startLoad();
      stops.push(load.stop);
      const minted = await fetch(`${gateway.url}/mint`, {
        method: "POST",
        body: JSON.stringify({ entity: "kind-0", country: "AD" }),
      });
      const { ids } = (await minted.json()) as { readonly ids: readonly [string] };
      const [id] = ids;
      const sections: Section[] = [];
      for (const bytes of SIZES) {
        const first = JSON.stringify({ id, note: "x".repeat(bytes) });
        const plain = [post(`/kind-0/${id}`, first)];
        const subjects: TurnSubject[] = [
          { name: BARE, against: undefined, ...bare, requests: plain },
          { name: AGAIN, against: BARE, ...bare, requests: plain },
          { name: PLAIN, against: BARE, ...gateway, requests: plain },
          { name: "the ID is first in the JSON", against: PLAIN, ...gateway, requests: [post("/by-json", first)] },
          {
            name: "the ID is in a header, and the body is not read",
            against: PLAIN,
            ...gateway,
            requests: [post("/by-header", first, `x-id: ${id}`)],
          },
        ];
        if (bytes < 16 * 1024) {
          const last = JSON.stringify({ items: itemsOf(bytes), id });
          subjects.push({
            name: "the ID is last, behind many members",
            against: PLAIN,
            ...gateway,
            requests: [post("/by-json", last)],
          });
        }
        sections.push(await turnSection(`A body of ${first.length} bytes`, subjects, load, CONNECTIONS, options));
      }
      return sections;
    } finally {
      await Promise.all(stops.map((stop) => stop()));
    }
  },
};

function itemsOf(bytes: number): readonly object[] {
  const item = { sku: "AB-1234", count: 2, price: 12.5 };
  return Array.from({ length: Math.ceil(bytes / JSON.stringify(item).length) }, () => item);
}

function tableAt(originUrl: string): string {
  return JSON.stringify({
    ...countryServiceTable(1, 1, originUrl),
    withoutId: {
      "by-json": { path: "/by-json", idIn: [{ entity: "kind-0", json: "/id" }] },
      "by-header": { path: "/by-header", idIn: [{ entity: "kind-0", header: "x-id" }] },
    },
  });
}

const post = (path: string, body: string, ...fields: readonly string[]): string =>
  [
    `POST ${path} HTTP/1.1`,
    "host: api.example.com",
    "content-type: application/json",
    ...fields,
    `content-length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
