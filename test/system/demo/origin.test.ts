import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type RunningOrigin, startOrigin } from "../../../src/demo/origin.ts";
import { moreOfOrigin } from "./origin-more.ts";

const ORDER = "/orders/019a0000-0000-8005-8040-000000000001";

let origin: RunningOrigin;
beforeAll(async () => {
  origin = await startOrigin("eu", 0, moreOfOrigin);
});
afterAll(() => origin.stop());

const call = (method: string, path: string, body?: unknown, headers = {}) =>
  fetch(origin.url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

it("lets the page that the demo's table trusts read its answers, and no other", async () => {
  const preflight = {
    "access-control-request-method": "PUT",
    "access-control-request-headers": "content-type,x-country",
  };
  const allowed = await call("OPTIONS", ORDER, undefined, { origin: "http://localhost:3000", ...preflight });
  expect([allowed.status, allowed.headers.get("access-control-allow-headers")]).toEqual([
    204,
    "content-type,x-country",
  ]);
  for (const [page, seen] of [
    ["http://localhost:3000", "http://localhost:3000"],
    ["http://localhost:3001", null],
  ] as const) {
    const { headers } = await call("GET", ORDER, undefined, { origin: page });
    expect([headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([seen, "origin"]);
  }
});

describe("documents", () => {
  it("are created, read, changed and removed", async () => {
    expect((await call("GET", ORDER)).status).toBe(404);
    expect((await call("PATCH", ORDER, { a: 1 })).status).toBe(404);
    expect((await call("PUT", ORDER, { a: 1, b: { c: 2 } })).status).toBe(201);
    expect((await call("PUT", ORDER, { a: 1, b: { c: 2 }, d: 3 })).status).toBe(200);
    expect((await call("PUT", ORDER, {}, { "if-none-match": "*" })).status).toBe(412);
    const patched = await call("PATCH", ORDER, { b: { e: 4 }, d: null });
    expect(await patched.json()).toMatchObject({ entity: { a: 1, b: { c: 2, e: 4 } } });
    expect((await call("DELETE", ORDER)).status).toBe(200);
    expect((await call("DELETE", ORDER)).status).toBe(404);
    expect((await call("PUT", ORDER, {}, { "if-none-match": "*" })).status).toBe(201);
  });

  it("echo what the origin received", async () => {
    const response = await fetch(`${origin.url}${ORDER}/notes/%2f?x=%20y`, { method: "POST", body: '{"z":1}' });
    expect(response.headers.get("x-demo-region")).toBe("eu");
    expect(await response.json()).toMatchObject({
      region: "eu",
      method: "POST",
      url: `${ORDER}/notes/%2f?x=%20y`,
      headers: { "content-length": "7" },
      received: { z: 1 },
      entity: null,
    });
  });

  it("answer HEAD with the length of GET and no body", async () => {
    await call("PUT", ORDER, { a: 1 });
    const head = await call("HEAD", ORDER);
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    await call("DELETE", ORDER);
  });

  it("of a person are the same by full ID and by short key", async () => {
    expect((await call("PUT", "/person/00000023-122E-6f47-a000-000000000000", { name: "A" })).status).toBe(201);
    expect((await call("GET", "/person/23122e")).status).toBe(200);
    expect((await call("GET", "/person/023122e")).status).toBe(404);
  });

  it.each([
    ["PUT", ORDER, "{", 400],
    ["PUT", ORDER, `"${"a".repeat(1024 * 1024)}"`, 413],
    ["GET", "/elsewhere/1", undefined, 404],
    ["GET", "/orders/", undefined, 404],
    ["GET", `${ORDER}/events?count=-1`, undefined, 400],
    ["GET", `${ORDER}/slow?ms=x`, undefined, 400],
    ["GET", `${ORDER}/download?bytes=1e3`, undefined, 400],
    ["GET", `${ORDER}/status/99`, undefined, 400],
    ["REPORT", ORDER, undefined, 405],
  ])("refuse %s %s", async (method, path, body, status) => {
    const response = await fetch(origin.url + path, { method, ...(body === undefined ? {} : { body }) });
    expect(response.status).toBe(status);
    expect(await response.json()).toHaveProperty("why");
  });
});

describe("collections", () => {
  const idOf = (at: number) => `019a0000-0000-8005-8040-00000000010${at}`;
  beforeAll(async () => {
    for (let at = 0; at < 5; at++) await call("PUT", `/rides/${idOf(at)}`, { status: at === 3 ? "shipped" : "open" });
    await call("PUT", `/rides/${idOf(0)}/notes/1`, {});
  });

  it("are listed in pages, the newest first", async () => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const response = await call("GET", `/rides?limit=2${cursor === undefined ? "" : `&cursor=${cursor}`}`);
      const page = (await response.json()) as { items: { id: string; region: string }[]; cursor?: string };
      expect(page.items.every(({ region }) => region === "eu")).toBe(true);
      ids.push(...page.items.map(({ id }) => id));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(ids).toEqual([4, 3, 2, 1, 0].map(idOf));
  });

  it("are filtered, and an empty one is a page", async () => {
    expect(await (await call("GET", "/rides?status=shipped")).json()).toMatchObject({ items: [{ id: idOf(3) }] });
    expect(await (await call("GET", "/shops")).json()).toEqual({ items: [] });
    expect((await call("GET", "/rides?limit=101")).status).toBe(400);
    expect((await call("GET", "/elsewhere")).status).toBe(404);
  });

  it("are asked by GraphQL", async () => {
    const ask = async (query: string, variables?: object) =>
      (await call("POST", "/graphql", { query, variables })).json();
    const known = { __typename: "Ride", id: idOf(3), status: "shipped" };
    const query = "query($ids: [ID!]!) { region nodes(ids: $ids) { __typename id ... on Ride { status } } }";
    expect(await ask(query, { ids: [idOf(3), idOf(9)] })).toEqual({ data: { region: "eu", nodes: [known, null] } });
    await call("PUT", ORDER, { total: 7 });
    const id = ORDER.split("/")[2];
    const change = 'mutation($id: ID!) { setStatus(id: $id, status: "paid") { status total } }';
    expect(await ask(change, { id })).toEqual({ data: { setStatus: { status: "paid", total: 7 } } });
    expect(await ask("{ orders { id region status } }")).toEqual({
      data: { orders: [{ id, region: "eu", status: "paid" }] },
    });
    await call("DELETE", ORDER);
    expect(await ask("{ nothing }")).toHaveProperty("errors");
    expect((await call("POST", "/graphql", { variables: {} })).status).toBe(400);
    expect((await call("DELETE", "/graphql")).status).toBe(405);
  });
});

describe("below an entity", () => {
  it("events come one by one", async () => {
    const response = await call("GET", `${ORDER}/events?count=3`);
    const arrivals: number[] = [];
    let text = "";
    for await (const chunk of response.body ?? []) {
      arrivals.push(performance.now());
      text += Buffer.from(chunk).toString("utf8");
    }
    expect(text.match(/^id: \d$/gm)).toEqual(["id: 1", "id: 2", "id: 3"]);
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(200);
  });

  it("slow waits", async () => {
    const started = performance.now();
    expect((await call("GET", `${ORDER}/slow?ms=150`)).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(140);
  });

  it("download gives as many octets as asked, upload counts and hashes them", async () => {
    const bytes = new Uint8Array(await (await call("GET", `${ORDER}/download?bytes=200001`)).arrayBuffer());
    expect(bytes.length).toBe(200_001);
    const answer = await fetch(`${origin.url}${ORDER}/upload`, { method: "POST", body: bytes });
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(await answer.json()).toMatchObject({ bytes: 200_001, sha256 });
  });

  it("status answers with that status", async () => {
    for (const status of [204, 304, 404, 418, 503]) {
      expect((await call("GET", `${ORDER}/status/${status}`)).status).toBe(status);
    }
    const moved = await fetch(`${origin.url}${ORDER}/status/302?location=/elsewhere`, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([302, "/elsewhere"]);
  });

  it("echo is a WebSocket", async () => {
    const socket = new WebSocket(`${origin.url.replace("http", "ws")}${ORDER}/echo`);
    const messages: unknown[] = [];
    socket.on("open", () => {
      socket.send("text");
      socket.send(Buffer.from([0, 255]));
    });
    socket.on("message", (data, isBinary) => {
      messages.push(isBinary ? data : data.toString());
      if (messages.length === 2) socket.close(4321, "enough");
    });
    const closed = await new Promise((resolve) => socket.on("close", (code, why) => resolve([code, why.toString()])));
    expect(messages).toEqual(["text", Buffer.from([0, 255])]);
    expect(closed).toEqual([4321, "enough"]);
  });
});
