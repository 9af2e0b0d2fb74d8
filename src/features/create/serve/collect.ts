import { readIdempotencyKey } from "../../../formats/key-field.ts";
import { bytesOf, claimsOf, scopeOf, scopeOfClaim } from "../../../gateway/caller.ts";
import { decidePath } from "../../../gateway/decide.ts";
import { bodyError } from "../../../gateway/forward.ts";
import { decideFor } from "../../../gateway/loading.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { decodeUtf8, keepRequestBody } from "../../../proxy/body.ts";
import { codedDetail } from "../../../proxy/codings.ts";
import { rejectFenced } from "../../../proxy/deliver.ts";
import { hexOf } from "../../../routing/bytes.ts";
import { memberOf } from "../../../routing/resolve/region-sources.ts";
import type { IdDecision } from "../../../routing/table.ts";
import { fingerprintOf } from "../../idempotency/serve/keyed-request.ts";
import { countOf, isJsonFor, mintRequestOf, parentField, readJson, textAt } from "../table/request.ts";
import type { Create } from "../table/types.ts";
import type { Creation, RequestedIds } from "./choose-ids.ts";
import { type OwnId, readOwnId } from "./client-id.ts";
import { type Digest, DigestCheck, digestText, isImpossible, readContentDigest } from "./content-digest.ts";

/** The first step of a create: all that the request says. Its body as JSON ends here, so nothing holds it while an origin works. */

export interface Order extends RequestedIds {
  /** Raw path and query for the origin, with the parent's internal ID. */
  readonly target: string;
  /** `undefined`: it streams on. */
  readonly body: ArrayBuffer | undefined;
  /** `undefined`: the request may be done any number of times. */
  readonly keyed: Keyed | undefined;
}

/** The parts of a request that is done once. `check`: for a body that streams on. */
export interface Keyed {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
  /** As former versions had it; keys that they wrote hold for as long as any. */
  readonly formerFingerprint: (() => Promise<string>) | undefined;
  readonly check: DigestCheck | undefined;
}

type Claims = Readonly<Record<string, unknown>> | undefined;

/** Collects what is asked for. An error of `ids` stays: an earlier attempt with the key may have chosen them already. */
export async function collect(context: RequestContext, creation: Creation): Promise<Result<Order, GatewayError>> {
  const { create, parentEnd } = creation;
  const { gateway, request } = context;
  const key = readIdempotencyKey(request.headers.get("idempotency-key"));
  if (!key.ok) return key;
  const { isRequired, byClientId } = create.idempotency;
  const content = await readContent(context, create, key.value !== undefined || isRequired || byClientId);
  if (!content.ok) return content;
  const claims = create.readsToken ? await claimsOf(gateway, request) : ok(undefined);
  if (!claims.ok) return claims;
  const above = await parentOf(context, creation);
  if (!above.ok) return above;
  const { json } = content.value;
  const own = create.clientId === undefined ? ok(undefined) : await readOwnId(context, creation, create.clientId, json);
  const said = { json, claims: claims.value, parent: above.value?.decision };
  const ids = own.ok ? idsOf(context, creation, own.value, said) : own;
  const target = (above.value?.path ?? "") + context.path.slice(parentEnd) + context.query;
  const ownName = own.ok ? own.value?.name : undefined;
  const sent = { key: key.value, ownName, target, content: content.value };
  const keyed = await keyOf(context, create, said.claims, sent);
  return keyed.ok ? ok({ ids, parent: said.parent, target, body: content.value.bytes, keyed: keyed.value }) : keyed;
}

/** The body of a create, as far as it was read. */
interface Content {
  /** `undefined`: it streams on. */
  readonly bytes: ArrayBuffer | undefined;
  /** For a body with a key, unless it is JSON: by this it is told apart from others. */
  readonly digested: Digested | undefined;
  /** `undefined` unless it is JSON of which the table reads something. */
  readonly json: unknown;
}

interface Digested {
  readonly digest: Digest;
  readonly check: DigestCheck;
}

/** Reads the body where it decides something: a list must never be taken for one entity. */
async function readContent(
  context: RequestContext,
  create: Create,
  isKeyed: boolean,
): Promise<Result<Content, GatewayError>> {
  const { request } = context;
  const type = request.headers.get("content-type") ?? "";
  const isOne = isJsonFor(create, type);
  if (!isOne.ok) return isOne;
  const isJson = isOne.value;
  if (!isJson && !isKeyed) return ok({ bytes: undefined, digested: undefined, json: undefined });
  const declared = isKeyed ? digestOf(context) : ok(undefined);
  if (!declared.ok) return declared;
  const digested = declared.value;
  if (digested !== undefined && !isJson && mayBeLong(request, create)) {
    return ok({ bytes: undefined, digested, json: undefined });
  }
  const bytes = await readBytes(context, create, digested?.check);
  if (!bytes.ok) return bytes;
  const json = isJson ? readJson(create, decodeUtf8(bytes.value), () => codedDetail(request)) : ok(undefined);
  if (!json.ok) return json;
  return ok({ bytes: bytes.value, digested: isJson ? undefined : digested, json: json.value });
}

const mayBeLong = ({ body, headers }: Request, { bodyBytesMax }: Create): boolean => {
  const length = headers.get("content-length");
  return body !== null && (length === null || Number(length) > bodyBytesMax);
};

