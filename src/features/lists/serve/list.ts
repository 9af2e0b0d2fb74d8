import { clientHash } from "../../../gateway/caller.ts";
import { Gate, Load, streamTexts } from "../../../gateway/fan-out.ts";
import { forwardWithoutId } from "../../../gateway/forward.ts";
import { wantsLines } from "../../../gateway/negotiate.ts";
import { limitRate, rateKey } from "../../../gateway/rate-limit.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { chooseRegion } from "../../../routing/index.ts";
import { takesMethod } from "../../../routing/lookup/choice.ts";
import type { WithoutId } from "../../../routing/table.ts";
import { HAS_BODY, type ListQuery, readQuery } from "../table/query.ts";
import type { List } from "../table/types.ts";
import { type Cursor, type CursorSeal, cursorSeal, type Mark } from "./cursor.ts";
import { AT_ONCE_MAX, type ListRun, pageRequest } from "./fetch.ts";
import { Merge, type Part } from "./merge.ts";
import { bindingOf } from "./query.ts";
import { RegionList } from "./source.ts";

/** Lists over all regions: one answer, merged from the pages of each. */

export async function answerList(context: RequestContext, served: ServedTable, list: List): Promise<Response> {
  const own = ownRegion(context, served);
  if (own !== undefined) return forwardWithoutId(context, own);
  const { gateway, request } = context;
  context.watchClient();
  context.entity = list.entity.name;
  if (served.canary?.table.lists?.get(list.path) === list) context.takeCanary();
  const query = await admit(context, served, list);
  if (query instanceof Response) return query;
  const sealing = await cursorSeal(gateway);
  if (sealing === undefined) return context.fail({ reason: "cursors-unavailable" });
  const from = await beginning(context, served, list, query, sealing);
  if (!from.ok) return context.fail(from.error);
  const isLines = wantsLines(request.headers.get("accept"));
  const headers: Record<string, string> = {
    "content-type": isLines ? "application/x-ndjson" : "application/json",
    "cache-control": "no-store",
    "waybill-table": context.tableLabel ?? "",
    vary: "accept, authorization",
  };
  if (context.method === "HEAD") return new Response(null, { headers });
  const run = runOf(context, served, list, query.sent, from.value.isGap);
  request.signal.addEventListener("abort", run.load.end);
  const answer = new Answer(run, query, from.value, sealing, isLines);
  const first = await answer.begin();
  if (!first.ok) return answer.refusal ?? context.fail(first.error);
  const partial = answer.missing();
  if (partial.length > 0) headers["waybill-partial"] = partial.join(", ");
  return new Response(answer.stream(first.value), { headers });
}

/** The query of a request that may be answered, or its refusal. */
async function admit(context: RequestContext, served: ServedTable, list: List): Promise<ListQuery | Response> {
  const { gateway, request } = context;
  if (gateway.mustSign && gateway.sign === undefined) return context.fail({ reason: "signing-unavailable" });
  if (request.body !== null && request.headers.get("content-length") !== "0") return context.fail(HAS_BODY);
  const query = readQuery(context.query, list, served);
  if (!query.ok) return context.fail(query.error);
  const limit = gateway.rateLimits.entity;
  // A page counts as a request; the first ones together as no more than may come at once.
  const count = Math.min(Math.max(1, query.value.targets.size), limit?.max ?? Infinity);
  const limited = limit && (await limitRate(context, limit, "entity", { entity: list.entity }, count));
  return limited ?? query.value;
}

function runOf(
  context: RequestContext,
  served: ServedTable,
  list: List,
  sent: ListQuery["sent"],
  isGap: boolean,
): ListRun {
  const { gateway } = context;
  const limit = gateway.rateLimits.entity;
  return {
    context,
    served,
    list,
    request: pageRequest(context.request),
    sent,
    words: clientHash(context),
    isGap,
    mayAsk: async () => limit === undefined || (await limit.waitSeconds(rateKey(context, list.entity))) === 0,
    pagesLeft: list.pagesMax,
    gate: new Gate(AT_ONCE_MAX, gateway.clock.nowMs),
    load: new Load(gateway),
  };
}

