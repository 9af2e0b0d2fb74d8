import { decideAny, decidePath } from "../../../gateway/decide.ts";
import { fieldsOfPart, hasShare, Load, streamTexts, takeShare } from "../../../gateway/fan-out.ts";
import { serveBy } from "../../../gateway/handle.ts";
import { decideFor } from "../../../gateway/loading.ts";
import { RequestContext } from "../../../gateway/request.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import { type GatewayError, problemOf } from "../../../problems/index.ts";
import { errorOf } from "../../../problems/loadable.ts";
import { ID_LENGTH_MAX } from "../../../routing/limits.ts";
import { ANY_PREFIX } from "../../../routing/lookup/paths.ts";
import { bodyMembers } from "./body.ts";
import type { ManyRequest } from "./request.ts";

/** Many IDs, each decided and fetched as `/any/:id` is. */

/** Requests to origins at a time, of one answer and of each region in it. */
const AT_ONCE_MAX = 12;
const AT_ONCE_OF_REGION_MAX = 6;

/** So far ahead of the answer in order results may be there. With the largest bodies they take 8 MB. */
const AHEAD_MAX = 32;

/** Bytes of all bodies of an answer. */
const BODIES_BYTES_MAX = 32 * 1024 * 1024;

/** Where an ID belongs. `path`: raw, what a client would ask for. */
type Located =
  | { readonly path: string; readonly region: string; readonly shown: Entry }
  | { readonly path: undefined; readonly error: GatewayError };

/** Longer texts, and other characters, are in no layout. */
const ID_TEXT = new RegExp(`^[\\w.~!$&'()*+,;=@:-]{1,${ID_LENGTH_MAX}}$`);

async function locate(context: RequestContext, served: ServedTable, id: string): Promise<Located> {
  if (!ID_TEXT.test(id) || id === "." || id === "..") {
    return { path: undefined, error: { reason: "malformed-id", id, faults: [] } };
  }
  const layoutName = context.request.headers.get("id-layout") ?? undefined;
  const path = ANY_PREFIX + id;
  const any = await decideFor(context, served, (input) => decideAny(input, path), layoutName);
  // The path of a redirect is asked at once.
  const own = any.kind === "redirect" ? any.path : path;
  const outcome = any.kind === "redirect" ? await decideFor(context, served, (input) => decidePath(input, own)) : any;
  if (outcome.kind === "error") return { path: undefined, error: outcome.error };
  if (outcome.kind !== "region") return { path: undefined, error: { reason: "unknown-id", id, candidates: [] } };
  const { entity, layout, target } = outcome.decision;
  const canary = outcome.byCanary ? served.canary?.table.revision : undefined;
  // A public ID hides what it is.
  const shown = entity.reading?.hides === true ? { canary } : { entity: entity.name, layout, canary };
  return { path: own, region: target.region.name, shown };
}

/** Most look-ups wait for nothing; those of directories wait together. */
const AT_ONCE_LOCATED = 50;

/** The answer has begun: one ID that cannot be looked up must not break off the others'. */
const locateAll = (context: RequestContext, served: ServedTable, ids: readonly string[]): Promise<readonly Located[]> =>
  Promise.all(
    ids.map((id) =>
      locate(context, served, id).catch((thrown: unknown): Located => {
        context.gateway.logDefect(thrown);
        return { path: undefined, error: errorOf(thrown) };
      }),
    ),
  );

/** One ID's answer as the members of an object. */
type Entry = Readonly<Record<string, unknown>>;

const refused = (error: GatewayError): Entry => {
  const problem = problemOf(error);
  return { status: problem.status, problem };
};

export function answerMany(context: RequestContext, served: ServedTable, wanted: ManyRequest): Response {
  const { isLines } = wanted;
  const load = new Load(context.gateway);
  const entries = wanted.isLocate
    ? locatedEntries(context, served, wanted)
    : fetchedEntries(context, served, wanted, load);
  let count = 0;
  const regions: Record<string, number> = Object.create(null); // A region may be called toString.
  const problems: Record<string, number> = {};
  const shown = ({ text, region, problem }: Result): string => {
    if (region !== undefined) regions[region] = (regions[region] ?? 0) + 1;
    if (problem !== undefined) problems[problem] = (problems[problem] ?? 0) + 1;
    const before = isLines ? "" : count === 0 ? '{"results":[' : ",\n";
    count++;
    return `${before}${text}${isLines ? "\n" : ""}`;
  };
  const next = async () => {
    const { value, done } = await entries.next();
    if (done !== true) return { text: shown(value), isEnd: false };
    // Without its summary an answer was cut off.
    const summary = JSON.stringify({ count, regions, problems });
    return { text: isLines ? `{"summary":${summary}}\n` : `],"summary":${summary}}\n`, isEnd: true };
  };
  const type = isLines ? "application/x-ndjson" : "application/json";
  const table = { "waybill-table": context.tableLabel ?? "" };
  const headers = { "content-type": type, "cache-control": "no-store", vary: "accept", ...table };
  return new Response(streamTexts(load, context.gateway.deadlines.idleMs, next), { headers });
}

interface Result {
  /** The entry as JSON on one line. */
  readonly text: string;
  readonly region: string | undefined;
  readonly problem: string | undefined;
}

