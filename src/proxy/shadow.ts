import type { Clock, Entropy, ProxyPorts, ResponseDifference, ShadowOutcome, Shadows } from "../ports.ts";
import type { Region } from "../routing/table.ts";
import type { OriginResponse } from "./attempt.ts";
import { asksUpgrade, type OriginRequest, originRequest, type ProxyRequest, signableOf } from "./origin-request.ts";
import { edgeFailure } from "./origin-response.ts";
import { chooseOrigin } from "./origins.ts";

/** What two answers to one request are held to: status and some fields, as far as two regions must agree in them. */

/** A kept part of an answer: its status, and the shape of each compared field. */
export interface ResponseShape {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
}

/** A field with what of its value must be the same. Absence is a value too. */
interface ComparedField {
  readonly name: string;
  readonly shapeOf: (value: string) => string;
}

const ABSENT = "absent";

/** The fields that a client acts on. What is absent here differs between sound answers: dates, cookies, server names. */
const COMPARED_FIELDS: readonly ComparedField[] = [
  // Parameters as well: another charset reads other text. Case and white space mean nothing (RFC 9110 §8.3.1).
  { name: "content-type", shapeOf: (value) => value.toLowerCase().replace(/\s/g, "") },
  { name: "content-encoding", shapeOf: (value) => value.toLowerCase() },
  { name: "content-length", shapeOf: (value) => value },
  // Each region may write its own, but a client that gets none cannot ask for changes (RFC 9110 §8.8.3).
  { name: "etag", shapeOf: () => "present" },
  // A list whose order means nothing (RFC 9111 §5.2).
  { name: "cache-control", shapeOf: (value) => listOf(value).toSorted().join() },
  { name: "location", shapeOf: (value) => locationShape(value) },
];

/** Taken at once, before anybody changes the answer's fields. */
export function shapeOf({ status, headers }: Response): ResponseShape {
  const fields: Record<string, string> = {};
  for (const { name, shapeOf: shape } of COMPARED_FIELDS) {
    const value = headers.get(name);
    fields[name] = value === null ? ABSENT : shape(value);
  }
  return { status, fields };
}

/** The names of the fields in which two answers differ. */
export function differingFields(a: ResponseShape, b: ResponseShape): readonly string[] {
  return COMPARED_FIELDS.filter(({ name }) => {
    const [left, right] = [a.fields[name], b.fields[name]];
    // A server may leave the length out of any answer, and chunk it (RFC 9110 §8.6).
    if (name === "content-length" && (left === ABSENT || right === ABSENT)) return false;
    return left !== right;
  }).map(({ name }) => name);
}

const listOf = (value: string): readonly string[] =>
  value
    .toLowerCase()
    .split(",")
    .map((entry) => entry.trim());

/**
 * Whether it leads to another host, how deep its path is, and which names its query has: hosts differ by region, and what
 * stands in the path may be new for each request.
 */
function locationShape(value: string): string {
  const [target = "", ...fragment] = value.split("#");
  const [place = "", query = ""] = target.split("?", 2);
  const [, authority, path = ""] = /^(?:[a-z][a-z0-9+.-]*:)?(\/\/[^/]*)?(.*)$/i.exec(place) ?? [];
  const names = [...new URLSearchParams(query).keys()].toSorted();
  return JSON.stringify([authority !== undefined, path.split("/").length, names, fragment.length > 0]);
}

/** A difference that stands for itself and for those before it that were left out of the log. */
export interface LoggedDifference extends ResponseDifference {
  readonly shadow: string;
  readonly suppressed: number;
}

export interface ShadowDeps {
  readonly clock: Clock;
  readonly count: (region: string, outcome: ShadowOutcome) => void;
  readonly log: (difference: LoggedDifference) => void;
}

/** So few at once cannot crowd out the clients' own requests. */
const IN_FLIGHT_MAX = 8;

/** Where one answer differs, thousands may. */
const LOG_EVERY_MS = 1_000;

/** The shadows of one isolate: how many requests to them are under way, and what became of them. */
export function isolateShadows({ clock, count, log }: ShadowDeps): Shadows {
  let inFlight = 0;
  let nextMs = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return {
    admit: (region) => {
      if (inFlight < IN_FLIGHT_MAX) {
        inFlight += 1;
        return true;
      }
      count(region, "dropped");
      return false;
    },
    report: (region, outcome, difference) => {
      inFlight -= 1;
      count(region, outcome);
      if (difference === undefined) return;
      const nowMs = clock.nowMs();
      if (nowMs < nextMs) suppressed += 1;
      else {
        log({ ...difference, shadow: region, suppressed });
        nextMs = nowMs + LOG_EVERY_MS;
        suppressed = 0;
      }
    },
  };
}

