import { type Context, Hono } from "hono";
import * as v from "valibot";
import type { PageFeature } from "../../../routes/feature.ts";
import { requireScope } from "../../../routes/lib/auth.ts";
import { respond } from "../../../routes/lib/http.ts";
import { invalidTable, malformed, wholeNumber } from "../../../routes/table/request.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { GatewayError, RequestError } from "../../problems/index.ts";
import { codingsOf } from "../../proxy/codings.ts";
import {
  type CompiledTable,
  loadTable,
  loadTableText,
  parseTableText,
  plainJson,
  TABLE_BYTES_MAX,
} from "../../routing/index.ts";
import { parseLogLine } from "./log-lines.ts";
import { openapi } from "./openapi.ts";
import { replay } from "./serve.ts";

const LINE_FEED = 10;

type Bytes = ReadableStream<Uint8Array>;
type FirstLine = Readonly<{ line: string; rest: Bytes }>;
type Loaded = Result<CompiledTable, GatewayError>;

/** Reads a body up to its first line feed, within a limit. A single line needs no line feed. `rest`: what follows. */
async function firstLine(body: Bytes, bytesMax: number): Promise<Result<FirstLine, RequestError>> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let line = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value: chunk = new Uint8Array() } = await reader.read();
      const end = chunk.indexOf(LINE_FEED);
      const own = end === -1 ? chunk : chunk.subarray(0, end);
      bytes += own.length;
      if (bytes > bytesMax) {
        reader.releaseLock();
        return err({ reason: "body-too-large", bytesMax });
      }
      line += decoder.decode(own, { stream: !done && end === -1 });
      if (!done && end === -1) continue;
      reader.releaseLock();
      const behind = chunk.subarray(own.length + 1);
      const start = (controller: TransformStreamDefaultController<Uint8Array>) => {
        if (behind.length > 0) controller.enqueue(behind);
      };
      return ok({ line, rest: body.pipeThrough(new TransformStream({ start })) });
    }
  } catch {
    return malformed("The body is incomplete or not UTF-8.");
  }
}

/** A request target may have 16 KiB, and a log line has more members. */
const LINE_CHARACTERS_MAX = 32 * 1024;

const TYPE = "application/x-ndjson";

/** The value of `new` for an unpublished table in the first line of the body. */
const IN_BODY = "body";
const FIRST_LINE = v.strictObject({ table: v.unknown() });
const FIRST_LINE_BYTES_MAX = TABLE_BYTES_MAX + 1024;

type Pair = Readonly<{ before: CompiledTable; after: CompiledTable; log: ReadableStream<Uint8Array> }>;

/**
 * `POST /-/table/replay?old=41&new=42`: streams what they route differently, then a summary. Without `old`: the table in force.
 * `new=body`: the first line has the table.
 */
export const tableReplay = (gateway: Gateway) =>
  new Hono().post("/-/table/replay", requireScope(gateway, "viewer"), async (c) => {
    const pair = await readPair(gateway, c);
    return respond(c, pair, (value) => {
      const lines = value.log
        // A byte that is not UTF-8 makes one line unreadable, not the log.
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(replayed(value, gateway.clock.nowMs()))
        .pipeThrough(new TextEncoderStream());
      return new Response(lines, { headers: { "content-type": TYPE, "cache-control": "no-store" } });
    });
  });

async function readPair(gateway: Gateway, c: Context): Promise<Result<Pair, GatewayError>> {
  if (codingsOf(c.req.raw.headers.get("content-encoding")).length > 0)
    return malformed("Send the log without a content coding: decompress it.");
  const before = await readRevision(gateway, c.req.query("old"), true);
  if (!before.ok) return before;
  const log = c.req.raw.body ?? new Blob([]).stream();
  if (c.req.query("new") === IN_BODY) {
    const first = await firstLine(log, FIRST_LINE_BYTES_MAX);
    if (!first.ok) return first;
    const after = readTableLine(first.value.line);
    return after.ok ? ok({ before: before.value, after: after.value, log: first.value.rest }) : after;
  }
  const after = await readRevision(gateway, c.req.query("new"));
  return after.ok ? ok({ before: before.value, after: after.value, log }) : after;
}

async function readRevision(gateway: Gateway, text: string | undefined, orInForce = false): Promise<Loaded> {
  const number = wholeNumber(text ?? "");
  if (number === undefined && !(orInForce && text === undefined)) {
    return malformed("`old` and `new` are revisions: ?old=41&new=42; or new=body, with the table in the first line.");
  }
  const found = await gateway.controlPlane.text(number);
  if (!found.ok) return found;
  const { revision, bytes } = found.value;
  const table = loadTableText(new TextDecoder().decode(bytes), revision.revision);
  return table.ok ? table : invalidTable(table.error);
}

function readTableLine(line: string): Loaded {
  const json = parseTableText(plainJson(line));
  if (!json.ok) return malformedLine(json.error[0]?.message);
  const parsed = v.safeParse(FIRST_LINE, json.value);
  if (!parsed.success) return malformedLine(parsed.issues[0].message);
  const table = loadTable(parsed.output.table, 0);
  return table.ok ? table : invalidTable(table.error);
}

const malformedLine = (why = "") =>
  malformed(`With new=body the first line is {"table": …}, all in one line. ${why}`.trimEnd());

/** Turns chunks of text into lines of the response. Lines without a request are only counted. */
function replayed({ before, after }: Pair, nowMs: number): TransformStream<string, string> {
  const counts = { same: 0, changed: 0, open: 0, others: 0, unreadable: 0 };
  // `undefined`: of a line that is too long, until its end. It must not fill the memory.
  let rest: string | undefined = "";
  let number = 0;
  const one = (line: string | undefined): string => {
    number++;
    if (line === undefined || line.length > LINE_CHARACTERS_MAX) {
      counts.unreadable++;
      return "";
    }
    if (line.trim() === "") return "";
    const read = parseLogLine(line.replace(/\r$/, ""));
    if (read.kind !== "request") {
      counts[read.kind === "other" ? "others" : "unreadable"]++;
      return "";
    }
    const { verdict, ...destinations } = replay(before, after, read.request, nowMs);
    counts[verdict]++;
    const shown = { line: number, ...read.request, verdict, ...destinations };
    return verdict === "changed" ? `${JSON.stringify(shown)}\n` : "";
  };
  return new TransformStream({
    transform(chunk, controller) {
      const [first = "", ...others] = chunk.split("\n");
      const lines: (string | undefined)[] = [rest === undefined ? undefined : rest + first, ...others];
      rest = lines.pop();
      if (rest !== undefined && rest.length > LINE_CHARACTERS_MAX) rest = undefined;
      const changed = lines.map(one).join("");
      if (changed !== "") controller.enqueue(changed);
    },
    flush(controller) {
      controller.enqueue(`${one(rest)}${JSON.stringify({ summary: counts })}\n`);
    },
  });
}

export const replayPages: PageFeature = { name: "replay", pages: [tableReplay], openapi };
