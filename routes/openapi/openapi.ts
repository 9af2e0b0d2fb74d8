import { Hono } from "hono";
import API from "../../src/formats/table-api.schema.json" with { type: "json" };
import { openRequest } from "../../src/gateway/request.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import { PROBLEM_SLUGS } from "../../src/problems/index.ts";
import type { CompiledTable } from "../../src/routing/index.ts";
import { consolePaths, SESSION_SCHEME } from "../console/openapi.ts";
import type { OpenApiPart } from "../feature.ts";
import { requireScope, siteOf } from "../lib/auth.ts";
import { contextOf, jsonResponse } from "../lib/http.ts";
import { TABLE_CANARY } from "../lib/table-canary.ts";
import { entityPaths, ID_PARAMETER, type Paths, pathParameter, TEXT, withoutIdPaths } from "./paths.ts";
import { json, state, tablePaths, VIEWERS } from "./table.ts";

/** `GET /-/openapi.json`: the gateway's own endpoints, and the paths of the table in force. */
export const openapi = (gateway: Gateway, parts: readonly OpenApiPart[]) =>
  new Hono().use("/-/openapi.json", requireScope(gateway, "viewer")).get("/-/openapi.json", async (c) => {
    const context = contextOf(c);
    const served = await openRequest(context);
    if (served instanceof Response) return served;
    const { scheme, host } = siteOf(context);
    const server = `${scheme}://${host}`;
    return jsonResponse(describe(served.table, server, parts), { "waybill-table": served.label });
  });

function describe(table: CompiledTable, server: string, parts: readonly OpenApiPart[]) {
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
      ...parts.flatMap(({ tag }) => tag ?? []),
      { name: "table", description: "The routing table: its revisions, and how they come into force." },
      { name: "console", description: "The page for people, at a host of its own." },
      { name: "operations", description: "The state of the gateway itself." },
    ],
    paths: parts.reduce<Paths>((paths, { withPaths }) => withPaths?.(paths, table) ?? paths, {
      ...Object.assign({}, ...parts.map((part) => part.paths)),
      ...ownPaths(),
      ...withoutIdPaths(table, entityPaths(table)),
    }),
    components: {
      schemas: { Problem: PROBLEM_SCHEMA, ...Object.assign({}, ...parts.map(({ schemas }) => schemas)), ...API },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

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

const ownPaths = () => ({
  "/-/ids/{id}": state("explainId", "Every way to read an ID, its route and the reason; no origin is contacted", {
    tag: "ids",
    parameters: [ID_PARAMETER],
    description: "The explanation.",
    content: json({ type: "object", properties: { tableCanary: TABLE_CANARY } }),
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
