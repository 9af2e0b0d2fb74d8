import { Hono } from "hono";
import { proxy } from "hono/proxy";
import { COUNTRY_COUNT, REGION_NAMES, SERVICE_COUNT } from "../lib/keys.ts";

/**
 * A hand-written gateway for one layout: a regular expression, a Map and Hono's proxy helper. It lacks the check of the
 * ID's time, most problems, `via`, loop detection and other layouts.
 */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const regions = new Map<string, string>();
for (let country = 0; country < COUNTRY_COUNT; country++) {
  for (let service = 0; service < SERVICE_COUNT; service++) {
    regions.set(`${country}:${service}`, REGION_NAMES[(country + service) % REGION_NAMES.length] ?? "");
  }
}

const app = new Hono<{ Bindings: { readonly ORIGIN: string } }>();

app.all("/:kind/:id/*", async (c) => {
  const id = c.req.param("id");
  if (!UUID.test(id)) return c.json({ title: "malformed ID" }, 400);
  const country = Number.parseInt(id.slice(16, 18), 16);
  const service = (Number.parseInt(id.slice(19, 23), 16) >>> 6) & 0xff;
  const region = regions.get(`${country}:${service}`);
  if (region === undefined) return c.json({ title: "unassigned key" }, 404);
  const url = new URL(c.req.url);
  const response = await proxy(c.env.ORIGIN + url.pathname + url.search, {
    ...c.req,
    headers: {
      ...c.req.header(),
      "x-forwarded-for": c.req.header("x-forwarded-for") ?? "unknown",
      "x-forwarded-host": url.host,
      "waybill-region": region,
      "waybill-entity-id": id,
    },
  });
  response.headers.set("waybill-region", region);
  return response;
});

export default app;
