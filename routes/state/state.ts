import { Hono, type MiddlewareHandler } from "hono";
import { START_AUTHOR } from "../../src/formats/start-table.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import type { MovedPart } from "../../src/ports/moving.ts";
import type { PageFeature } from "../feature.ts";
import { requireScope } from "../lib/auth.ts";
import { type PageEnv, respond } from "../lib/http.ts";
import { stateObjects } from "./objects.ts";
import { stateValues } from "./values.ts";
import { movingOf } from "./with-moving.ts";

/** The history first: what it names is read behind it. A table that a start published makes way. */
const TABLES: MovedPart = {
  part: "tables",
  binding: "TABLE_TRUTH",
  order: 1,
  objects: ["table"],
  rows: {
    contents: `SELECT 1 FROM revisions WHERE revision > 1 OR author <> '${START_AUTHOR}'
      UNION ALL SELECT 1 FROM audit WHERE author <> '${START_AUTHOR}' LIMIT 1`,
  },
};

/** Every request adds figures, those of an import too, and a start's table an event: they make way. */
const METRICS: MovedPart = {
  part: "metrics",
  binding: "TRAFFIC",
  order: 4,
  objects: ["all"],
  rows: { aside: ["since", "sums", "origins", "history", "events", "watched", "deliveries"] },
  flush: "totals",
};

/** `/-/state`: the whole state, object by object, for `waybill state`. */
export const state = (features: readonly PageFeature[]) => (gateway: Gateway) => {
  const parts = [TABLES, METRICS, ...features.flatMap(({ moved }) => moved?.part ?? [])].toSorted(
    (a, b) => a.order - b.order,
  );
  const values = features.flatMap(({ moved }) => moved?.values ?? []);
  const operator: MiddlewareHandler = requireScope(gateway, "operator");
  const withMoving = movingOf(gateway);
  const pages = new Hono<PageEnv>().use("/-/state", operator).use("/-/state/*", operator);
  pages.get(
    "/-/state",
    withMoving(async (c, moving) => respond(c, await moving.inventory(parts))),
  );
  stateObjects(pages, parts, withMoving);
  stateValues(pages, { tables: TABLES, values, subtle: gateway.subtle }, withMoving);
  return pages;
};
