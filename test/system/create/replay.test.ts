import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, deflateSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type RunningGateway, startGateway } from "../../../src/host/workerd/gateway.ts";
import { readDemoTable } from "../demo/demo.ts";
import { sendRaw } from "../stack.ts";

/** Kept answers, byte for byte on the wire. */

const stateFolder = mkdtempSync(join(tmpdir(), "waybill-"));
const TEXT = JSON.stringify({ made: "é".repeat(500) });
const CODERS: Record<string, readonly [encode: (text: string) => Buffer, decode: (bytes: Buffer) => Buffer]> = {
  gzip: [gzipSync, gunzipSync],
  "x-gzip": [gzipSync, gunzipSync],
  GZIP: [gzipSync, gunzipSync],
  deflate: [deflateSync, inflateSync],
  br: [brotliCompressSync, brotliDecompressSync],
  "deflate, gzip": [(text) => gzipSync(deflateSync(text)), (bytes) => inflateSync(gunzipSync(bytes))],
};

let fields: readonly (readonly [name: string, value: string])[] = [];
let body: Buffer = Buffer.from("");
let posts = 0;
const origin = createServer((incoming, response) => {
  incoming.resume();
  incoming.on("end", () => {
    posts++;
    const head = [...fields, ["content-length", `${body.length}`] as const, ["connection", "close"] as const].map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    // Node would not write all bytes that a field may have.
    response.socket?.write(Buffer.from(`HTTP/1.1 201 Created\r\n${head.join("")}\r\n`, "latin1"));
    response.socket?.end(body);
  });
});
let gateway: RunningGateway;

beforeAll(async () => {
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  const demo = readDemoTable();
  const { order } = demo.entities;
  const regions = Object.fromEntries(Object.keys(demo.regions).map((name) => [name, { origins: [{ url }] }]));
  const idempotency = { keepAnswer: { fields: ["x-own", "content-digest"] } };
  const create = { key: { country: { header: "x-country" } }, idempotency };
  const tableText = JSON.stringify({ ...demo, regions, entities: { ...demo.entities, order: { ...order, create } } });
  gateway = await startGateway({ port: 0, tableText, stateFolder, vars: { REQUEST_LOG: "off" } });
});

afterAll(async () => {
  await gateway?.stop();
  origin.closeAllConnections();
  origin.close();
  rmSync(stateFolder, { recursive: true, force: true });
});

let key: string;
beforeEach(() => {
  key = crypto.randomUUID();
  posts = 0;
  fields = [["content-type", "application/json"]];
  body = Buffer.from(TEXT);
});

async function create(acceptEncoding?: string) {
  const lines = [
    "POST /orders HTTP/1.1",
    "host: gw.test",
    "connection: close",
    "x-country: KZ",
    "content-type: application/json",
    "content-length: 2",
    `idempotency-key: ${key}`,
    ...(acceptEncoding === undefined ? [] : [`accept-encoding: ${acceptEncoding}`]),
  ];
  const {
    status,
    head,
    body: text,
  } = await sendRaw(Number(new URL(gateway.url).port), `${lines.join("\r\n")}\r\n\r\n{}`);
  const field = (name: string) => new RegExp(`^${name}: *(.*)$`, "im").exec(head)?.[1]?.trim();
  return { status, field, bytes: Buffer.from(dechunked(head, text), "latin1") };
}

/** The content of a message of one chunk or several (RFC 9112 §7.1). */
function dechunked(head: string, text: string): string {
  if (!/^transfer-encoding: *chunked/im.test(head)) return text;
  let content = "";
  for (let rest = text; ; ) {
    const line = rest.indexOf("\r\n");
    const size = Number.parseInt(rest.slice(0, line), 16);
    if (!(size > 0)) return content;
    content += rest.slice(line + 2, line + 2 + size);
    rest = rest.slice(line + 2 + size + 2);
  }
}