const resultOf = (at: number, id: string, region: string | undefined, entry: Entry, bodyText = ""): Result => {
  const text = JSON.stringify({ index: at, id, ...(region === undefined ? {} : { region }), ...entry });
  const problem = entry["problem"] as { readonly type?: string } | undefined;
  const slug = problem?.type?.slice(problem.type.lastIndexOf("/") + 1);
  return { text: bodyText === "" ? text : `${text.slice(0, -1)},${bodyText}}`, region, problem: slug };
};

async function* locatedEntries(
  context: RequestContext,
  served: ServedTable,
  { ids }: ManyRequest,
): AsyncGenerator<Result, void, undefined> {
  for (let from = 0; from < ids.length; from += AT_ONCE_LOCATED) {
    const part = ids.slice(from, from + AT_ONCE_LOCATED);
    for (const [at, located] of (await locateAll(context, served, part)).entries()) {
      const id = part[at] as string;
      yield located.path === undefined
        ? resultOf(from + at, id, undefined, refused(located.error))
        : resultOf(from + at, id, located.region, located.shown);
    }
  }
}

/** Fetches a few at a time, by region, and gives what is there: in order, or as it comes. */
async function* fetchedEntries(
  context: RequestContext,
  served: ServedTable,
  { ids, isLines }: ManyRequest,
  load: Load,
): AsyncGenerator<Result, void, undefined> {
  const { nowMs } = context.gateway.clock;
  const places: Located[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE_LOCATED) {
    places.push(...(await locateAll(context, served, ids.slice(from, from + AT_ONCE_LOCATED))));
  }
  const waiting = new Set(ids.keys());
  const running = new Map<number, Promise<void>>();
  const ofRegion = new Map<string, number>();
  const done = new Map<number, Result>();
  const budget = { bytesLeft: BODIES_BYTES_MAX };
  let given = 0;
  const keep = (at: number, result: Result): void => {
    done.set(at, result);
    load.add(result.text.length);
  };
  const take = (at: number): Result => {
    const result = done.get(at) as Result;
    done.delete(at);
    load.add(-result.text.length);
    return result;
  };
  const next = (): number | undefined => (isLines ? done.keys().next().value : done.has(given) ? given : undefined);
  const hasRoom = (): boolean =>
    (running.size === 0 && next() === undefined) || (running.size < AT_ONCE_MAX && hasShare(nowMs()));
  const start = (at: number): void => {
    const id = ids[at] as string;
    const place = places[at] as Located;
    waiting.delete(at);
    if (place.path === undefined) {
      keep(at, resultOf(at, id, undefined, refused(place.error)));
      return;
    }
    const { region, path } = place;
    ofRegion.set(region, (ofRegion.get(region) ?? 0) + 1);
    const giveBack = takeShare(nowMs());
    const fetched = fetchOne(context, served, path, budget).catch((thrown: unknown): Fetched => {
      context.gateway.logDefect(thrown);
      return { entry: refused(errorOf(thrown)), bodyText: "", answered: undefined };
    });
    const work = fetched.then(({ entry, bodyText, answered }) => {
      ofRegion.set(region, (ofRegion.get(region) ?? 1) - 1);
      running.delete(at);
      giveBack();
      keep(at, resultOf(at, id, answered ?? region, entry, bodyText));
    });
    running.set(at, work);
  };
  while (given < ids.length) {
    for (const at of waiting) {
      if (!hasRoom() || (!isLines && at >= given + AHEAD_MAX)) break;
      const place = places[at] as Located;
      if (place.path === undefined || (ofRegion.get(place.region) ?? 0) < AT_ONCE_OF_REGION_MAX) start(at);
    }
    const first = next();
    if (first === undefined) await Promise.race(running.values());
    else {
      given++;
      yield take(first);
    }
  }
}

interface Fetched {
  readonly entry: Entry;
  /** A member `body` as JSON text. */
  readonly bodyText: string;
  readonly answered: string | undefined;
}

async function fetchOne(
  { gateway, request, waitUntil, span }: RequestContext,
  served: ServedTable,
  path: string,
  budget: { bytesLeft: number },
): Promise<Fetched> {
  const headers = fieldsOfPart(request.headers);
  headers.set("accept", "application/json, */*;q=0.1");
  headers.set("accept-encoding", "identity");
  // A part is a span below that of the whole, or none either.
  if (span !== undefined) headers.set("traceparent", span.traceparent);
  // The client's state belongs to no trace that is begun here.
  if (span !== undefined && span.parent === undefined) headers.delete("tracestate");
  const { origin } = new URL(request.url);
  const { cf } = request;
  const one = new Request(origin + path, { headers, ...(cf === undefined ? {} : { cf }) });
  const context = new RequestContext(gateway, one, { waitUntil });
  if (span === undefined) context.span = undefined;
  context.served = served;
  context.table = served.table;
  context.tableLabel = served.label;
  const response = await serveBy(context, served);
  context.log(response.status);
  const answered = context.outcome === "answered" ? context.region : undefined;
  const { status } = response;
  if (answered === undefined) {
    const problem = await response.json().catch(() => null);
    return { entry: { status, problem }, bodyText: "", answered: context.region };
  }
  const body = await bodyMembers(response, budget);
  if ("error" in body) {
    const problem = problemOf(body.error ?? { ...BROKE_OFF, region: answered });
    return { entry: { status, problem }, bodyText: "", answered };
  }
  const copy = response.headers.get("waybill-copy");
  const entry = { status, ...(copy === null ? {} : { copy }), ...body.members };
  return { entry, bodyText: body.text, answered };
}

const BROKE_OFF = {
  reason: "origin-unreachable",
  fault: "http_response_incomplete",
  why: "broke off its response",
} as const;
