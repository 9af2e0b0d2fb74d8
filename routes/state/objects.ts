import type { Context, Hono } from "hono";
import * as v from "valibot";
import { ROWS_BYTES_MAX } from "../../src/formats/state-export.ts";
import { err, ok, type Result } from "../../src/ids/result.ts";
import type { MovedObject, MovedPart, Moving, RowCursor } from "../../src/ports/moving.ts";
import type { GatewayError } from "../../src/problems/index.ts";
import { contextOf, type PageEnv, readBody, respond } from "../lib/http.ts";
import type { WithMoving } from "./with-moving.ts";

/** A list of tables with their columns. */
const STEP_BYTES_MAX = 65_536;

const CELL = v.union([v.null(), v.number(), v.string(), v.object({ base64: v.string() })]);
const CURSOR = v.object({ table: v.string(), after: v.array(CELL) });
const IMPORT = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "`import` is the digest of an import."));
const TABLES = v.array(v.object({ table: v.string(), columns: v.array(v.string()) }));
const STEPS = {
  claim: v.object({ import: IMPORT }),
  discard: v.object({ import: IMPORT }),
  release: v.object({ import: IMPORT }),
  digest: v.object({ tables: TABLES }),
  verify: v.object({
    import: IMPORT,
    tables: TABLES,
    sha256: v.string(),
    alarm: v.nullable(v.pipe(v.number(), v.safeInteger())),
  }),
} as const;

const OBJECT = "/-/state/objects/:part/:id";

/** Rows of one object, and the steps of its import. */
export function stateObjects(pages: Hono<PageEnv>, parts: readonly MovedPart[], withMoving: WithMoving): void {
  const named = (c: Context): Result<{ part: MovedPart; object: MovedObject }, GatewayError> => {
    const part = parts.find((each) => each.part === c.req.param("part"));
    const id = c.req.param("id") ?? "";
    if (part === undefined || !/^[0-9a-f]{64}$/.test(id)) return err({ reason: "not-found", path: c.req.path });
    return ok({ part, object: { part: part.part, id, name: c.req.query("name") } });
  };
  const call = async (c: Context, moving: Moving, order: Result<Parameters<Moving["call"]>[2], GatewayError>) => {
    const found = named(c);
    if (!found.ok) return found;
    if (!order.ok) return order;
    return moving.call(found.value.part, found.value.object, order.value);
  };
  pages.get(
    OBJECT,
    withMoving(async (c, moving) => {
      const found = named(c);
      const from = cursorOf(c.req.query("from"));
      if (!found.ok || !from.ok) return respond(c, found.ok ? from : found);
      const page = await moving.call(found.value.part, found.value.object, { do: "read", from: from.value });
      return respond(c, page, ({ text, next, ...rest }) => {
        // A field has no other characters than ASCII, and a key may.
        const shown = { ...rest, next: next && encodeURIComponent(JSON.stringify(next)) };
        const fields = { "content-type": "application/x-ndjson", "cache-control": "no-store" };
        return new Response(text, { headers: { ...fields, "waybill-page": JSON.stringify(shown) } });
      });
    }),
  );
  pages.put(
    `${OBJECT}/rows/:number`,
    withMoving(async (c, moving) => {
      const id = v.safeParse(IMPORT, c.req.query("import"));
      const number = c.req.param("number") ?? "";
      if (!id.success || !/^(?:0|[1-9][0-9]{0,8})$/.test(number))
        return contextOf(c).fail({ reason: "not-found", path: c.req.path });
      const lines = await readBody(c.req.raw, ROWS_BYTES_MAX);
      const order = lines.ok
        ? ok({ do: "write", import: id.output, part: Number(number), lines: lines.value } as const)
        : lines;
      return respond(c, await call(c, moving, order));
    }),
  );
  for (const [step, schema] of Object.entries(STEPS)) {
    pages.post(
      `${OBJECT}/${step}`,
      withMoving(async (c, moving) => respond(c, await call(c, moving, await readStep(c, step, schema)))),
    );
  }
}

async function readStep(
  c: Context,
  step: string,
  schema: (typeof STEPS)[keyof typeof STEPS],
): Promise<Result<Parameters<Moving["call"]>[2], GatewayError>> {
  const body = await readBody(c.req.raw, STEP_BYTES_MAX);
  if (!body.ok) return body;
  const read = v.safeParse(schema, parsed(body.value));
  if (!read.success) return err({ reason: "malformed-request", detail: read.issues[0].message });
  return ok({ ...read.output, do: step } as Parameters<Moving["call"]>[2]);
}

/** `undefined` for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function cursorOf(text: string | undefined): Result<RowCursor | undefined, GatewayError> {
  if (text === undefined) return ok(undefined);
  const read = v.safeParse(CURSOR, parsed(decoded(text)));
  const detail = "`from` is the member `next` of the field waybill-page.";
  return read.success ? ok(read.output) : err({ reason: "malformed-request", detail });
}

/** The query is decoded already. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
