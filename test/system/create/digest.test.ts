import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningGateway, startGateway } from "../../../src/host/workerd/gateway.ts";
import { readDemoTable } from "../demo/demo.ts";

/** Bodies that stream to the origin, held to their `content-digest` (RFC 9530). */

const stateFolder = mkdtempSync(join(tmpdir(), "waybill-"));
const LENGTH = 1_500_000;
const ONE = Buffer.alloc(LENGTH, "one body ");
const TWO = Buffer.alloc(LENGTH, "other body ");

interface Got {
  bytes: number;
  isWhole: boolean;
}
let got: Got[] = [];
/** Answers before it has read the body. */
let isHasty = false;
const origin = createServer((incoming, response) => {
  const own: Got = { bytes: 0, isWhole: false };
  got.push(own);
  incoming.on("data", (chunk: Buffer) => {
    own.bytes += chunk.length;
  });
  incoming.on("error", () => undefined);
  const answer = () => response.writeHead(201, { "content-length": 4 }).end("made");
  const isEarly = isHasty;
  if (isEarly) answer();
  incoming.on("end", () => {
    own.isWhole = true;
    if (!isEarly) answer();
  });
});
let gateway: RunningGateway;

beforeAll(async () => {
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  const demo = readDemoTable();
  const { order } = demo.entities;
  const regions = Object.fromEntries(Object.keys(demo.regions).map((name) => [name, { origins: [{ url }] }]));
  const idempotency = { keepAnswer: {}, leaseSeconds: 3600 };
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
  got = [];
  isHasty = false;
});

const digestOf = (body: Buffer, name: "256" | "512" = "256"): string =>
  `sha-${name}=:${createHash(`sha${name}`).update(body).digest("base64")}:`;

async function create(body: Buffer, contentDigest: string, isChunked = false) {
  const headers = {
    "content-type": "application/octet-stream",
    "x-country": "KZ",
    "idempotency-key": key,
    "content-digest": contentDigest,
    ...(isChunked ? { "transfer-encoding": "chunked" } : { "content-length": body.length }),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${gateway.url}/orders`, { method: "POST", headers }, resolve);
    sent.on("error", reject);
    Readable.from(pieces(body)).pipe(sent);
  });
  const answered = await text(response);
  const isReplayed = response.headers["idempotent-replayed"] === "true";
  const problem = response.statusCode === 201 ? undefined : JSON.parse(answered).type.replace("/-/problems/", "");
  return { status: response.statusCode, isReplayed, ...(problem === undefined ? {} : { problem }) };
}

function* pieces(body: Buffer) {
  for (let at = 0; at < body.length; at += 100_000) yield body.subarray(at, at + 100_000);
}

const CREATED = { status: 201, isReplayed: false };
const FALSE = { status: 400, isReplayed: false, problem: "digest-mismatch" };

describe.each([
  ["with a length", false],
  ["in chunks", true],
])("a body %s", (_, isChunked) => {
  it("with its digest is one create, and replayed to the same body alone", async () => {
    const digest = digestOf(ONE);
    expect(await create(ONE, digest, isChunked)).toEqual(CREATED);
    expect(await create(ONE, digest, isChunked)).toEqual({ ...CREATED, isReplayed: true });
    expect(await create(TWO, digest, isChunked)).toEqual(FALSE);
    expect(await create(ONE, digest, isChunked)).toEqual({ ...CREATED, isReplayed: true });
    expect(got).toEqual([{ bytes: LENGTH, isWhole: true }]);
  });

  it.each([
    ["sha-256", () => digestOf(ONE)],
    ["sha-512", () => digestOf(ONE, "512")],
    ["one of two", () => `${digestOf(TWO)}, ${digestOf(ONE, "512")}`],
  ])("with a false %s never reaches its origin whole, and its key is free", async (_, digest) => {
    expect(await create(TWO, digest(), isChunked)).toEqual(FALSE);
    await expect.poll(() => got.every(({ isWhole, bytes }) => !isWhole && bytes < LENGTH)).toBe(true);
    expect(await create(ONE, digestOf(ONE), isChunked)).toEqual(CREATED);
    expect(got.at(-1)).toEqual({ bytes: LENGTH, isWhole: true });
  });

  it("with a false digest that an origin answers early keeps no answer", async () => {
    isHasty = true;
    await create(TWO, digestOf(ONE), isChunked).catch(() => undefined);
    isHasty = false;
    await expect.poll(async () => create(ONE, digestOf(ONE), isChunked)).toEqual(CREATED);
    expect(got.at(-1)).toEqual({ bytes: LENGTH, isWhole: true });
  });
});

it.each([
  ["of one piece", Buffer.from("short"), true],
  ["that is empty", Buffer.alloc(0), true],
  ["that is kept", Buffer.from("short"), false],
])("a short body %s is held to its digest as well", async (_, body, isChunked) => {
  expect(await create(body, digestOf(ONE), isChunked)).toEqual(FALSE);
  expect(got.filter(({ isWhole }) => isWhole)).toEqual([]);
  expect(await create(body, digestOf(body), isChunked)).toEqual(CREATED);
});

it.each([
  ["a length that no digest has", "sha-256=:AAAA:", FALSE],
  ["an unknown algorithm alone", "md5=:AAAA:", { status: 413, isReplayed: false, problem: "body-too-large" }],
  ["a malformed field", `${digestOf(ONE)},`, { status: 413, isReplayed: false, problem: "body-too-large" }],
])("%s sends nothing", async (_, digest, wanted) => {
  // The gateway does not read such a body, so the client may see its connection end.
  const answered = await create(ONE, digest).catch(() => wanted);
  expect([answered, got]).toEqual([wanted, []]);
});

describe.each(["256", "512"] as const)("a short body with its digest by SHA-%s", (name) => {
  const body = Buffer.from("short");
  it.each([
    ["with a length, then in chunks", false, true],
    ["in chunks, then with a length", true, false],
  ])("that is sent %s is one create", async (_, first, second) => {
    expect(await create(body, digestOf(body, name), first)).toEqual(CREATED);
    for (const isChunked of [second, first]) {
      expect(await create(body, digestOf(body, name), isChunked)).toEqual({ ...CREATED, isReplayed: true });
      const other = Buffer.from("other");
      expect(await create(other, digestOf(other, name), isChunked)).toEqual({
        status: 422,
        isReplayed: false,
        problem: "idempotency-key-mismatch",
      });
    }
    expect(got).toEqual([{ bytes: body.length, isWhole: true }]);
  });
});
