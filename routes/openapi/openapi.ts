import { Hono } from "hono";
import { withCollections } from "../../src/features/create/openapi.ts";
import { directoryPaths } from "../../src/features/directory/pages/openapi.ts";
import API from "../../src/formats/table-api.schema.json" with { type: "json" };
import { openRequest } from "../../src/gateway/request.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import { PROBLEM_SLUGS } from "../../src/problems/index.ts";
import type { CompiledTable } from "../../src/routing/index.ts";
import MINT_BODY_SCHEMA from "../../src/routing/mint-body.schema.json" with { type: "json" };
import { consolePaths, SESSION_SCHEME } from "../console/openapi.ts";
import { EXPLAIN } from "../explain.ts";
import { requireScope, siteOf } from "../lib/auth.ts";
import { contextOf, jsonResponse } from "../lib/http.ts";
import { TABLE_CANARY } from "../lib/table-canary.ts";
import { entityPaths, ID_PARAMETER, parameter, pathParameter, withoutIdPaths } from "./paths.ts";
import { json, operation, tablePaths, VIEWERS } from "./table.ts";

/** `GET /-/openapi.json`: the gateway's own endpoints, and the paths of the table in force. */
export const openapi = (gateway: Gateway) =>
  new Hono().use("/-/openapi.json", requireScope(gateway, "viewer")).get("/-/openapi.json", async (c) => {
    const context = contextOf(c);
    const served = await openRequest(context);
    if (served instanceof Response) return served;
    const { scheme, host } = siteOf(context);
    const server = `${scheme}://${host}`;
    return jsonResponse(describe(served.table, server), { "waybill-table": served.label });
  });

