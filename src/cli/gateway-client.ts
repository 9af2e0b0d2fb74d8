import { createHash } from "node:crypto";
import * as v from "valibot";
import { err, ok, type Result } from "../ids/index.ts";
import { type GatewayOptions, gatewayAddress } from "./gateway-address.ts";
import {
  type Audience,
  type AuditEntry,
  auditSchema,
  capacitySchema,
  packSchema,
  type Revision,
  readySchema,
  revisionSchema,
  revisionsSchema,
  type Status,
  type StoredPack,
  statusSchema,
} from "./gateway-answers.ts";
import { askGateway, type GatewayFailure, type GatewayRequest, readObject } from "./gateway-request.ts";
import type { World } from "./world.ts";

type Answer<Value> = Promise<Result<Value, GatewayFailure>>;

/** The text of a revision, octet for octet. */
export interface RevisionText {
  readonly revision: number;
  /** SHA-256 of the octets in lower-case hex. */
  readonly digest: string;
  readonly octets: Uint8Array<ArrayBuffer>;
}

/** A change, made only if `expect` is the last revision still. */
export interface Wish {
  readonly expect: number;
  readonly note: string;
}

/** What a gateway lists at once. */
export const PAGE_ENTRIES_MAX = 100;

/** Newest first: `limit` of those below `before`. */
export interface Stretch {
  readonly before?: number;
  readonly limit: number;
}

/** The gateway's pages under `/-/table`. */
export interface GatewayClient {
  /** Without a slash at the end. */
  readonly url: string;
  /** Without a number the revision in force. */
  readonly text: (revision?: number) => Answer<RevisionText>;
  readonly publish: (octets: Uint8Array<ArrayBuffer>, wish: Wish) => Answer<Revision>;
  readonly rollback: (to: number, wish: Wish) => Answer<Revision>;
  readonly startCanary: (octets: Uint8Array, audience: Audience, wish: Wish) => Answer<Revision>;
  readonly endCanary: (end: "promote" | "abort", wish: Wish) => Answer<Revision>;
  readonly revisions: (stretch: Stretch) => Answer<readonly Revision[]>;
  readonly audit: (stretch: Stretch) => Answer<readonly AuditEntry[]>;
  readonly status: () => Answer<Status>;
  readonly capacity: () => Answer<v.InferOutput<typeof capacitySchema>>;
  /** Asks the gateway for its own verdict; its faults come as the problem `invalid-table`. */
  readonly check: (octets: Uint8Array<ArrayBuffer>) => Answer<undefined>;
  /** What of a pack is there, by the digest of its header. */
  readonly pack: (sha256: string) => Answer<StoredPack>;
  readonly putPart: (sha256: string, part: PackPart) => Answer<StoredPack>;
  /** What `/-/ready` says of the table that the answering isolate holds. */
  readonly ready: () => Answer<Sight>;
}

/** A part of a pack: its header, or a page by its number. */
export interface PackPart {
  readonly part: "header" | number;
  readonly octets: Uint8Array<ArrayBuffer>;
}

export interface Sight {
  readonly revision: number;
  readonly source: string;
  /** Revision of the canary that decides about some of the IDs. */
  readonly canary: number | undefined;
}