/** A slower shadow has shown enough; no client waits for it. */
const SHADOW_DEADLINE_MS = 5_000;

/**
 * Sends a sample of the reads to the shadow of their route too, once the client's answer is on its way. To be called with
 * the origin's answer as it came: what is compared of it is taken at once. It never throws and never waits.
 */
export function mirrorToShadow(
  proxyRequest: ProxyRequest,
  { response, region }: Pick<OriginResponse, "response" | "region">,
  deps: ProxyPorts,
  deadlineMs = SHADOW_DEADLINE_MS,
): void {
  const shadow = sampledShadow(proxyRequest, region, deps.entropy);
  if (shadow === undefined || response.status === 101 || asksUpgrade(proxyRequest)) return;
  if (!deps.shadows.admit(shadow.name)) return;
  const answered = shapeOf(response);
  const work = async (): Promise<void> => {
    await clientsTurn();
    const answer = await sendToShadow(proxyRequest, shadow, deps, deadlineMs).catch(() => undefined);
    if (answer === undefined) deps.shadows.report(shadow.name, "failed");
    else if (answer.status !== answered.status) {
      deps.shadows.report(shadow.name, "status-differs", differenceOf(proxyRequest, region, answered, answer));
    } else if (differingFields(answered, answer).length > 0) {
      deps.shadows.report(shadow.name, "headers-differ", differenceOf(proxyRequest, region, answered, answer));
    } else deps.shadows.report(shadow.name, "match");
  };
  proxyRequest.waitUntil(work());
}

/** The shadow that this request is to be sent to; most requests have none. */
function sampledShadow(
  { method, body, decision }: ProxyRequest,
  answeredBy: Region,
  entropy: Entropy,
): Region | undefined {
  const { shadow } = decision.target;
  if (shadow === undefined || shadow.region === answeredBy) return undefined;
  if ((method !== "GET" && method !== "HEAD") || body.kind !== "none") return undefined;
  return entropy.word() < shadow.share * 2 ** 32 ? shadow.region : undefined;
}

/** Lets the handler hand over the client's answer before anything is sent. */
const clientsTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Rejects where there is no answer in time, or none of the origin's own. */
async function sendToShadow(
  proxyRequest: ProxyRequest,
  region: Region,
  deps: ProxyPorts,
  deadlineMs: number,
): Promise<ResponseShape> {
  const at = { region, origin: chooseOrigin(region, proxyRequest.decision.identity) };
  const { fetch, isOnEdge } = deps;
  const signature = deps.sign && (await deps.sign(signableOf(proxyRequest, at)));
  const outgoing = originRequest(proxyRequest, at, deps, signature);
  if (outgoing === undefined) throw new Error("the request loops");
  const response = await within(deadlineMs, (signal) =>
    fetch(outgoing.url, shadowed(outgoing, signal), at.origin.binding),
  );
  void response.body?.cancel().catch(() => undefined);
  if (isOnEdge && edgeFailure(response.status) !== undefined) throw new Error("the shadow cannot be reached");
  return shapeOf(response);
}

/** A header tells the origin that its response is not read. */
function shadowed({ init }: OriginRequest, signal: AbortSignal): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("waybill-shadow", "1");
  return { ...init, headers, signal };
}

/** Rejects when the answer has not begun in time, and gives up the connection. */
async function within(deadlineMs: number, ask: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const abort = new AbortController();
  const late = new Promise<never>((_, reject) => {
    abort.signal.addEventListener("abort", () => reject(new Error("the shadow is late")));
  });
  const timer = setTimeout(() => abort.abort(), deadlineMs);
  try {
    return await Promise.race([ask(abort.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

function differenceOf(
  { method, decision }: ProxyRequest,
  region: Region,
  answered: ResponseShape,
  shadow: ResponseShape,
): ResponseDifference {
  const { entity, id } = decision;
  return {
    entity: entity.name,
    id: entity.public === undefined ? id : undefined,
    method,
    region: region.name,
    status: answered.status,
    shadowStatus: shadow.status,
    fields: differingFields(answered, shadow),
  };
}
