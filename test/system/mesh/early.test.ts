import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DemoTable } from "../demo/demo.ts";
import { GZIPPED, ID, startEarlyOrigin, tableTo } from "../early/origin.ts";
import { uploadSlowly } from "../early/slow-upload.ts";
import { type Stack, sendRaw, startStack } from "../stack.ts";
import { PEER_KEYS } from "./mesh.ts";

/** Over a hop a client gets what it gets from one gateway: answers before its upload ends, and those with 103 or trailers. */

const BYTES = 30_000;
const slowly = { bytes: BYTES, pieceBytes: 2_000, pauseMs: 25 } as const;

/** Sends an early hint and trailers; neither may change the answer. */
async function startHintingOrigin() {
  const server = createServer((request, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
    response.writeHead(200, { "content-type": "text/plain", trailer: "x-sum" });
    response.write(`got ${request.headers["te"] ?? "no te"}\n`);
    response.addTrailers({ "x-sum": "17" });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, stop };
}

let origin: Awaited<ReturnType<typeof startEarlyOrigin>>;
let hinting: Awaited<ReturnType<typeof startHintingOrigin>>;
/** Asks the origins itself; asks the gateway of the region; is that gateway. */
let alone: Stack;
let entry: Stack;
let far: Stack;

beforeAll(async () => {
  [origin, hinting] = await Promise.all([startEarlyOrigin(), startHintingOrigin()]);
  const plain = tableTo(origin.url);
  const withNotes = {
    ...plain,
    regions: { ...plain.regions, ap: { origins: [{ url: hinting.url }] } },
    routes: [plain.routes[0], { when: { entity: "note" }, region: "ap" }],
    moves: {},
  };
  const start = (vars: Readonly<Record<string, string>>) => startStack(withNotes as unknown as DemoTable, vars);
  [alone, entry, far] = await Promise.all([
    start({}),
    start({ SELF_REGIONS: "us", PEER_KEYS, GATEWAY_NAME: "us-gw", TABLE_REFRESH_SECONDS: "0.1" }),
    start({ SELF_REGIONS: "eu,ap", PEER_KEYS, GATEWAY_NAME: "eu-gw", TABLE_REFRESH_SECONDS: "0.1" }),
  ]);
  const { eu, us, ap } = withNotes.regions;
  const regions = {
    eu: { ...eu, gateway: far.url },
    us: { ...us, gateway: entry.url },
    ap: { ...ap, gateway: far.url },
  };
  for (const { url } of [entry, far]) {
    const headers = { "content-type": "application/json", "if-match": '"1"' };
    const body = JSON.stringify({ ...withNotes, regions });
    const response = await fetch(`${url}/-/table`, { method: "PUT", headers, body });
    if (!response.ok) throw new Error(await response.text());
  }
});

afterAll(async () => {
  await Promise.all([alone, entry, far].map((stack) => stack?.stop()));
  await Promise.all([origin?.stop(), hinting?.stop()]);
});

const head = (method: string, path: string) => [`${method} ${path} HTTP/1.1`, "host: gw.test"];
const gzip = GZIPPED.toString("latin1");

const ROWS = [
  { what: "with a length", path: `/parcels/${ID}/length`, status: 401, body: "no\n" },
  { what: "in chunks", path: `/parcels/${ID}/chunks`, status: 401, body: "no\n" },
  { what: "of one byte", path: `/parcels/${ID}/one`, status: 403, body: "x" },
  { what: "of none", path: `/parcels/${ID}/empty`, status: 401, body: "" },
  { what: "without content", path: `/parcels/${ID}/none`, status: 204, body: "" },
  { what: "that is large", path: `/parcels/${ID}/large`, status: 422, body: "y".repeat(300_000) },
  { what: "in gzip", path: `/parcels/${ID}/gzip`, status: 403, body: gzip },
  { what: "in gzip and chunks", path: `/parcels/${ID}/gzip-chunks`, status: 403, body: gzip },
  { what: "that closes", path: `/parcels/${ID}/close`, status: 413, body: "no\n" },
  { what: "passed as it came", path: `/boxes/${ID}/length`, status: 401, body: "no\n" },
  { what: "in gzip, passed as it came", path: `/boxes/${ID}/gzip`, status: 403, body: gzip },
  { what: "to PUT", method: "PUT", path: `/parcels/${ID}/length`, status: 401, body: "no\n" },
];

describe.concurrent.each(["length", "chunks"] as const)(
  "an answer over a hop before the end of a body, by %s:",
  (framing) => {
    it.each(ROWS)("an origin's $what", async ({ path, status, body, method = "POST" }) => {
      const upload = { ...slowly, framing, head: head(method, path) };
      const [got, direct] = await Promise.all([
        uploadSlowly(entry.gateway.port, upload),
        uploadSlowly(alone.gateway.port, upload),
      ]);
      expect([got.end, got.sentAtEnd], got.received.slice(0, 500)).toEqual([direct.end, direct.sentAtEnd]);
      expect(got.answers).toHaveLength(1);
      expect([got.answers[0]?.startLine, got.answers[0]?.body]).toEqual([direct.answers[0]?.startLine, body]);
      expect(got.answers[0]?.startLine).toContain(` ${status} `);
    });
  },
);

it("an upload that is read to its end arrives whole", async () => {
  const got = await uploadSlowly(entry.gateway.port, {
    ...slowly,
    framing: "chunks",
    head: head("POST", `/parcels/${ID}/all-of-it`),
  });
  expect(got.answers[0]?.body).toBe(`got ${BYTES}\n`);
});

it("an answer after an early hint, with trailers, is the same as from one gateway", async () => {
  const request = [...head("GET", "/notes/01ARZ3NDEKTSV4RRFFQ69G5FAV"), "te: trailers", "connection: close", "", ""];
  const [direct, hopped] = await Promise.all(
    [alone, entry].map(({ gateway }) => sendRaw(gateway.port, request.join("\r\n"))),
  );
  expect([hopped?.status, hopped?.body]).toEqual([direct?.status, direct?.body]);
  expect(hopped?.status).toBe(200);
  // Neither is passed on (docs/reference/http.md): the answer has no trace of them.
  for (const answer of [direct, hopped]) {
    expect(answer?.head).not.toMatch(/^HTTP\/1\.1 103/);
    expect(`${answer?.head}${answer?.body}`).not.toContain("x-sum: 17");
  }
});