/** The entry for the same path whose sources say a region that the client itself names: by a header, a claim or a cookie. */
function ownRegion(context: RequestContext, { table }: ServedTable): WithoutId | undefined {
  const { request, path, query } = context;
  const entry = table.withoutId.match(path, context)?.entity;
  if (entry === undefined || !takesMethod(entry, context)) return undefined;
  const choice = chooseRegion(entry.sources, {
    header: (name) => request.headers.get(name) ?? undefined,
    host: context.servedHost,
    path,
    query,
    country: () => undefined,
    continent: () => undefined,
  });
  // An unreadable request is refused there.
  const isNone = choice.ok ? choice.value.isAssumed : choice.error.reason === "region-unknown";
  return isNone ? undefined : entry;
}

/** Where the answer begins: at the beginning, or where a cursor of the same caller and query was left. */
async function beginning(
  context: RequestContext,
  served: ServedTable,
  list: List,
  query: ListQuery,
  sealing: CursorSeal,
): Promise<Result<Cursor, GatewayError>> {
  const binding = await bindingOf(context, list, query);
  if (!binding.ok) return binding;
  const issuedSeconds = Math.floor(context.arrivedAtMs / 1000);
  const { revision } = context.table ?? served.table;
  const fresh = { ...binding.value, issuedSeconds, revision, last: undefined, isGap: false, marks: [] };
  const opened = query.cursor === undefined ? ok<Cursor>(fresh) : await sealing.open(query.cursor);
  if (!opened.ok) return opened;
  const cursor = opened.value;
  const invalid = (why: Extract<GatewayError, { reason: "list-cursor-invalid" }>["why"]) =>
    err({ reason: "list-cursor-invalid", why } as const);
  if (cursor.list !== fresh.list) return invalid("other-list");
  if (cursor.caller !== fresh.caller) return invalid("other-caller");
  if ((issuedSeconds - cursor.issuedSeconds) * 1000 > list.cursorMs) return invalid("expired");
  const known = cursor.marks.filter(({ region }) => query.targets.has(region));
  const names = new Set(known.map(({ region }) => region));
  // A region that a table has added since begins with its first page.
  const added = cursor.isGap ? [] : [...query.targets.keys()].filter((region) => !names.has(region));
  const marks = [...known, ...added.map((region): Mark => ({ ...NEW, region }))];
  return ok({ ...fresh, last: cursor.last, isGap: cursor.isGap, marks });
}

const NEW = { state: "open", page: undefined, taken: 0, after: undefined } as const;

/** Bytes of an answer that must be whole: so much is held back until its end is known. */
const HELD_UNITS = 1024 * 1024;

const unitsOf = ({ items }: Part): number => items.reduce((sum, { length }) => sum + length, 0);

class Answer {
  readonly #run: ListRun;
  readonly #lists: readonly RegionList[];
  readonly #merge: Merge;
  readonly #from: Cursor;
  readonly #sealing: CursorSeal;
  readonly #isLines: boolean;
  #hasItems = false;

