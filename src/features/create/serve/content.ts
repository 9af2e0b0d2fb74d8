import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { BROKEN_BODY } from "../../../proxy/attempt.ts";
import { decodeUtf8, keepRequestBody } from "../../../proxy/body.ts";
import { codedDetail } from "../../../proxy/codings.ts";
import { pump } from "../../../proxy/pump.ts";
import { duplicateKey, parseJson } from "../../../routing/index.ts";
import { countOf } from "../table/request.ts";
import type { Create } from "../table/types.ts";
import { type Digest, DigestCheck, isImpossible, readContentDigest } from "./content-digest.ts";

/** The body of a create, as far as it was read. */
export interface Content {
  /** `undefined`: it streams on. */
  readonly bytes: ArrayBuffer | undefined;
  /** For a body with a key that streams on: by this it is told apart from others. */
  readonly streamed: { readonly digest: Digest; readonly check: DigestCheck } | undefined;
  /** `undefined` unless it is JSON of which the table reads something. Dropped once that is read. */
  json: unknown;
}

/** Problems have a media type of their own; so do many JSON formats (RFC 6839 §3.1). A field sent twice is joined by a comma. */
const JSON_TYPE = /(?:^|,)[ \t]*[^\s/,;]+\/(?:[^\s/,;]+\+)?json[ \t]*(?:$|[;,])/i;

/** Many values, one a line or record (RFC 7464). */
const JSON_LINES_TYPE =
  /(?:^|,)[ \t]*[^\s/,;]+\/(?:(?:x-)?(?:ndjson|jsonl(?:ines)?)|(?:[^\s/,;]+\+)?json-seq)[ \t]*(?:$|[;,])/i;

/** Reads the body where it decides something: a list must never be taken for one entity. */
export async function readContent(
  context: RequestContext,
  create: Create,
  isKeyed: boolean,
): Promise<Result<Content, GatewayError>> {
  const { request, gateway } = context;
  const type = request.headers.get("content-type") ?? "";
  const isJson = JSON_TYPE.test(type);
  if (JSON_LINES_TYPE.test(type) || (create.bulk !== undefined && !isJson)) {
    return err({ reason: "create-count", entity: create.entity.name, count: undefined, max: create.bulk?.max });
  }
  if (!isJson && !isKeyed) return ok({ bytes: undefined, streamed: undefined, json: undefined });
  const digests = isKeyed ? readContentDigest(request.headers.get("content-digest")) : [];
  const [digest] = digests;
  if (digests.some(isImpossible)) return err({ reason: "digest-mismatch" });
  const check = new DigestCheck(digests, gateway.hashOf);
  const length = request.headers.get("content-length");
  const isLong = request.body !== null && (length === null || Number(length) > create.bodyBytesMax);
  if (isLong && !isJson && digest !== undefined) {
    return ok({ bytes: undefined, streamed: { digest, check }, json: undefined });
  }
  const { idleMs } = gateway.deadlines;
  const bytes = await keepRequestBody(request, create.bodyBytesMax, { idleMs, nowMs: gateway.clock.nowMs });
  if (bytes === "too-large") return err({ reason: "body-too-large", bytesMax: create.bodyBytesMax });
  if (bytes === "late") return err({ reason: "request-timeout", idleMs });
  if (bytes === "coded") return err({ reason: "transfer-coding-unsupported" });
  if (typeof bytes === "string") return err({ reason: "malformed-request", detail: BROKEN_BODY });
  if (digest !== undefined) {
    await check.update(new Uint8Array(bytes));
    if (!(await check.isTrue())) return err({ reason: "digest-mismatch" });
  }
  const text = isJson ? decodeUtf8(bytes) : undefined;
  const json = text === undefined ? undefined : parseJson(text);
  // A body that cannot be read may be a list. An empty body is none.
  if (isJson && json === undefined && (create.readsBody || bytes.byteLength > 0)) {
    const detail = codedDetail(request) ?? "The body is not JSON in UTF-8.";
    return err({ reason: "malformed-request", detail });
  }
  const twice = create.readsBody && text !== undefined ? duplicateKey(text) : undefined;
  if (twice !== undefined) {
    return err({ reason: "malformed-request", detail: `The body has the key ${JSON.stringify(twice)} twice.` });
  }
  const count = countOf(create, json);
  if (count === undefined || count === 0 || count > (create.bulk?.max ?? 1)) {
    return err({ reason: "create-count", entity: create.entity.name, count, max: create.bulk?.max });
  }
  // Values take up to twenty times the memory of their text, for as long as the origin is waited for.
  return ok({ bytes, streamed: undefined, json: create.readsBody ? json : undefined });
}

/** Reads a body that streams to its end, for an answer that is known already: why it is not the one that was answered. */
export async function verifyStreamed(
  { request: { body }, gateway }: RequestContext,
  check: DigestCheck,
): Promise<GatewayError | undefined> {
  if (body === null) return undefined;
  const { idleMs } = gateway.deadlines;
  const end = await pump(body, new WritableStream(), { idleMs, untilMs: undefined, nowMs: gateway.clock.nowMs, check });
  if (end === "complete") return undefined;
  if (end === "false-digest") return { reason: "digest-mismatch" };
  return end === "idle" ? { reason: "request-timeout", idleMs } : { reason: "malformed-request", detail: BROKEN_BODY };
}
