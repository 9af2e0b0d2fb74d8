import { bytesOf, hexDigest } from "../../../gateway/caller.ts";
import { weighCoding } from "../../../gateway/negotiate.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { collect } from "../../../proxy/body.ts";
import { begunBody, codingsOf, decodedBody } from "../../../proxy/codings.ts";
import type { Bytes } from "../../../routing/bytes.ts";
import { splitOutsideQuotes } from "../../../routing/lookup/values.ts";
import type { Begun, KeptAnswer } from "../port.ts";

/** A request with an `idempotency-key`: by which parts it is told apart, and the answer that is kept for its retries. */

type Digest = Pick<SubtleCrypto, "digest">;

/** Names one attempt: a slow one must not end the lock of a later one. */
export const attemptToken = (entropy: { word(): number }): string =>
  Array.from({ length: 4 }, () => entropy.word().toString(16)).join("-");

/** The parts that tell requests under the same key apart. */
export interface Payload {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly contentType: string | null;
  /** Or its SHA-256 in hex. */
  readonly body: Bytes | string;
  /** The one that the client brings. */
  readonly id?: string | undefined;
}

export async function fingerprintOf(payload: Payload, subtle: Digest): Promise<string> {
  const { method, target, contentType, body, id } = payload;
  const bodyHash = typeof body === "string" ? body : await hexDigest(body, subtle);
  const parts = [method, target, contentType, bodyHash, ...(id === undefined ? [] : [id])];
  return hexDigest(bytesOf(JSON.stringify(parts)), subtle);
}

/** A scope that is full gets room when its oldest key ends, which may be soon or in a day. */
const FULL_RETRY_SECONDS = 60;

/** The problem of a begin after which nothing may be done. */
export function refusalOf(begun: Extract<Begun, { readonly state: "running" | "mismatch" | "full" }>): GatewayError {
  switch (begun.state) {
    case "running":
      return { reason: "idempotency-key-in-use", retryAfterSeconds: begun.retryAfterSeconds };
    case "mismatch":
      return { reason: "idempotency-key-mismatch" };
    case "full": {
      const { max, which } = begun;
      return { reason: "idempotency-keys-exhausted", max, which, retryAfterSeconds: FULL_RETRY_SECONDS };
    }
  }
}

/** `undefined`: no answer is kept. */
type Keep = { readonly fields: ReadonlySet<string>; readonly bytesMax: number } | undefined;

/** Statuses of an origin that say nothing of the entity: with the same ID the client may try again. */
const NOT_KEPT: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);

const isResult = (status: number): boolean =>
  (status >= 200 && status < 300) || (status >= 400 && status < 500 && !NOT_KEPT.has(status));

/** Fields that are a part of the result. Cookies, dates and traces belong to one request. */
const KEPT_FIELDS: ReadonlySet<string> = new Set([
  "content-type",
  "content-language",
  "content-location",
  "content-encoding",
  "cache-control",
  "etag",
  "last-modified",
  "link",
  "location",
  "waybill-entity-id",
  "waybill-region",
  "waybill-short-key",
  "vary",
]);

const NEVER_KEPT: ReadonlySet<string> = new Set(["set-cookie", "date", "traceparent", "tracestate", "server-timing"]);

/** Names the fields of an answer that could not be kept. */
const LOST_FIELDS = "waybill-lost-fields";

/**
 * A field's value is bytes (RFC 9110 §5.5), which the runtime hands over as UTF-8: it writes the same bytes again, but for those
 * that are none, which it has replaced by this.
 */
const NOT_UTF8 = "\ufffd";

/** The handling of an answer. The response goes on with the same bytes as are kept. */
interface Keeping {
  readonly response: Response;
  /** As it is kept, once it is whole; `undefined` where it is none to keep. */
  readonly answer: Promise<KeptAnswer | undefined>;
  readonly isResult: boolean;
  /** Whether its length is known, and little. */
  readonly isShort: boolean;
}