  constructor(run: ListRun, query: ListQuery, from: Cursor, sealing: CursorSeal, isLines: boolean) {
    this.#run = run;
    this.#from = from;
    this.#sealing = sealing;
    this.#isLines = isLines;
    this.#lists = from.marks.flatMap((mark) => {
      const target = query.targets.get(mark.region);
      return target === undefined ? [] : [new RegionList(run, target, mark, from.last)];
    });
    this.#merge = new Merge(this.#lists, run.list.order, query.limit);
  }

  /** Names of the regions whose items are not all in it. */
  missing = (): readonly string[] => this.#lists.filter(({ state }) => state === "missing").map(({ region }) => region);

  /** Regions that failed in this answer, and why. */
  #failed(): readonly (readonly [string, string])[] {
    return this.#lists.flatMap(({ region, fault }) => (fault === undefined ? [] : [[region, fault] as const]));
  }

  /** A request that every region refuses is answered as the first one said it. */
  get refusal(): Response | undefined {
    const refusing = this.#lists.filter(({ refusal }) => refusal !== undefined);
    const isAll = refusing.length > 0 && refusing.length === this.#failed().length;
    for (const { refusal } of isAll ? refusing.slice(1) : refusing) void refusal?.body?.cancel().catch(() => undefined);
    const first = isAll ? refusing[0] : undefined;
    if (first?.refusal === undefined) return undefined;
    const { context } = this.#run;
    context.outcome = "answered";
    context.region = first.region;
    const response = new Response(first.refusal.body, first.refusal);
    response.headers.set("waybill-region", first.region);
    return response;
  }

  /** The first parts, until it is known whether there is an answer at all. */
  async begin(): Promise<Result<readonly Part[], GatewayError>> {
    const parts: Part[] = [];
    const { mayBePartial, entity } = this.#run.list;
    for (let units = 0; ; ) {
      const part = await this.#merge.next();
      parts.push(part);
      const failed = this.#failed();
      const hasNone = parts.every(({ items }) => items.length === 0);
      const isLost =
        failed.some(([, fault]) => !mayBePartial || fault === "overloaded") ||
        (failed.length > 0 && hasNone && this.#lists.every(({ state }) => state === "missing"));
      if (isLost) {
        this.#run.load.end();
        return err({ reason: "list-incomplete", entity: entity.name, regions: Object.fromEntries(failed) });
      }
      units += unitsOf(part);
      this.#run.load.add(unitsOf(part));
      if (part.isEnd || mayBePartial || units > HELD_UNITS) return ok(parts);
    }
  }

  stream(first: readonly Part[]): ReadableStream<Uint8Array> {
    const { load, list, context } = this.#run;
    const parts = [...first];
    let opening = this.#isLines ? "" : `{${JSON.stringify(list.answer.items)}:[`;
    const next = async () => {
      const early = parts.shift();
      load.add(early === undefined ? 0 : -unitsOf(early));
      const part = early ?? (await this.#merge.next());
      if (!list.mayBePartial && this.#failed().length > 0) {
        // An answer that wants all or nothing is cut off: it never ends like a whole one.
        context.gateway.logBrokenBody(list.entity.name, "list-incomplete");
        throw new Error("a region of the list failed");
      }
      const text = opening + this.#shown(part.items);
      opening = "";
      return part.isEnd ? { text: text + (await this.#closing()), isEnd: true } : { text, isEnd: false };
    };
    return streamTexts(load, context.gateway.deadlines.idleMs, next);
  }

  #shown(items: readonly string[]): string {
    if (this.#isLines) return items.map((item) => `${item}\n`).join("");
    const before = this.#hasItems && items.length > 0 ? ",\n" : "";
    this.#hasItems ||= items.length > 0;
    return before + items.join(",\n");
  }

  /** The summary, without which an answer was cut off. */
  async #closing(): Promise<string> {
    const { answer } = this.#run.list;
    const missing = this.missing();
    const marks = this.#lists.map(({ mark }) => mark);
    const isOpen = marks.some(({ state }) => state === "open");
    const next = isOpen ? await this.#seal(marks, this.#from.isGap) : null;
    const gaps = marks.map((mark): Mark => ({ ...mark, state: mark.state === "missing" ? "open" : "done" }));
    const summary = {
      partial: missing,
      ...(missing.length === 0 ? {} : { gap: await this.#seal(gaps, true) }),
      revision: this.#from.revision,
      regions: Object.fromEntries(
        this.#lists.map(({ region, state, given, elsewhere, fault }) => [
          region,
          { state, items: given, ...(elsewhere === 0 ? {} : { elsewhere }), ...(fault === undefined ? {} : { fault }) },
        ]),
      ),
    };
    if (this.#isLines) return `${JSON.stringify({ [answer.summary]: { next, ...summary } })}\n`;
    return `],${JSON.stringify(answer.next)}:${JSON.stringify(next)},${JSON.stringify(answer.summary)}:${JSON.stringify(summary)}}\n`;
  }

  #seal(marks: readonly Mark[], isGap: boolean): Promise<string> {
    const last = this.#merge.last?.at;
    const from = this.#from.last;
    return this.#sealing.seal({
      ...this.#from,
      last: isGap ? undefined : last === undefined ? from : [last.keyText, last.id],
      isGap,
      marks,
    });
  }
}
