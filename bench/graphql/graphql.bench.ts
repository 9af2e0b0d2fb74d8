import { startOrigin } from "../lib/processes.ts";
import type { Bench } from "../lib/report.ts";
import { countryServiceTable } from "../lib/tables.ts";
import { turnSection } from "../lib/turn-section.ts";
import { startLoad } from "../lib/turns.ts";
import { startWorker } from "../lib/workerd.ts";

const CONNECTIONS = 32;

const PLAIN = "POST to an entity's path";
const AGAIN = "the same again";
const ONE = "an operation of one region";

const FIELDS = "id status total currency items { sku count price }";

/** The cost of reading and splitting operations, beside a POST of the same body that is only proxied. */
export const graphqlBench: Bench = {
  name: "graphql",
  run: async (options) => {
    const stops: (() => Promise<unknown>)[] = [];
    try {
      const origin = await startOrigin();
      stops.push(origin.stop);
      const gateway = await startWorker({ tableText: tableAt(`${origin.url}/response=graphql`) });
      stops.push(gateway.stop);
      const load = startLoad();
      stops.push(load.stop);
      const [first, second] = await Promise.all(["AD", "AE"].map((country) => mintOne(gateway.url, country)));
      const one = JSON.stringify({
        query: `query Order($id: ID!) { a: order(id: $id) { ${FIELDS} } b: order(id: $id) { ...O } } fragment O on Order { ${FIELDS} }`,
        variables: { id: first },
        operationName: "Order",
      });
      const two = JSON.stringify({
        query: `query Orders($a: ID!, $b: ID!) { a: order(id: $a) { ${FIELDS} } b: order(id: $b) { ...O } } fragment O on Order { ${FIELDS} }`,
        variables: { a: first, b: second },
      });
      const three = [first, second, first, second].map((id) => JSON.stringify(id)).join(", ");
      const nodes = JSON.stringify({ query: `{ nodes(ids: [${three}]) { id ... on Order { ${FIELDS} } } }` });
      const on = { port: gateway.port, pid: gateway.pid };
      const subjects = [
        { name: PLAIN, against: undefined, ...on, requests: [post(`/kind-0/${first}`, one)] },
        { name: AGAIN, against: PLAIN, ...on, requests: [post(`/kind-0/${first}`, one)] },
        { name: ONE, against: PLAIN, ...on, requests: [post("/graphql", one)] },
        { name: "a query of two regions", against: ONE, ...on, requests: [post("/graphql", two)] },
        { name: "nodes of two regions", against: ONE, ...on, requests: [post("/graphql", nodes)] },
      ];
      for (const { name, requests } of subjects) await checkOnce(name, gateway.url, requests[0] ?? "");
      return [await turnSection(`Operations of ${one.length} bytes`, subjects, load, CONNECTIONS, options)];
    } finally {
      await Promise.all(stops.map((stop) => stop()));
    }
  },
};

async function mintOne(url: string, country: string): Promise<string> {
  const minted = await fetch(`${url}/mint`, { method: "POST", body: JSON.stringify({ entity: "kind-0", country }) });
  const { ids } = (await minted.json()) as { readonly ids: readonly [string] };
  return ids[0];
}

/** A failure is fast: it must not be measured. */
async function checkOnce(name: string, url: string, message: string): Promise<void> {
  const [line = "", ...rest] = message.split("\r\n");
  const response = await fetch(url + line.split(" ")[1], {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: rest.at(-1) ?? "",
  });
  const text = await response.text();
  if (!response.ok || text.includes('"errors"')) throw new Error(`${name}: ${response.status} ${text}`);
}

function tableAt(originUrl: string): string {
  return JSON.stringify({
    ...countryServiceTable(2, 1, originUrl),
    graphql: { path: "/graphql", ids: [{ argument: "id", field: "order", entity: "kind-0" }] },
  });
}

const post = (path: string, body: string): string =>
  [
    `POST ${path} HTTP/1.1`,
    "host: api.example.com",
    "authorization: Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl",
    "accept: application/graphql-response+json, application/json;q=0.9",
    "content-type: application/json",
    `content-length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
