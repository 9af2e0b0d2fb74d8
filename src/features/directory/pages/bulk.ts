import { type Context, Hono } from "hono";
import { requireScope } from "../../../../routes/lib/auth.ts";
import { contextOf, jsonResponse, type PageEnv, readBytes, respond } from "../../../../routes/lib/http.ts";
import type { DirectoryCounts } from "../../../formats/console-api.ts";
import { openRequest } from "../../../gateway/request.ts";
import { err } from "../../../ids/result.ts";
import type { Gateway } from "../../../ports/gateway.ts";
import { type CountedKeys, countKeys, exportRows, importRows, parseCursor } from "../serve/bulk.ts";
import { newKeyOf } from "../table/compile.ts";
import * as format from "../table/copy-format.ts";
import { knownRegion, planNamed } from "./directory.ts";

/** `/-/directory/:name/-/…`: import, export and published copies of a whole directory. No key is the segment before them. */
export const directoryBulk = (gateway: Gateway): Hono<PageEnv> => {
  const { directoryTruth: truth, directoryCopies: copies } = gateway;
  const operator = requireScope(gateway, "operator");
  const base = "/-/directory/:name/-";
  return new Hono<PageEnv>()
    .post(`${base}/import`, operator, async (c) => {
      const found = await directoryOf(c);
      if (found instanceof Response) return found;
      const { plan, regions } = found;
      // Rows are read while the answer is sent.
      contextOf(c).isBodyRead = true;
      const replace = c.req.query("replace") === "true";
      const options = {
        truth,
        directory: plan.name,
        keyOf(text: string) {
          const key = newKeyOf(plan, text);
          return key.ok ? key : err(key.error.why);
        },
        regions,
        replace,
        dryRun: c.req.query("dry-run") === "true",
        changed: () => gateway.directory.forgetMany(plan.name, replace),
      };
      return ndjsonResponse(importRows(c.req.raw.body ?? new Blob([]).stream(), options));
    })
    .get(`${base}/export`, operator, async (c) => {
      const found = await directoryOf(c);
      if (found instanceof Response) return found;
      const cursor = parseCursor(c.req.query("cursor") ?? "0:");
      if (cursor === undefined) {
        const detail = "`cursor` is the member `next` of the last line of an export.";
        return contextOf(c).fail({ reason: "malformed-request", detail });
      }
      return ndjsonResponse(exportRows(truth, found.plan.name, cursor));
    })
    .get(`${base}/counts`, requireScope(gateway, "viewer"), async (c) => {
      const found = await directoryOf(c);
      if (found instanceof Response) return found;
      const { name } = found.plan;
      return jsonResponse(shownCounts(name, await countKeys(truth, name, gateway.clock)));
    })
    .get(`${base}/copy`, requireScope(gateway, "viewer"), async (c) => {
      const found = await directoryOf(c);
      if (found instanceof Response) return found;
      const directory = found.plan.name;
      const current = await copies.current(directory);
      if (!current.ok) return respond(c, current);
      if (current.value === undefined) return jsonResponse({ directory, copy: null });
      const bytes = await copies.read(directory, current.value, undefined);
      if (!bytes.ok) return respond(c, bytes);
      const header =
        bytes.value && (await format.readCopyHeader(bytes.value, sha256With(gateway.subtle), current.value));
      return jsonResponse({
        directory,
        copy: header?.ok ? shownCopy(current.value, header.value, bytes.value?.length ?? 0) : null,
      });
    })
    .delete(`${base}/copy`, operator, async (c) => {
      const found = await directoryOf(c);
      if (found instanceof Response) return found;
      return respond(c, await copies.point(found.plan.name, undefined), noContent);
    })
    .get(`${base}/copies/:sha256`, operator, (c) => read(c))
    .get(`${base}/copies/:sha256/:page`, operator, (c) => read(c))
    .put(`${base}/copies/:sha256/:page`, operator, async (c) => {
      const found = await partOf(c, true);
      if (found instanceof Response) return found;
      const { directory, sha256, page } = found;
      const bytes = await readBytes(c.req.raw, format.COPY_PAGE_BYTES_MAX);
      return respond(c, bytes.ok ? await copies.write(directory, sha256, page, bytes.value) : bytes, noContent);
    })
    .put(`${base}/copies/:sha256`, operator, async (c) => {
      const found = await partOf(c, false);
      if (found instanceof Response) return found;
      const { directory, sha256, regions } = found;
      const bytes = await readBytes(c.req.raw, format.COPY_HEADER_BYTES_MAX);
      if (!bytes.ok) return respond(c, bytes);
      const header = await format.readCopyHeader(bytes.value, sha256With(gateway.subtle), sha256);
      const fault = header.ok
        ? headerFault(header.value, directory, regions, gateway.clock.nowMs())
        : `In the copy, ${format.formatCopyFault(header.error)}.`;
      if (fault !== undefined) return contextOf(c).fail({ reason: "malformed-request", detail: fault });
      const written = await copies.write(directory, sha256, undefined, bytes.value);
      return respond(c, written.ok ? await copies.point(directory, sha256) : written, noContent);
    });

  async function read(c: Context): Promise<Response> {
    const found = await partOf(c, c.req.param("page") !== undefined);
    if (found instanceof Response) return found;
    const bytes = await copies.read(found.directory, found.sha256, found.page);
    return respond(c, bytes, (content) => {
      if (content === undefined) return contextOf(c).fail({ reason: "not-found", path: c.req.path });
      const headers = { "content-type": "application/octet-stream", "cache-control": "no-store" };
      return new Response(content, { headers });
    });
  }
};

