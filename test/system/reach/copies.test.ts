import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningOrigin, startOrigins } from "../../../src/demo/origin.ts";
import { tableWithOrigins } from "../../../src/demo/table.ts";
import { readDemoTable } from "../demo/demo.ts";
import { type Stack, startStack } from "../stack.ts";

/** Reads from copies over real connections: the demo's table, where a header says the client's country. */

let stack: Stack;
let origins: readonly RunningOrigin[];
let path: string;

const read = async (headers: Record<string, string> = {}, below = "") => {
  const answer = await fetch(stack.url + path + below, { headers: { "x-country": "MX", ...headers } });
  const { entity } = (await answer.json()) as { entity?: { status: string } };
  return [answer.status, answer.headers.get("waybill-region"), answer.headers.get("waybill-copy"), entity?.status];
};

beforeAll(async () => {
  origins = await startOrigins(0);
  const demo = tableWithOrigins(readDemoTable(), origins);
  const readCopies = {
    clientCountry: { MX: "us" },
    countryHeader: "x-country",
    lagSeconds: 30,
    afterWriteCookie: "wrote",
  };
  const order = { ...demo.entities["order"], readCopies } as (typeof demo.entities)[string];
  stack = await startStack({ ...demo, entities: { ...demo.entities, order } });
  const created = await fetch(`${stack.url}/orders`, {
    method: "POST",
    headers: { "x-country": "KZ", "content-type": "application/json" },
    body: '{"status":"new"}',
  });
  path = `/orders/${created.headers.get("waybill-entity-id")}`;
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all(origins.map((origin) => origin.stop()));
});

it("come from the owner until the copy has them, then from the copy, and from the owner where the client wants it", async () => {
  expect(await read()).toEqual([200, "ap", null, "new"]);
  origins.find(({ region }) => region === "us")?.documents.set(path, { status: "copied" });
  expect(await read()).toEqual([200, "us", "of=ap; lag=30", "copied"]);
  expect(await read({ "x-country": "KZ" })).toEqual([200, "ap", null, "new"]);
  expect(await read({ "waybill-read": "owner" })).toEqual([200, "ap", null, "new"]);
  const headers = { "content-type": "application/json", "x-country": "MX" };
  const written = await fetch(stack.url + path, { method: "PATCH", headers, body: '{"status":"paid"}' });
  expect(written.headers.get("waybill-region")).toBe("ap");
  const cookie = written.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect(await read({ cookie })).toEqual([200, "ap", null, "paid"]);
  expect(await read()).toEqual([200, "us", "of=ap; lag=30", "copied"]);
});

it("come from the owner while the copy is down", async () => {
  await origins.find(({ region }) => region === "us")?.stop();
  for (let times = 0; times < 8; times++) expect(await read()).toEqual([200, "ap", null, "paid"]);
});
