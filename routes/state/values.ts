import type { Hono } from "hono";
import { ok, type Result } from "../../src/ids/result.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import type { MovedPart, MovedValues, Moving, RowCursor, RowsPage, ValueTools } from "../../src/ports/moving.ts";
import type { StateError } from "../../src/problems/errors.ts";
import { type Bytes, joinBytes } from "../../src/routing/bytes.ts";
import { contextOf, jsonResponse, type PageEnv, readBytes, respond } from "../lib/http.ts";
import type { WithMoving } from "./with-moving.ts";

/** More than any part of a pack or a copy. */
const VALUE_BYTES_MAX = 4 * 2 ** 20;

const VALUE = "/-/state/values/:key";

interface Options {
  /** The part with the history. */
  readonly tables: MovedPart;
  readonly values: readonly MovedValues[];
  readonly subtle: Gateway["subtle"];
}

/** Values of KV that are no copy of the history. */
export function stateValues(pages: Hono<PageEnv>, { tables, values, subtle }: Options, withMoving: WithMoving): void {
  const toolsOf = (moving: Moving): ValueTools => ({
    read: async (key) => {
      const read = await moving.readValue(key);
      if (!read.ok) throw new Error(read.error.reason);
      return read.value;
    },
    sha256: async (bytes) => new Uint8Array(await subtle.digest("SHA-256", bytes)),
  });
  /** The fault that the feature of such keys finds; `false` without such a feature. */
  const faultIn = async (key: string, bytes: Bytes, moving: Moving): Promise<string | undefined | false> => {
    for (const each of values) {
      const fault = await each.faultOf(key, bytes, toolsOf(moving));
      if (fault !== false) return fault;
    }
    return false;
  };
  pages.get(
    "/-/state/values",
    withMoving(async (_, moving) => {
      const keys = new Set<string>();
      for await (const text of publishedTexts(moving, tables)) {
        for (const each of values) for (const key of await each.keysOf(text, toolsOf(moving))) keys.add(key);
      }
      return jsonResponse({ keys: [...keys] });
    }),
  );
  pages.get(
    VALUE,
    withMoving(async (c, moving) => {
      const key = c.req.param("key") ?? "";
      const read = await moving.readValue(key);
      if (!read.ok) return respond(c, read);
      const isOurs = read.value !== undefined && (await faultIn(key, read.value, moving)) !== false;
      if (!isOurs) return contextOf(c).fail({ reason: "not-found", path: c.req.path });
      const headers = { "content-type": "application/octet-stream", "cache-control": "no-store" };
      return new Response(read.value, { headers });
    }),
  );
  pages.put(
    VALUE,
    withMoving(async (c, moving) => {
      const key = c.req.param("key") ?? "";
      const bytes = await readBytes(c.req.raw, VALUE_BYTES_MAX);
      if (!bytes.ok) return respond(c, bytes);
      const fault = await faultIn(key, bytes.value, moving);
      if (fault === false) return contextOf(c).fail({ reason: "not-found", path: c.req.path });
      const refuse = (why: string) => contextOf(c).fail({ reason: "state-refused", why: `Value ${key}: ${why}` });
      if (fault !== undefined) return refuse(fault);
      const before = await moving.readValue(key);
      if (!before.ok) return respond(c, before);
      if (before.value !== undefined && !isSame(before.value, bytes.value)) return refuse("KV has another one");
      const written = before.value === undefined ? await moving.writeValue(key, bytes.value) : ok(undefined);
      return respond(c, written, () => new Response(null, { status: 204 }));
    }),
  );
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

/** The table of the texts, in parts; its columns begin with digest, number and bytes. */
const BODIES = "bodies";

/** The texts of the retained revisions, one after the other. */
async function* publishedTexts(moving: Moving, tables: MovedPart): AsyncGenerator<string> {
  let digest: unknown;
  let parts: Bytes[] = [];
  const text = () => new TextDecoder().decode(joinBytes(parts));
  const object = { part: tables.part, id: "", name: "table" };
  let from: RowCursor | undefined = { table: BODIES, after: ["", -1] };
  while (from !== undefined) {
    const page: Result<RowsPage, StateError> = await moving.call(tables, object, { do: "read", from });
    // A state without a history.
    if (!page.ok && page.error.reason === "state-refused") return;
    if (!page.ok) throw new Error(page.error.reason);
    from = page.value.next;
    for (const line of page.value.text.split("\n")) {
      const row = line === "" ? [] : JSON.parse(line);
      if (!Array.isArray(row)) {
        // The line of the next table.
        from = undefined;
        break;
      }
      const [of, , body] = row;
      if (body === undefined) continue;
      if (of !== digest && parts.length > 0) {
        yield text();
        parts = [];
      }
      digest = of;
      parts.push(Uint8Array.from(atob(body.base64), (unit) => unit.charCodeAt(0)));
    }
  }
  if (parts.length > 0) yield text();
}
