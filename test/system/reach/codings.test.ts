import { randomUUID } from "node:crypto";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDemoTable } from "../demo/demo.ts";
import { type Stack, startStack } from "../stack.ts";

/** Answers in a coding though none was asked for, by all who read them. Codings have no case (RFC 9110 §8.4.1). */

type Encode = (body: Buffer) => Buffer;

const twice: Encode = (body) => gzipSync(gzipSync(body));
/** Gzip is a series of members (RFC 1952 §2.2), as parts that were coded one by one make it. */
const members: Encode = (body) =>
  Buffer.concat([gzipSync(body.subarray(0, 9)), gzipSync(""), gzipSync(body.subarray(9)), gzipSync("")]);
const DECODED: readonly (readonly [field: string, encode: Encode])[] = [
  ["gzip", gzipSync],
  ["GZIP", gzipSync],
  ["GZip", gzipSync],
  ["x-gzip", gzipSync],
  ["X-GZIP", gzipSync],
  ["gzip, gzip", twice],
  ["gzip,GZIP", twice],
  ["identity, Gzip", gzipSync],
  ["gzip ,, identity", gzipSync],
  ["deflate", deflateSync],
  ["DEFLATE", deflateSync],
  ["deflate, gzip", (body) => gzipSync(deflateSync(body))],
  ["gzip", members],
  ["GZIP", members],
  ["x-gzip", members],
  ["gzip, gzip", (body) => members(members(body))],
  ["deflate, gzip", (body) => members(deflateSync(body))],
  ["br", brotliCompressSync],
  ["identity", (body) => body],
  ["IDENTITY", (body) => body],
];

/** `named`: as the problem says it. */
const UNKNOWN: readonly (readonly [field: string, encode: Encode, named: string])[] = [
  ["BR", brotliCompressSync, "br"],
  ["zstd", gzipSync, "zstd"],
  ["ZSTD", gzipSync, "zstd"],
  ["compress", gzipSync, "compress"],
  ["gzip, br", (body) => brotliCompressSync(gzipSync(body)), "br"],
  ["squeeze, gzip", gzipSync, "squeeze"],
];

const ORDER = "6347eb00-bbaa-01cc-0201-0203d0000000";
const OTHER = "6347eb00-bbaa-01cc-0201-0203e8030000";
const BODIES: Readonly<Record<string, object>> = {
  "/parcels": { items: [{ id: ORDER }, { id: OTHER }], cursor: null },
  "/graphql": { data: { a: { id: ORDER }, b: { id: OTHER } } },
};

let coding: { readonly field: string; readonly encode: Encode; readonly isChunked: boolean };
let server: Server;
let stack: Stack;

function answer(response: ServerResponse, status: number, body: object): void {
  const bytes = coding.encode(Buffer.from(JSON.stringify(body)));
  const length = coding.isChunked ? {} : { "content-length": bytes.length };
  response.writeHead(status, { "content-type": "application/json", "content-encoding": coding.field, ...length });
  response.write(bytes.subarray(0, 5));
  response.end(bytes.subarray(5));
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    request.resume();
    request.on("end", () => {
      const isCreate = request.method === "POST" && path === "/orders";
      answer(response, isCreate ? 201 : 200, BODIES[path] ?? { id: path.split("/")[2] ?? "created" });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const region = { origins: [{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }] };
  const demo = readDemoTable();
  stack = await startStack({
    countries: demo.countries,
    regions: { eu: region, us: region },
    routes: [
      { when: { layout: "iuid" }, region: "eu" },
      { when: { layout: "hotguid", shardKey: "0-999" }, region: "eu" },
      { when: { layout: "hotguid", shardKey: "1000-1999" }, region: "us" },
    ],
    entities: {
      order: {
        path: "/orders/:id",
        ids: [{ layout: "iuid", service: 1 }],
        create: demo.entities["order"]?.["create" as never],
      },
      parcel: {
        path: "/parcels/:id",
        ids: [{ layout: "hotguid" }],
        list: { items: "/items", next: { cursor: "/cursor", query: "cursor" }, order: "none" },
      },
    },
    graphql: {
      path: "/graphql",
      ids: [{ argument: "id", field: "parcel", entity: "parcel" }],
      sources: [{ region: "eu" }],
    },
  } as never);
});

afterAll(async () => {
  await stack?.stop();
  server?.close();
});

const json = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(stack.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

const list = async () => (await fetch(`${stack.url}/parcels`)).json() as Promise<Record<string, never>>;
const many = async () => {
  const { results } = (await (await json("/any", [ORDER])).json()) as { results: readonly Record<string, unknown>[] };
  return results[0] as Record<string, unknown>;
};
const split = async () =>
  (await json("/graphql", { query: `{ a: parcel(id: "${ORDER}") { id } b: parcel(id: "${OTHER}") { id } }` })).json();

describe.each([true, false])("an answer, chunked: %s,", (isChunked) => {
  it.each(DECODED)("in the coding %s is decoded", async (field, encode) => {
    coding = { field, encode, isChunked };
    expect(await list()).toMatchObject({ items: [{ id: ORDER }, { id: OTHER }], summary: { partial: [] } });
    // The runtime alone knows br, and only where nothing is passed on as it came.
    const body = field === "br" ? { contentEncoding: "br" } : { body: { id: ORDER } };
    expect(await many()).toMatchObject({ status: 200, ...body });
    expect(await split()).toEqual({ data: { a: { id: ORDER }, b: { id: OTHER } } });
  });

  it.each(UNKNOWN)("in the coding %s is a problem that names it", async (field, encode, named) => {
    coding = { field, encode, isChunked };
    const bytes = encode(Buffer.from(JSON.stringify({ id: ORDER })));
    const fault = `coding-${named}`;
    expect(await list()).toMatchObject({ type: "/-/problems/list-incomplete", regions: { eu: fault, us: fault } });
    expect(await many()).toMatchObject({ status: 200, contentEncoding: field, base64: bytes.toString("base64") });
    expect(JSON.stringify(await split())).toContain(`a body in the coding ${named}, which cannot be decoded`);
  });

  it.each(["gzip", "GZIP", "x-gzip", "deflate"])(
    "that is not in its coding %s is a fault of its origin",
    async (field) => {
      coding = { field, encode: (body) => body, isChunked };
      const { regions } = (await list()) as unknown as { regions: Record<string, string> };
      expect(["malformed-page", "invalid-response", "origin-unreachable"]).toContain(regions["eu"]);
      expect((await many())["problem"]).toBeDefined();
      expect(JSON.stringify(await split())).toContain('"errors"');
    },
  );

  it.each([...DECODED, ...UNKNOWN].map(([field, encode]) => [field, encode] as const))(
    "to a create in the coding %s is repeated by its key as it was",
    async (field, encode) => {
      coding = { field, encode, isChunked };
      const key = randomUUID();
      const ask = async () => {
        const headers = {
          "idempotency-key": key,
          "x-country": "DE",
          "accept-encoding": "gzip, deflate, br, zstd, compress, squeeze",
        };
        const response = await json("/orders", { a: 1 }, headers);
        const replayed = response.headers.get("idempotent-replayed");
        const said = response.headers.get("content-encoding");
        const text = await response.text().catch((error: Error) => error.message);
        return { status: response.status, replayed, said, text };
      };
      const first = await ask();
      const second = await ask();
      expect([first.status, first.replayed]).toEqual([201, null]);
      expect(second).toEqual({ ...first, replayed: "true" });
    },
  );
});
