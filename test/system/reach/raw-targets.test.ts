import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { verifyRequest } from "../../../src/origin/index.ts";
import { rawRequest, type Stack, sendRaw, startRecordingOrigins, startStack } from "../stack.ts";

/** Targets with UTF-8, which RFC 3986 §2.1 does not allow and the runtime lets through (RFC 9112 §3.2). */

const ID = "01990f04-d900-8009-8040-000000000001";
const KEY = { id: "2026a", key: Buffer.alloc(32, 5).toString("base64") };
const TEXTS = ["café", "中", "😀", "\u0080", "\u00ad\ufeff", "ÿ'\"{}^"].map((text) =>
  Buffer.from(text, "utf8").toString("latin1"),
);

let origins: Awaited<ReturnType<typeof startRecordingOrigins>>;
let stack: Stack;
beforeAll(async () => {
  origins = await startRecordingOrigins();
  const declared = {
    ...origins.declared,
    withoutId: { rest: { path: "/**", sources: [{ region: "eu" }] } },
    graphql: {
      path: "/graphql",
      sources: [{ region: "eu" }],
      ids: [{ argument: "id", field: "order", entity: "order" }],
    },
  };
  stack = await startStack(declared, { ORIGIN_SIGNING_KEYS: JSON.stringify([KEY]) });
  const rows = ["café", "中"].map((key) => JSON.stringify({ key, region: "eu" })).join("\n");
  const imported = await fetch(`${stack.url}/-/directory/slug/-/import`, { method: "POST", body: rows });
  if (!imported.ok) throw new Error(await imported.text());
});
afterAll(async () => {
  await stack?.stop();
  await origins?.stop();
});
beforeEach(() => {
  origins.recorded.length = 0;
});

const UPGRADE = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  `sec-websocket-key: ${KEY.key.slice(0, 22)}==`,
];

const post = (target: string, body: string, fields: readonly string[] = []) => {
  const head = [`POST ${target} HTTP/1.1`, "host: gw.test", "connection: close", "content-type: application/json"];
  return sendRaw(stack.gateway.port, [...head, ...fields, `content-length: ${body.length}`, "", body].join("\r\n"));
};
const get = (target: string, fields: readonly string[] = []) => rawRequest(stack.gateway.port, "GET", target, fields);

const QUERY = JSON.stringify({ query: `{ order(id: "${ID}") { id } }` });

const KINDS: Readonly<Record<string, (text: string) => Promise<{ readonly status: number }>>> = {
  "an entity's query": (text) => get(`/orders/${ID}?q=${text}`),
  "a path below an entity": (text) => get(`/orders/${ID}/${text}?a`),
  "an ID": (text) => get(`/orders/${text}`),
  "/any": (text) => get(`/any/${ID}/${text}?${text}`),
  "a redirect of /any": (text) => get(`/any/AAAAAAAA/${text}`),
  "the ID of /any": (text) => get(`/any/${text}`),
  "a key of a directory": (text) => get(`/shops/${text}`),
  "a list": (text) => get(`/orders?q=${text}`),
  "a create": (text) => post(`/orders?q=${text}`, "{}", ["x-country: DE"]),
  "a GraphQL query": (text) => get(`/graphql?query=${encodeURIComponent("{ a }")}&x=${text}`),
  "a GraphQL operation": (text) => post(`/graphql?q=${text}`, QUERY),
  "a path without an ID": (text) => get(`/x/${text}?${text}`),
  "a WebSocket": (text) => get(`/x/${text}?${text}`, UPGRADE),
  "the gateway's own page": (text) => get(`/-/ids/${text}?${text}`),
  "an unknown page": (text) => get(`/-/${text}`),
  explain: (text) => post("/-/explain", JSON.stringify({ url: `/orders/${ID}?q=${text}` })),
  mint: (text) => post(`/mint?${text}`, JSON.stringify({ entity: "order", country: "DE" })),
};

/** The others ask no origin: there is no such ID, key or document. */
const REACHING = new Set([
  "an entity's query",
  "a path below an entity",
  "/any",
  "a list",
  "a create",
  "a GraphQL operation",
  "a GraphQL query",
  "a path without an ID",
  "a WebSocket",
  "a key of a directory",
]);

describe.each(Object.entries(KINDS))("%s with UTF-8 in its target", (kind, ask) => {
  it("is served or refused, and what is signed is what arrives", async () => {
    for (const text of TEXTS) {
      const { status } = await ask(text);
      // Origins here know no lists, and 502 is theirs.
      expect([text, status === 500]).toEqual([text, false]);
    }
    expect(origins.recorded.length > 0).toBe(REACHING.has(kind));
    for (const request of origins.recorded) {
      expect(request.url).toMatch(/^[!-~]+$/);
      const verified = await verifyRequest(request, { keys: [KEY] });
      expect([request.url, verified.ok]).toEqual([request.url, true]);
    }
    expect(stack.gateway.lines.filter((line) => /defect|exception/i.test(line))).toEqual([]);
  });
});

it("an idempotency key is not left blocked", async () => {
  const fields = ["x-country: DE", 'idempotency-key: "raw-target"'];
  const first = await post(`/orders?q=${TEXTS[0]}`, "{}", fields);
  const again = await post(`/orders?q=${TEXTS[0]}`, "{}", fields);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.head).toMatch(/^idempotent-replayed: true/im);
  expect(origins.recorded).toHaveLength(1);
});