export function keepAnswer(context: RequestContext, keep: Keep, response: Response): Keeping {
  const { status, body, headers } = response;
  if (keep === undefined || context.outcome !== "answered" || !isResult(status)) {
    return { response, answer: Promise.resolve(undefined), isResult: false, isShort: false };
  }
  const all = [...headers].filter(
    ([name]) => !NEVER_KEPT.has(name) && (KEPT_FIELDS.has(name) || keep.fields.has(name)),
  );
  const fields = all.filter(([, value]) => !value.includes(NOT_UTF8));
  const lost = new Set(all.filter(([, value]) => value.includes(NOT_UTF8)).map(([name]) => name));
  if (lost.size > 0) fields.push([LOST_FIELDS, [...lost].join(", ")]);
  const answerOf = (bytes: Uint8Array | undefined) => bytes && { status, fields, body: bytes };
  if (body === null) {
    return { response, answer: Promise.resolve(answerOf(new Uint8Array())), isResult: true, isShort: true };
  }
  const [own, others] = body.tee();
  const length = headers.get("content-length");
  return {
    response: new Response(others, response),
    // Neither one that is longer, nor one that breaks off.
    answer: collect(own, keep.bytesMax).then(
      (all) => answerOf(all && new Uint8Array(all)),
      () => undefined,
    ),
    isResult: true,
    isShort: length !== null && Number(length) <= keep.bytesMax,
  };
}

/** The kept answer of an earlier request with the key, in a coding that this one accepts (RFC 9110 §12.5.3). */
export async function replayed(
  context: RequestContext,
  { answer, record, untilMs }: Extract<Begun, { readonly state: "done" }>,
): Promise<Response> {
  const { status } = answer;
  const headers = new Headers(answer.fields.map(([name, value]) => [name, value]));
  const bytes = new Uint8Array(answer.body);
  const body = status === 204 || status === 205 ? null : await recoded(context.request, headers, bytes);
  if (body !== null && "reason" in body) return context.fail(body);
  context.outcome = "replayed";
  context.entity = record.entity;
  // Empty for IDs of several regions.
  context.region = record.region || undefined;
  headers.set("idempotent-replayed", "true");
  return withKeyFields(new Response(body, { status, headers, encodeBody: "manual" }), untilMs, true);
}

/** Fields that hold for the bytes of one coding alone (RFC 9530 §2, §3). */
const OF_CODING = ["content-encoding", "content-length", "content-digest", "repr-digest", "content-md5", "digest"];

async function recoded(
  request: Request,
  headers: Headers,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream | GatewayError> {
  const field = headers.get("content-encoding");
  const codings = codingsOf(field);
  if (codings.length === 0 || bytes.byteLength === 0) return bytes;
  const varied = splitOutsideQuotes(headers.get("vary")?.toLowerCase() ?? "", ",");
  if (!varied.includes("accept-encoding") && !varied.includes("*")) headers.append("vary", "accept-encoding");
  const accepted = request.headers.get("accept-encoding");
  const weights = codings.map((coding) => weighCoding(accepted, coding));
  if (weights.every(({ coded, identity }) => coded > 0 && coded >= identity)) return bytes;
  const decoded = decodedBody(new Response(bytes).body as ReadableStream<Uint8Array>, field, { asksReadable: false });
  const begun = decoded.ok ? await begunBody(decoded.value) : undefined;
  if (begun !== undefined) {
    for (const name of OF_CODING) headers.delete(name);
    const etag = headers.get("etag");
    // Two codings have no strong validator in common (RFC 9110 §8.8.3.3).
    if (etag?.startsWith('"')) headers.set("etag", `W/${etag}`);
    return begun;
  }
  // Without the field all codings are accepted.
  if (accepted === null || weights.every(({ coded }) => coded > 0)) return bytes;
  return { reason: "coding-not-accepted", coding: codings.join(", ") };
}

/** Until when the key holds, and what the client may do. */
export function withKeyFields(answer: Response, untilMs: number, isResult: boolean): Response {
  // A problem of our own says it already.
  if (answer.status === 101 || answer.headers.has("waybill-retry")) return answer;
  const response = new Response(answer.body, answer);
  response.headers.set("waybill-retry", isResult && answer.status >= 400 ? "new-key" : "same-key");
  response.headers.set("waybill-key-until", new Date(untilMs).toUTCString());
  return response;
}