function describe(table: CompiledTable, server: string) {
  return {
    openapi: "3.1.0",
    info: {
      title: "Waybill",
      version: String(table.revision),
      summary: "An edge gateway that routes each request by the ID it carries.",
    },
    servers: [{ url: server }],
    tags: [
      { name: "entities", description: "Proxied to the region that owns the ID." },
      {
        name: "without-id",
        description: "Proxied to a region named by a header, a token, a cookie or the client's location.",
      },
      { name: "ids", description: "Looking up, explaining and minting IDs." },
      { name: "directory", description: "Regions of keys that carry no shard; claims of keys." },
      { name: "table", description: "The routing table: its revisions, and how they come into force." },
      { name: "console", description: "The page for people, at a host of its own." },
      { name: "operations", description: "The state of the gateway itself." },
    ],
    paths: withCollections({ ...ownPaths(), ...withoutIdPaths(table, entityPaths(table)) }, table),
    components: {
      schemas: { Problem: PROBLEM_SCHEMA, MintBody: MINT_BODY, ...API },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

/** The file names its own dialect; the document has one dialect for all schemas. */
const { $schema: _, ...MINT_BODY } = MINT_BODY_SCHEMA;

const SECURITY_SCHEMES = {
  token: {
    type: "http",
    scheme: "bearer",
    description: "A token of the deployment, of scope support, viewer or operator.",
  },
  access: {
    type: "apiKey",
    in: "header",
    name: "cf-access-jwt-assertion",
    description: "The assertion signed by Cloudflare Access, which adds this header itself.",
  },
  session: SESSION_SCHEME,
};

const TEXT = { type: "string" };
const TEXTS = { type: "array", items: TEXT };
const SLUG = { type: "string", enum: PROBLEM_SLUGS };

const PROBLEM_SCHEMA = {
  type: "object",
  description: "RFC 9457 problem details.",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: { type: "string", examples: ["/-/problems/malformed-id"] },
    title: TEXT,
    status: { type: "integer" },
    detail: TEXT,
  },
};

const PROBLEM_TYPE = {
  type: "object",
  required: ["type", "slug", "status", "title", "meaning", "remedy"],
  properties: { type: TEXT, slug: SLUG, status: { type: "integer" }, title: TEXT, meaning: TEXT, remedy: TEXT },
};

const text = (description: string) => ({ type: "string", description });

const AMBIGUOUS = {
  type: "object",
  description: "Only if `/any` would reject some of the IDs, and minting others does not help.",
  required: ["count", "path"],
  properties: {
    count: { type: "integer", minimum: 1 },
    path: text("The path of the entity that accepts them."),
    idLayout: text("The value of the header `id-layout` that makes them unambiguous on `/any`."),
  },
};

const MINTED = {
  type: "object",
  required: ["entity", "layout", "ids"],
  properties: {
    entity: TEXT,
    layout: TEXT,
    region: TEXT,
    regions: TEXTS,
    ids: TEXTS,
    shortKeys: { ...TEXTS, description: "The short key of each ID, for LUUIDs." },
    links: { ...TEXTS, description: "The path of each short key, where the entity's path takes them." },
    ambiguous: AMBIGUOUS,
  },
};

const KEY_ENTRY = {
  type: "object",
  required: ["scope", "state", "entity", "id", "region", "revision", "attempts", "startedAt", "until", "fingerprint"],
  properties: {
    scope: text("The first 12 hex digits of the caller's hash; empty for requests without a credential."),
    state: { type: "string", enum: ["running", "open", "done"] },
    entity: TEXT,
    id: text("The first one of a mint."),
    region: TEXT,
    revision: { type: "integer" },
    attempts: { type: "integer", minimum: 1 },
    startedAt: { type: "string", format: "date-time" },
    until: { type: "string", format: "date-time" },
    fingerprint: text("Hash of method, target, content type and body."),
    answer: {
      type: "object",
      description: "The kept one. Without it a retry asks the origin again.",
      required: ["status", "bytes"],
      properties: { status: { type: "integer" }, bytes: { type: "integer" } },
    },
  },
};

const KEY_ENTRIES = {
  type: "object",
  required: ["key", "entries"],
  properties: { key: TEXT, entries: { type: "array", items: KEY_ENTRY } },
};

const MANY_BODY = {
  type: "object",
  required: ["ids"],
  properties: { ids: TEXTS, locate: { type: "boolean", default: false } },
};

const MANY_ANSWER = {
  type: "object",
  required: ["results", "summary"],
  properties: {
    results: {
      type: "array",
      items: {
        type: "object",
        required: ["index", "id"],
        properties: {
          index: { type: "integer" },
          id: TEXT,
          region: TEXT,
          entity: TEXT,
          layout: TEXT,
          ...{
            status: { type: "integer" },
            contentType: TEXT,
            contentEncoding: TEXT,
            body: {},
            text: TEXT,
            base64: TEXT,
          },
          problem: { $ref: "#/components/schemas/Problem" },
          canary: { type: "integer", description: "The revision of the canary that decided." },
        },
      },
    },
    summary: { type: "object" },
  },
};

const IDEMPOTENCY_KEY = parameter(
  "header",
  "idempotency-key",
  "A retry with the same key and body gets the same IDs for 24 hours.",
  { minLength: 1, maxLength: 512 },
);

const state = (name: string, summary: string, more: Partial<Parameters<typeof operation>[0]> = {}): object => ({
  get: operation({ name, tag: "operations", summary, ...more }),
});

const ownPaths = () => ({
  "/mint": {
    post: operation({
      name: "mint",
      tag: "ids",
      summary: "Mint IDs that route to the region named in the response",
      security: [],
      parameters: [IDEMPOTENCY_KEY],
      body: {
        "application/json": {
          schema: { $ref: "#/components/schemas/MintBody" },
          examples: {
            order: { value: { entity: "order", country: "KZ", count: 3 } },
            parcel: { value: { layout: "hotguid", shardKey: 840 } },
          },
        },
      },
      status: 201,
      description: "The IDs, in the order in which they were made: rising, where their layout begins with a time.",
      content: { ...json(MINTED), "text/plain": { schema: { ...TEXT, description: "One ID per line." } } },
    }),
  },
  "/any": {
    post: operation({
      name: "many",
      tag: "ids",
      summary: "Up to 1,000 IDs at once: each fetched from its region, or only located",
      security: [],
      parameters: [parameter("query", "locate", "`true`: no origin is asked.", { enum: ["true"] })],
      body: {
        "application/json": { schema: { anyOf: [TEXTS, MANY_BODY] } },
        "text/plain": { schema: { ...TEXT, description: "One ID per line." } },
      },
      description:
        "In order; as `application/x-ndjson` each as soon as it is there. Without its summary it was cut off.",
      content: { ...json(MANY_ANSWER), "application/x-ndjson": {} },
    }),
  },
  "/-/ids/{id}": state("explainId", "Every way to read an ID, its route and the reason; no origin is contacted", {
    tag: "ids",
    parameters: [ID_PARAMETER],
    description: "The explanation.",
    content: json({ type: "object", properties: { tableCanary: TABLE_CANARY } }),
  }),
  "/-/explain": EXPLAIN,
  "/-/idempotency/{key}": state("idempotencyKey", "The state of an idempotency key, for all callers", {
    parameters: [pathParameter("key", { minLength: 1, maxLength: 512 })],
    content: json(KEY_ENTRIES),
  }),
  "/-/health": state("health", "The Worker runs", { security: [] }),
  "/-/ready": state("ready", "Whether a table is loaded; for viewers its revision, source, age and canary", {
    security: [{}, ...VIEWERS],
  }),
  "/-/metrics": state("metrics", "The counts of all isolates", {
    description: "Prometheus's text exposition format 0.0.4, or JSON where `accept` asks for it.",
    content: { "text/plain": { schema: TEXT }, ...json() },
  }),
  "/-/regions": state("regions", "The state of every origin, and each region's share of the requests"),
  ...directoryPaths(),
  ...tablePaths(),
  ...consolePaths(),
  "/-/problems": state("listProblems", "Every problem type", {
    security: [],
    description: "All of them.",
    content: json({ type: "array", items: PROBLEM_TYPE }),
  }),
  "/-/problems/{slug}": state("explainProblem", "The meaning of a problem type, and its remedy", {
    security: [],
    parameters: [pathParameter("slug", SLUG)],
    description: "The page, or JSON where `accept` asks for it.",
    content: { "text/html": {}, ...json(PROBLEM_TYPE) },
  }),
});