/** The digest that the request says its body has; `undefined` for none. */
function digestOf({ request, gateway }: RequestContext): Result<Digested | undefined, GatewayError> {
  const field = request.headers.get("content-digest");
  if (field === null) return ok(undefined);
  const digests = readContentDigest(field);
  if (digests.some(isImpossible)) return err({ reason: "digest-mismatch" });
  const [digest] = digests;
  return ok(digest && { digest, check: new DigestCheck(digests, gateway.hashOf) });
}

async function readBytes(
  { request, gateway }: RequestContext,
  { bodyBytesMax }: Create,
  check: DigestCheck | undefined,
): Promise<Result<ArrayBuffer, GatewayError>> {
  const { idleMs } = gateway.deadlines;
  const bytes = await keepRequestBody(request, bodyBytesMax, { idleMs, nowMs: gateway.clock.nowMs });
  if (bytes === "too-large") return err({ reason: "body-too-large", bytesMax: bodyBytesMax });
  if (typeof bytes === "string") return err(bodyError(bytes, idleMs));
  if (check === undefined) return ok(bytes);
  await check.update(new Uint8Array(bytes));
  return (await check.isTrue()) ? ok(bytes) : err({ reason: "digest-mismatch" });
}

/** The entity above a collection: its decision, and its own path with the internal ID. */
async function parentOf(context: RequestContext, { served, parentEnd }: Creation) {
  const { path } = context;
  if (parentEnd === 0) return ok(undefined);
  const outcome = await decideFor(context, served, (input) => decidePath(input, path.slice(0, parentEnd)));
  if (outcome.kind === "error") return err(outcome.error);
  if (outcome.kind !== "region") return err({ reason: "unrouted-path", path } as const);
  const { decision, path: ownPath } = outcome;
  const fenced = rejectFenced(decision, "POST", false);
  return fenced === undefined ? ok({ decision, path: ownPath }) : err(fenced);
}

interface Said {
  readonly json: unknown;
  readonly claims: Claims;
  readonly parent: IdDecision | undefined;
}

/** The client's own ID, or how many are to be minted for the key that the request's sources give. */
function idsOf(
  { request, client }: RequestContext,
  { create, table }: Creation,
  own: OwnId | undefined,
  { json, claims, parent }: Said,
): RequestedIds["ids"] {
  const count = countOf(create, json) ?? 1;
  if (own !== undefined) {
    return count > 1 ? err({ reason: "create-count", entity: create.entity.name, count, max: 1 }) : own.ids;
  }
  const wanted = mintRequestOf(table, create, {
    header: (name) => request.headers.get(name) ?? undefined,
    claims,
    json,
    country: () => client.country,
    parent: (field) => parent && parentField(table, parent, field),
  });
  return wanted.ok ? ok({ request: wanted.value, count }) : wanted;
}

/** `ownName`: of the ID that the client brings. */
interface Sent {
  readonly key: string | undefined;
  readonly ownName: string | undefined;
  readonly target: string;
  readonly content: Content;
}

async function keyOf(
  { method, request, gateway }: RequestContext,
  create: Create,
  claims: Claims,
  { key, ownName, target, content: { bytes, digested } }: Sent,
): Promise<Result<Keyed | undefined, GatewayError>> {
  const { isRequired, byClientId } = create.idempotency;
  // The client's own ID stands for a key.
  const text = key ?? (byClientId && ownName !== undefined ? `id:${ownName}` : undefined);
  if (text === undefined) {
    return isRequired ? err({ reason: "idempotency-key-missing", entity: create.entity.name }) : ok(undefined);
  }
  const scope = await scopeText(request, gateway.subtle, create, claims);
  if (!scope.ok) return scope;
  const contentType = request.headers.get("content-type");
  const payload = { method, target, contentType, id: key === undefined ? undefined : ownName };
  const digest = digested?.digest;
  const read = bytes && new Uint8Array(bytes);
  const fingerprintBy = (body: Uint8Array<ArrayBuffer> | string) => fingerprintOf({ ...payload, body }, gateway.subtle);
  return ok({
    scope: scope.value,
    key: text,
    fingerprint: await fingerprintBy(digest === undefined ? (read ?? NOTHING) : nameOfBody(digest)),
    formerFingerprint: digest && (() => fingerprintBy(read ?? bytesOf(digestText(digest)))),
    check: bytes === undefined ? digested?.check : undefined,
  });
}

const NOTHING = new Uint8Array();

/** The same for a body that was read as for one that streams: a proxy may send one on with a length, and its retry in chunks. */
const nameOfBody = (digest: Digest): Uint8Array<ArrayBuffer> | string =>
  digest.algorithm === "sha-256" ? hexOf(digest.bytes) : bytesOf(digestText(digest));

/** Whose keys they are: what the client cannot take from another. */
async function scopeText(
  request: Request,
  subtle: Pick<SubtleCrypto, "digest">,
  { idempotency: { scopeClaim }, entity }: Create,
  claims: Claims,
): Promise<Result<string, GatewayError>> {
  if (scopeClaim === undefined) return ok(await scopeOf(request, subtle));
  const claim = textAt(claims, scopeClaim);
  const source = `claim ${scopeClaim.join("/")}`;
  const of = { entity: entity.name, field: "idempotency scope" };
  if (claim === undefined) return err({ reason: "create-key-missing", ...of, sources: [source] });
  // Lists, and numbers that JSON rounds, are one text for many callers.
  if (isName(scopeClaim.reduce(memberOf, claims as unknown))) return ok(await scopeOfClaim(claim, subtle));
  return err({ reason: "create-key-invalid", ...of, source, value: claim });
}

const isName = (claim: unknown): boolean => (typeof claim === "string" ? claim !== "" : Number.isSafeInteger(claim));
