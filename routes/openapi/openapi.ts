import { Hono } from "hono";
import { openRequest } from "../../src/gateway/request.ts";
import type { Gateway } from "../../src/ports.ts";
import { PROBLEM_SLUGS } from "../../src/problems/index.ts";
import type { CompiledTable } from "../../src/routing/index.ts";
import MINT_BODY_SCHEMA from "../../src/routing/mint-body.schema.json" with { type: "json" };
import { requireScope } from "../lib/auth.ts";
import { contextOf, jsonResponse, methodNotAllowed } from "../lib/http.ts";
import { entityPaths, ID_PARAMETER, PROBLEM_CONTENT, withoutIdPaths } from "./paths.ts";
import { packPaths, TABLE_SCHEMAS, tablePaths } from "./table.ts";

/** `GET /-/openapi.json`: the gateway's own endpoints, and the paths of the table in force. */
export const openapi = (gateway: Gateway) =>
  new Hono()
    .use("/-/openapi.json", requireScope(gateway, "viewer"))
    .get("/-/openapi.json", async (c) => {
      const context = contextOf(c);
      const served = await openRequest(context);
      if (served instanceof Response) return served;
      const server = `${context.scheme}://${context.host}`;
      return jsonResponse(describe(served.table, server), { "waybill-table": served.label });
    })
    .all("/-/openapi.json", methodNotAllowed("GET", "HEAD"));

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
      { name: "table", description: "The routing table: its revisions, and how they come into force." },
      { name: "operations", description: "The state of the gateway itself." },
    ],
    paths: {
      "/mint": { post: MINT },
      "/-/ids/{id}": {
        get: {
          operationId: "explainId",
          tags: ["ids"],
          summary: "Every way to read an ID, its route and the reason; no origin is contacted",
          security: VIEWERS,
          parameters: [ID_PARAMETER],
          responses: { "200": json("The explanation.", { type: "object" }), ...PROBLEM },
        },
      },
      "/-/health": operations("health", "The Worker runs"),
      "/-/ready": operations("ready", "Whether a table is loaded; for viewers its revision, source, age and canary", [
        {},
        ...VIEWERS,
      ]),
      "/-/metrics": METRICS,
      "/-/regions": operations(
        "regions",
        "The state of every origin, and each region's share of the requests",
        VIEWERS,
      ),
      ...tablePaths(PROBLEM, VIEWERS),
      ...packPaths(PROBLEM, VIEWERS),
      "/-/problems": {
        get: {
          operationId: "listProblems",
          tags: ["operations"],
          summary: "Every problem type",
          security: [],
          responses: { "200": json("All of them.", { type: "array", items: PROBLEM_TYPE }), ...PROBLEM },
        },
      },
      "/-/problems/{slug}": {
        get: {
          operationId: "explainProblem",
          tags: ["operations"],
          summary: "What a problem type means and what to do",
          security: [],
          parameters: [{ name: "slug", in: "path", required: true, schema: { type: "string", enum: PROBLEM_SLUGS } }],
          responses: {
            "200": {
              description: "The page, or JSON where `accept` asks for it.",
              content: { "text/html": {}, "application/json": { schema: PROBLEM_TYPE } },
            },
            ...PROBLEM,
          },
        },
      },
      ...entityPaths(table),
      ...withoutIdPaths(table),
    },
    components: {
      schemas: { Problem: PROBLEM_SCHEMA, MintBody: MINT_BODY_SCHEMA, ...TABLE_SCHEMAS },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const SECURITY_SCHEMES = {
  token: { type: "http", scheme: "bearer", description: "A token of the deployment, of scope viewer or operator." },
  access: {
    type: "apiKey",
    in: "header",
    name: "cf-access-jwt-assertion",
    description: "The assertion signed by Cloudflare Access, which adds this header itself.",
  },
};

/** Either is enough. */
const VIEWERS = [{ token: [] }, { access: [] }];

const operations = (name: string, summary: string, security: readonly object[] = []): object => ({
  get: {
    operationId: name,
    tags: ["operations"],
    summary,
    security,
    responses: { "200": json(summary, { type: "object" }), ...PROBLEM },
  },
});

const json = (description: string, schema: object): object => ({
  description,
  content: { "application/json": { schema } },
});

const PROBLEM = { "4XX": { description: "A problem.", content: PROBLEM_CONTENT } };

const METRICS = {
  get: {
    operationId: "metrics",
    tags: ["operations"],
    summary: "What all isolates have counted",
    security: VIEWERS,
    responses: {
      "200": {
        description: "Prometheus's text exposition format 0.0.4, or JSON where `accept` asks for it.",
        content: { "text/plain": { schema: { type: "string" } }, "application/json": { schema: { type: "object" } } },
      },
      "4XX": { description: "A problem.", content: PROBLEM_CONTENT },
    },
  },
};

const PROBLEM_SCHEMA = {
  type: "object",
  description: "RFC 9457 problem details.",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: { type: "string", examples: ["/-/problems/malformed-id"] },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
  },
};

const PROBLEM_TYPE = {
  type: "object",
  required: ["type", "slug", "status", "title", "meaning", "remedy"],
  properties: {
    type: { type: "string" },
    slug: { type: "string", enum: PROBLEM_SLUGS },
    status: { type: "integer" },
    title: { type: "string" },
    meaning: { type: "string" },
    remedy: { type: "string" },
  },
};

const AMBIGUOUS = {
  type: "object",
  description: "Only if `/any` would reject some of the IDs, and minting others does not help.",
  required: ["count", "path"],
  properties: {
    count: { type: "integer", minimum: 1 },
    path: { type: "string", description: "The path of the entity that accepts them." },
    idLayout: {
      type: "string",
      description: "The value of the header `id-layout` that makes them unambiguous on `/any`.",
    },
  },
};

const MINT = {
  operationId: "mint",
  tags: ["ids"],
  summary: "Mint IDs that route to the region named in the response",
  security: [],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/MintBody" },
        examples: {
          order: { value: { entity: "order", country: "KZ", count: 3 } },
          parcel: { value: { layout: "hotguid", shardKey: 840 } },
        },
      },
    },
  },
  responses: {
    "201": {
      description: "The IDs, in the order in which they were made: rising, where their layout begins with a time.",
      content: {
        "application/json": {
          schema: {
            type: "object",
            required: ["entity", "layout", "ids"],
            properties: {
              entity: { type: "string" },
              layout: { type: "string" },
              region: { type: "string" },
              regions: { type: "array", items: { type: "string" } },
              ids: { type: "array", items: { type: "string" } },
              ambiguous: AMBIGUOUS,
            },
          },
        },
        "text/plain": { schema: { type: "string", description: "One ID per line." } },
      },
    },
    ...PROBLEM,
  },
};