const code = (coding: string) => {
  const [encode] = CODERS[coding] ?? [];
  body = encode?.(TEXT) ?? body;
  fields = [
    ...fields,
    ["content-encoding", coding],
    ["vary", "x-lang"],
    ["etag", '"1"'],
    ["content-digest", "sha-256=:AA==:"],
  ];
};

const accepting = (coding: string) => coding.toLowerCase();

it.each(Object.keys(CODERS))("a kept answer in %s is the same for who accepts it", async (coding) => {
  code(coding);
  const answers = [
    await create(accepting(coding)),
    await create(accepting(coding)),
    await create(`${accepting(coding)};q=0.1, *;q=0.1, identity;q=0`),
  ];
  for (const { status, field, bytes } of answers) {
    expect([status, field("content-encoding"), field("etag")]).toEqual([201, coding, '"1"']);
    expect(CODERS[coding]?.[1](bytes).toString()).toBe(TEXT);
  }
  expect(answers.map(({ field }) => field("vary"))).toEqual([
    "x-lang",
    "x-lang, accept-encoding, origin",
    "x-lang, accept-encoding, origin",
  ]);
  expect(posts).toBe(1);
});

it.each(
  Object.keys(CODERS)
    .filter((coding) => coding !== "br")
    .flatMap((coding) =>
      [
        "identity",
        `${accepting(coding).replaceAll(",", ";q=0,")};q=0`,
        "",
        "*;q=0",
        "gzip;q=0.1, deflate;q=0.1, x-gzip;q=0.1, identity",
        "zstd",
      ].map((accept) => [coding, accept] as const),
    ),
)("a kept answer in %s is decoded for %j", async (coding, accept) => {
  code(coding);
  await create(accepting(coding));
  const { status, field, bytes } = await create(accept);
  expect([status, field("content-encoding"), field("vary")]).toEqual([
    201,
    undefined,
    "x-lang, accept-encoding, origin",
  ]);
  expect([field("etag"), field("content-digest"), field("idempotent-replayed")]).toEqual(['W/"1"', undefined, "true"]);
  expect(bytes.toString()).toBe(TEXT);
  expect(posts).toBe(1);
});

it("a coding that cannot be undone is refused where it is not accepted, and nothing is done again", async () => {
  code("br");
  await create("br");
  const refused = await create("identity, br;q=0");
  expect([refused.status, refused.field("waybill-retry")]).toEqual([406, "same-key"]);
  expect(JSON.parse(refused.bytes.toString())).toMatchObject({ type: "/-/problems/coding-not-accepted", coding: "br" });
  for (const accept of [undefined, "br", "identity, br;q=0.5"]) {
    const { status, field } = await create(accept);
    expect([status, field("content-encoding")]).toEqual([201, "br"]);
  }
  expect(posts).toBe(1);
});

it.each([
  ["bytes that are no UTF-8", "</caf\xe9>; rel=next", true],
  ["UTF-8", "</caf\xc3\xa9>; rel=next", false],
  ["half a character", "</caf\xc3>", true],
  ["a surrogate in UTF-8", "\xed\xa0\x80", true],
  ["a character beyond 16 bits", "\xf0\x9f\x98\x80", false],
])("a field of %s is the same in the replay, or said to be lost", async (_, value, isLost) => {
  fields = [...fields, ["link", value], ["x-own", value], ["location", "/orders/1"]];
  const first = await create();
  const second = await create();
  expect([first.field("link"), first.field("x-own"), first.field("waybill-lost-fields")]).toEqual([
    value,
    value,
    undefined,
  ]);
  expect([second.field("link"), second.field("x-own"), second.field("waybill-lost-fields")]).toEqual(
    isLost ? [undefined, undefined, "link, x-own"] : [value, value, undefined],
  );
  expect([second.field("idempotent-replayed"), second.field("location"), posts]).toEqual(["true", "/orders/1", 1]);
});
