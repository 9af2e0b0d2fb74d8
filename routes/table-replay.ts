import { type Context, Hono } from "hono";
import * as v from "valibot";
import { err, ok, type Result } from "../src/ids/result.ts";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import { type CompiledTable, loadTableText } from "../src/routing/index.ts";
import { replay } from "../src/routing/replay.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { requireScope } from "./require-scope.ts";
import { refuseTable } from "./table.ts";
import { wholeNumber } from "./table-revisions.ts";

/** A request's target may have 16 KiB, and a log line says a little more. */
const LINE_CHARACTERS_MAX = 32 * 1024;

/** Newline-delimited JSON. */
const TYPE = "application/x-ndjson";

/** The line of a log; what else it says is passed over. */
const LINE = v.object({ method: v.string(), path: v.pipe(v.string(), v.startsWith("/")) });

interface Pair {
  readonly before: CompiledTable;
  readonly after: CompiledTable;
}

/**
 * `POST /-/table/replay?old=41&new=42`: requests of the past, one JSON object a line, through two revisions. Each that would go
 * elsewhere is a line of the answer, as they come; the last line sums up.
 */
export const tableReplay = (gateway: Gateway) =>
  new Hono()
    .post("/-/table/replay", requireScope(gateway, "viewer"), async (c) => {
      const pair = await readPair(gateway, c);
      if (!pair.ok) return refuseTable(c, pair.error);
      const lines = (c.req.raw.body ?? new Blob([]).stream())
        .pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))
        .pipeThrough(replayed(pair.value, gateway.clock.nowMs()))
        .pipeThrough(new TextEncoderStream());
      return new Response(lines, { headers: { "content-type": TYPE, "cache-control": "no-store" } });
    })
    .all("/-/table/replay", methodNotAllowed("POST"));

async function readPair(gateway: Gateway, c: Context): Promise<Result<Pair, GatewayError>> {
  const before = await readRevision(gateway, c.req.query("old"));
  if (!before.ok) return before;
  const after = await readRevision(gateway, c.req.query("new"));
  return after.ok ? ok({ before: before.value, after: after.value }) : after;
}

async function readRevision(gateway: Gateway, text: string | undefined): Promise<Result<CompiledTable, GatewayError>> {
  const revision = wholeNumber(text ?? "");
  if (revision === undefined) {
    return err({ reason: "malformed-request", detail: "`old` and `new` are revisions: ?old=41&new=42." });
  }
  const found = await gateway.tableHistory.text(revision);
  if (!found.ok) return found;
  const table = loadTableText(new TextDecoder().decode(found.value.octets), revision);
  return table.ok ? table : err({ reason: "invalid-table", faults: table.error });
}

/** Text in chunks to lines of the answer. What is no request is counted, and stops nothing. */
function replayed({ before, after }: Pair, nowMs: number): TransformStream<string, string> {
  const counts = { same: 0, changed: 0, open: 0, unread: 0 };
  let rest = "";
  const one = (line: string): string => {
    if (line.trim() === "") return "";
    const request = readLine(line);
    if (request === undefined) {
      counts.unread++;
      return "";
    }
    const result = replay(before, after, request, nowMs);
    counts[result.verdict]++;
    return result.verdict === "changed"
      ? `${JSON.stringify({ ...request, old: result.before, new: result.after })}\n`
      : "";
  };
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      // A line without an end is no log, and must not fill the memory.
      if (rest.length > LINE_CHARACTERS_MAX) controller.error(new Error("a line of the log is too long"));
      const changed = lines.map(one).join("");
      if (changed !== "") controller.enqueue(changed);
    },
    flush(controller) {
      controller.enqueue(`${one(rest)}${JSON.stringify({ summary: counts })}\n`);
    },
  });
}

function readLine(line: string) {
  try {
    const parsed = v.safeParse(LINE, JSON.parse(line));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