const noContent = (): Response => new Response(null, { status: 204 });

const sha256With =
  (subtle: Gateway["subtle"]) =>
  async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
    new Uint8Array(await subtle.digest("SHA-256", bytes));

/** The directory that the path names, by the table in force or its canary. */
async function directoryOf(c: Context) {
  const context = contextOf(c);
  const served = await openRequest(context);
  if (served instanceof Response) return served;
  const plan = planNamed(served, c.req.param("name") ?? "");
  const regions = { has: (name: string) => knownRegion(served, name).ok };
  return plan.ok ? { plan: plan.value, regions, directory: plan.value.name } : context.fail(plan.error);
}

async function partOf(c: Context, isPage: boolean) {
  const sha256 = c.req.param("sha256") ?? "";
  const page = /^(?:0|[1-9][0-9]{0,3})$/.test(c.req.param("page") ?? "") ? Number(c.req.param("page")) : undefined;
  if (!/^[0-9a-f]{64}$/.test(sha256) || isPage !== (page !== undefined)) {
    return contextOf(c).fail({ reason: "not-found", path: c.req.path });
  }
  const found = await directoryOf(c);
  return found instanceof Response ? found : { ...found, sha256, page };
}

/** The clock of who makes a copy may be ahead by so much; changes since are looked for a while before. */
const AHEAD_MS = 300_000;

/** A sentence. */
function headerFault(
  { directory: name, regions: named, builtAt }: format.CopyHeader,
  directory: string,
  regions: { has(name: string): boolean },
  nowMs: number,
): string | undefined {
  if (name !== directory) return `It is a copy of ${name}, not of ${directory}.`;
  if (Date.parse(builtAt) > nowMs + AHEAD_MS) return `It was made at ${builtAt}, which is yet to come.`;
  const unknown = named.find((region) => !regions.has(region));
  return unknown === undefined ? undefined : `It names the region ${unknown}, which the table does not have.`;
}

const shownCounts = (directory: string, { atMs, shards, answered, counts }: CountedKeys): DirectoryCounts => ({
  directory,
  at: new Date(atMs).toISOString(),
  shards,
  answered,
  ...(answered === shards ? { total: counts } : { atLeast: counts }),
});

const shownCopy = (sha256: string, { keys, builtAt, regions, pageBits }: format.CopyHeader, bytes: number) => ({
  sha256,
  keys,
  pages: 2 ** pageBits,
  bytes: bytes + keys * 8,
  builtAt,
  regions,
});

/** Lines are made as they are read: a client that reads slowly slows the work down. */
function ndjsonResponse(lines: AsyncGenerator<object, void>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = "";
      while (text.length < CHUNK_LENGTH) {
        const next = await lines.next();
        if (next.done === true) {
          if (text !== "") controller.enqueue(encoder.encode(text));
          return controller.close();
        }
        text += `${JSON.stringify(next.value)}\n`;
        if ("lines" in next.value) break;
      }
      controller.enqueue(encoder.encode(text));
    },
    async cancel() {
      await lines.return();
    },
  });
  return new Response(body, { headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" } });
}

/** Rows of an export that are sent at once; progress of an import goes by itself. */
const CHUNK_LENGTH = 65_536;
