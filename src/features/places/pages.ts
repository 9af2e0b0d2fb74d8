import { Hono } from "hono";
import * as v from "valibot";
import type { PageFeature } from "../../../routes/feature.ts";
import { requireScope, siteOf } from "../../../routes/lib/auth.ts";
import { contextOf, jsonResponse, openLimited, type PageEnv, readBody } from "../../../routes/lib/http.ts";
import { type LedHere, TABLE_CANARY, tableCanaryOf } from "../../../routes/lib/table-canary.ts";
import { json, operation } from "../../../routes/openapi/table.ts";
import { claimsOf } from "../../gateway/caller.ts";
import type { Tables } from "../../gateway/decide.ts";
import { decideFor } from "../../gateway/loading.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { GatewayError } from "../../problems/index.ts";
import { type CompiledTable, duplicateKey, parseJson } from "../../routing/index.ts";
import { type ExplainedRequest, explainRequest, type RequestText, wholeRequest } from "./serve/explain.ts";

const PATH = "/-/explain";

const TEXT = { type: "string" };

const EXPLAIN = {
  post: operation({
    name: "explainRequest",
    tag: "ids",
    summary: "Where a whole request would go, and every ID in it; no origin is contacted",
    body: {
      "application/json": {
        schema: {
          type: "object",
          required: ["url"],
          properties: {
            method: { ...TEXT, default: "GET" },
            url: { ...TEXT, description: "A path, or a URL with its host." },
            headers: {
              type: "object",
              additionalProperties: { anyOf: [TEXT, { type: "array", items: TEXT }] },
            },
            body: TEXT,
            country: { ...TEXT, description: "The client's, ISO 3166-1 alpha-2." },
            continent: TEXT,
          },
        },
      },
    },
    description: "The explanation.",
    content: json({ type: "object", properties: { tableCanary: TABLE_CANARY } }),
  }),
};

const BYTES_MAX = 256 * 1024;

const text = v.pipe(v.string(), v.maxLength(16 * 1024));
const requestSchema = v.strictObject({
  method: v.optional(v.pipe(v.string(), v.regex(/^[A-Z][A-Z-]{0,31}$/)), "GET"),
  url: text,
  headers: v.optional(
    v.pipe(v.record(v.pipe(v.string(), v.maxLength(256)), v.union([text, v.array(text)])), v.maxEntries(256)),
    {},
  ),
  body: v.optional(v.string(), ""),
  country: v.optional(text),
  continent: v.optional(text),
});

/** `POST /-/explain`: where a whole request would go and why. No origin is asked. */
export const explain = (gateway: Gateway) =>
  new Hono<PageEnv>().use(PATH, requireScope(gateway, "support")).post(PATH, async (c) => {
    const context = contextOf(c);
    const served = await openLimited(context, "lookup");
    if (served instanceof Response) return served;
    const body = await readBody(c.req.raw, BYTES_MAX);
    const read = body.ok ? readRequest(body.value) : body;
    if (!read.ok) return context.fail(read.error);
    const { text, sent } = read.value;
    const request = wholeRequest(text, readsToken(served.table) ? await claimsOf(gateway, sent) : ok(undefined));
    if (request === undefined) return context.fail(malformed("url is a path, or a URL with a host.").error);
    const layoutName = request.header("id-layout");
    const withHost = request.host === "" ? { ...request, host: siteOf(context).host } : request;
    const explainBy = (tables: Tables) =>
      decideFor(context, tables, (input) => explainRequest(input, withHost), layoutName);
    const explained = await explainBy(served);
    if (explained.byCanary) context.takeCanary();
    if (explained.kind === "error") return context.fail(explained.error);
    const { kind: _, byCanary: __, ...shown } = explained;
    const tableCanary = await tableCanaryOf(served, requestLedBy(explained), async (tables) =>
      requestLedBy(await explainBy(tables)),
    );
    return jsonResponse({ ...shown, ...tableCanary }, { "waybill-table": context.tableLabel ?? "" });
  });

const malformed = (detail: string) => err({ reason: "malformed-request", detail } as const);

/** The request that a body describes. `sent`: one with its header fields, as the gateway would get it. */
function readRequest(body: string): Result<{ readonly text: RequestText; readonly sent: Request }, GatewayError> {
  const json = parseJson(body);
  const twice = json === undefined ? undefined : duplicateKey(body);
  if (twice !== undefined) return malformed(`The body has the key ${JSON.stringify(twice.slice(0, 100))} twice.`);
  // The schema would take a list for an object with the keys 0, 1, …
  if (Array.isArray((json as { readonly headers?: unknown } | undefined)?.headers)) {
    return malformed("headers is no part of a request.");
  }
  const parsed = v.safeParse(requestSchema, json);
  if (!parsed.success) {
    const place = v.getDotPath(parsed.issues[0]);
    return malformed(place === null ? "The body is no JSON object of a request." : `${place} is no part of a request.`);
  }
  const { method, url, country, continent } = parsed.output;
  const headers = Object.entries(parsed.output.headers).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  try {
    const sent = new Request("http://explain.invalid/", { headers: new Headers(headers) });
    const bytes = new TextEncoder().encode(parsed.output.body);
    return ok({ text: { method, url, headers, body: bytes, country, continent }, sent });
  } catch {
    return malformed("headers has a name or a value that no request can have.");
  }
}

const readsToken = ({ entities, withoutId }: CompiledTable): boolean =>
  [...entities.values(), ...withoutId.entries].some(({ idIn }) => idIn?.readsToken);

function requestLedBy(explained: Awaited<ReturnType<typeof decideFor<ExplainedRequest>>>): LedHere {
  const { byCanary } = explained;
  if (explained.kind === "error") return { byCanary, problem: explained.error.reason };
  const { region, problem } = explained;
  return { byCanary, region, problem: problem?.type.slice(problem.type.lastIndexOf("/") + 1) };
}

export const explainPages: PageFeature = {
  name: "places",
  pages: [explain],
  openapi: { paths: { [PATH]: EXPLAIN } },
};