/** The gateway that the options and the environment name. The error is a sentence for stderr. */
export const openGateway = (options: GatewayOptions, world: World): Result<GatewayClient, string> => {
  const address = gatewayAddress(options, world);
  if (!address.ok) return address;
  const send = (request: GatewayRequest) => askGateway(address.value, request, world.fetch);
  const read = async <Schema extends v.GenericSchema>(request: GatewayRequest, schema: Schema) => {
    const answer = await send(request);
    if (!answer.ok) return answer;
    const parsed = v.safeParse(schema, readObject(answer.value.octets));
    return parsed.success ? ok(parsed.output) : err(strange(answer.value.status, parsed.issues[0]));
  };
  const post = (path: string, body: string, expect: number) =>
    read({ method: "POST", path, headers: { ...JSON_TYPE, ...ifMatch(expect) }, body }, revisionSchema);
  const change = (path: string, body: object, { expect, note }: Wish) =>
    post(path, JSON.stringify({ ...body, ...noted(note) }), expect);
  const list = <Schema extends v.GenericSchema>(path: string, { before, limit }: Stretch, schema: Schema) =>
    read({ method: "GET", path: `${path}?limit=${limit}${before === undefined ? "" : `&before=${before}`}` }, schema);
  return ok({
    url: address.value.url,
    text: async (revision) => {
      const path = revision === undefined ? "/-/table" : `/-/table/revisions/${revision}`;
      const answer = await send({ method: "GET", path });
      return answer.ok ? readText(answer.value.status, answer.value.header, answer.value.octets) : answer;
    },
    publish: (octets, { expect, note }) =>
      read(
        {
          method: "PUT",
          path: "/-/table",
          headers: { ...JSON_TYPE, ...ifMatch(expect), ...noteField(note) },
          body: octets,
        },
        revisionSchema,
      ),
    rollback: (to, wish) => change("/-/table/rollback", { to }, wish),
    startCanary: (octets, audience, { expect, note }) => {
      const rest = JSON.stringify({ ...audience, ...noted(note) }).slice(1);
      // Octet for octet, so that the canary has the digest of the file.
      return post("/-/table/canary", `{"table":${new TextDecoder().decode(octets)},${rest}`, expect);
    },
    endCanary: (end, wish) => change(`/-/table/${end}`, {}, wish),
    revisions: async (stretch) =>
      mapOk(await list("/-/table/revisions", stretch, revisionsSchema), (page) => page.revisions),
    audit: async (stretch) => mapOk(await list("/-/table/audit", stretch, auditSchema), (page) => page.entries),
    status: () => read({ method: "GET", path: "/-/table/status" }, statusSchema),
    capacity: () => read({ method: "GET", path: "/-/table/capacity" }, capacitySchema),
    check: async (octets) =>
      mapOk(await send({ method: "POST", path: "/-/table/check", headers: JSON_TYPE, body: octets }), () => undefined),
    pack: (sha256) => read({ method: "GET", path: packPath(sha256) }, packSchema),
    putPart: (sha256, { part, octets }) =>
      read(
        {
          method: "PUT",
          path: part === "header" ? packPath(sha256) : `${packPath(sha256)}/${part}`,
          headers: { "content-type": "application/octet-stream" },
          body: octets,
        },
        packSchema,
      ),
    ready: async () => {
      const answer = await send({ method: "GET", path: "/-/ready" });
      if (!answer.ok) return answer;
      const { status, header, octets } = answer.value;
      const body = v.safeParse(readySchema, readObject(octets));
      return body.success
        ? readSight(status, header("waybill-table"), body.output)
        : err(strange(status, body.issues[0]));
    },
  });
};

const packPath = (sha256: string) => `/-/table/packs/${sha256}`;
const JSON_TYPE = { "content-type": "application/json" };
const ifMatch = (revision: number) => ({ "if-match": `"${revision}"` });
const noted = (note: string) => (note === "" ? {} : { note });
/** Fields of HTTP hold no UTF-8 (RFC 9110 §5.5). */
const noteField = (note: string) => (note === "" ? {} : { "waybill-note": encodeURIComponent(note) });

const mapOk = <From, To>(result: Result<From, GatewayFailure>, map: (value: From) => To): Result<To, GatewayFailure> =>
  result.ok ? ok(map(result.value)) : result;

const strange = (status: number, issue: v.BaseIssue<unknown>): GatewayFailure => ({
  reason: "strange",
  status,
  why: `this command cannot read it (${v.getDotPath(issue) ?? "the whole answer"}: ${issue.message}); it may be older or newer than the gateway`,
});

/** A text that does not have the digest that stands beside it was changed on its way. */
const readText = (
  status: number,
  header: (name: string) => string | undefined,
  octets: Uint8Array<ArrayBuffer>,
): Result<RevisionText, GatewayFailure> => {
  const digest = createHash("sha256").update(octets).digest("hex");
  const named = header("waybill-revision") ?? "";
  if (!/^\d{1,15}$/.test(named))
    return err({ reason: "strange", status, why: "it does not say which revision that is" });
  if (header("waybill-digest") !== digest)
    return err({ reason: "strange", status, why: "the table is not the one of its digest" });
  return ok({ revision: Number(named), digest, octets });
};

const readSight = (
  status: number,
  label: string | undefined,
  { canary }: v.InferOutput<typeof readySchema>,
): Result<Sight, GatewayFailure> => {
  const [, revision, source] = /^rev=(\d{1,15}); source=([a-z-]+);/.exec(label ?? "") ?? [];
  if (revision === undefined || source === undefined)
    return err({ reason: "strange", status, why: "it does not say by which table it routes" });
  return ok({ revision: Number(revision), source, canary: canary?.revision });
};
