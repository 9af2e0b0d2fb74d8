import { createHash } from "node:crypto";
import * as v from "valibot";
import { type CanaryVerdict, figuresFrom, type VerdictCondition } from "../../formats/canary-verdict.ts";
import { type CanaryMember, canaryMember } from "../../formats/console-canary.ts";
import * as api from "../../formats/table-api.ts";
import { NOTE_HEADER } from "../../formats/table-requests.ts";
import { err, ok, type Result } from "../../ids/index.ts";
import { checkTable, type Explanation, type Fault } from "../../routing/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { escapeControls } from "../lib/output.ts";
import { checkText, readTableFile, type Shown, type TableFile, valid } from "../lib/table-file.ts";
import { fail, misuse, type Runtime } from "../runtime.ts";
import type { GatewayAddress, GatewayFailure, GatewayOptions, GatewayRequest, GatewayResponse } from "./http.ts";
import { answerOf, gatewayAddress, readObject, sendRequest } from "./http.ts";

type Answer<Value> = Promise<Result<Value, GatewayFailure>>;

/** Applied only if `expectedRevision` is still the latest revision. */
export type ChangeRequest = { readonly expectedRevision: number; readonly note: string };

/** Newest first: `limit` of those below `before`. */
export type PageQuery = { readonly before?: number; readonly limit: number };

export type PackPart = { readonly part: "header" | number; readonly bytes: Uint8Array<ArrayBuffer> };

/** The gateway by options and environment. `hint`: after an error. */
export const openGateway = (options: GatewayOptions, runtime: Runtime, hint = ""): GatewayClient => {
  const address = gatewayAddress(options, runtime);
  return address.ok ? connect(address.value, runtime) : misuse(address.error + hint);
};

export type GatewayClient = ReturnType<typeof connect>;

const connect = (address: GatewayAddress, runtime: Runtime) => {
  const send = (request: GatewayRequest) => sendRequest(address, request, runtime);
  const read = async <Schema extends v.GenericSchema>(request: GatewayRequest, schema: Schema) => {
    const answer = await send(request);
    if (!answer.ok) return answer;
    const parsed = v.safeParse(schema, readObject(answer.value.bytes));
    return parsed.success ? ok(parsed.output) : err(unexpected(answer.value.status, parsed.issues[0]));
  };
  const get = <Schema extends v.GenericSchema>(path: string, schema: Schema) => read({ method: "GET", path }, schema);
  const post = (path: string, body: string, expect: number) =>
    read({ method: "POST", path, headers: { ...JSON_TYPE, ...ifMatch(expect) }, body }, api.revisionSchema);
  const change = (path: string, body: object, { expectedRevision, note }: ChangeRequest) =>
    post(path, JSON.stringify({ ...body, ...noted(note) }), expectedRevision);
  const list = <Schema extends v.GenericSchema>(path: string, { before, limit }: PageQuery, schema: Schema) =>
    get(`${path}?limit=${limit}${before === undefined ? "" : `&before=${before}`}`, schema);
  return {
    url: address.url,
    /** Without a number, the current revision. */
    text: async (revision?: number) => {
      const path = revision === undefined ? "/-/table" : `/-/table/revisions/${revision}`;
      const answer = await send({ method: "GET", path });
      return answer.ok ? readText(answer.value) : answer;
    },
    publish: (body: Uint8Array<ArrayBuffer>, { expectedRevision, note }: ChangeRequest) => {
      const headers = { ...JSON_TYPE, ...ifMatch(expectedRevision), ...noteField(note) };
      return read({ method: "PUT", path: "/-/table", headers, body }, api.revisionSchema);
    },
    rollback: (to: number, request: ChangeRequest) => change("/-/table/rollback", { to }, request),
    startCanary: (bytes: Uint8Array, audience: api.Audience, { expectedRevision, note }: ChangeRequest) => {
      const rest = JSON.stringify({ ...audience, ...noted(note) }).slice(1);
      // Byte for byte, so that digest of canary and file are equal.
      return post("/-/table/canary", `{"table":${new TextDecoder().decode(bytes)},${rest}`, expectedRevision);
    },
    endCanary: (end: "promote" | "abort", request: ChangeRequest) => change(`/-/table/${end}`, {}, request),
    revisions: async (page: PageQuery) =>
      mapOk(await list("/-/table/revisions", page, api.revisionsSchema), ({ revisions }) => revisions),
    audit: async (page: PageQuery) =>
      mapOk(await list("/-/table/audit", page, api.auditSchema), ({ entries }) => entries),
    status: () => get("/-/table/status", api.statusSchema),
    /** Answers to the canary's requests since a time, beside those of the table in force. */
    verdict: (begun: string) => get(`/-/metrics/history?span=hour&from=${figuresFrom(begun)}`, VERDICT),
    capacity: () => get("/-/table/capacity", api.capacitySchema),
    /** Validates a table at the gateway. Faults come as the problem `invalid-table`. */
    check: async (body: Uint8Array<ArrayBuffer>): Answer<undefined> =>
      mapOk(await send({ method: "POST", path: "/-/table/check", headers: JSON_TYPE, body }), () => undefined),
    pack: (sha256: string) => get(packPath(sha256), api.packSchema),
    putPart: (sha256: string, { part, bytes: body }: PackPart) => {
      const path = part === "header" ? packPath(sha256) : `${packPath(sha256)}/${part}`;
      return read(
        { method: "PUT", path, headers: { "content-type": "application/octet-stream" }, body },
        api.packSchema,
      );
    },
    /** The explanation of an ID, and the revision that it is by. `learned`: where an origin said that the entity is. */
    explain: async (id: string, layoutName: string | undefined) => {
      const headers = layoutName === undefined ? {} : { "id-layout": layoutName };
      const answer = await send({ method: "GET", path: `/-/ids/${encodeURIComponent(id)}`, headers });
      if (!answer.ok) return answer;
      const { status, header, bytes } = answer.value;
      const parsed = v.safeParse(EXPLANATION, readObject(bytes));
      const [, revision] = /^rev=(\d{1,15});/.exec(header("waybill-table") ?? "") ?? [];
      if (!parsed.success) return err(unexpected(status, parsed.issues[0]));
      return ok({ explanation: parsed.output as unknown as LearnedExplanation, revision: Number(revision) });
    },
    /** Where a whole request would go. */
    explainRequest: (request: object) =>
      read({ method: "POST", path: "/-/explain", headers: JSON_TYPE, body: JSON.stringify(request) }, EXPLAINED),
    /** Everything known of an idempotency key, of all callers. */
    idempotency: (key: string) => get(`/-/idempotency/${encodeURIComponent(key)}`, KEY_ENTRIES),
    events: (page: PageQuery) => list("/-/events/log", page, EVENT_LOG),
    /** The table version of the responding isolate. */
    ready: async () => {
      const answer = await send({ method: "GET", path: "/-/ready" });
      return answer.ok ? readVersion(answer.value) : answer;
    },
  };
};

const canaryVerdict = v.object({
  verdict: v.pipe(
    v.string(),
    v.transform((text) => text as CanaryVerdict["verdict"]),
  ),
  words: v.string(),
  worse: v.array(v.object({ class: v.string(), canary: v.number(), inForce: v.number() })),
  conditions: v.optional(
    v.array(
      v.object({
        name: v.pipe(
          v.string(),
          v.transform((text) => text as VerdictCondition["name"]),
        ),
        holds: v.nullable(v.boolean()),
        value: v.nullable(v.number()),
        bound: v.number(),
      }),
    ),
  ),
});

const VERDICT = v.object({ source: v.string(), canaryVerdict });

const EXPLAINED = v.looseObject({ places: v.array(v.string()), ids: v.array(v.looseObject({})), ...canaryMember });

const EXPLANATION = v.looseObject({
  text: v.string(),
  candidates: v.array(v.looseObject({})),
  forms: v.array(v.looseObject({})),
  ...canaryMember,
});

/** A later gateway may send more. */
const KEY_ENTRY = v.looseObject({
  scope: v.string(),
  state: v.string(),
  entity: v.string(),
  id: v.string(),
  region: v.string(),
  revision: v.number(),
  attempts: v.number(),
  startedAt: v.string(),
  until: v.string(),
  answer: v.optional(v.looseObject({ status: v.number(), bytes: v.number() })),
});

export type KeyEntry = v.InferOutput<typeof KEY_ENTRY>;

const KEY_ENTRIES = v.looseObject({ key: v.string(), entries: v.array(KEY_ENTRY) });

/** A later gateway may send more. */
const EVENT = v.looseObject({
  id: v.number(),
  time: v.string(),
  kind: v.string(),
  type: v.string(),
  words: v.string(),
  isOver: v.optional(v.boolean()),
});

export type ShownEvent = v.InferOutput<typeof EVENT>;

const EVENT_LOG = v.object({
  source: v.string(),
  events: v.array(EVENT),
  next: v.nullable(v.number()),
  webhook: v.nullable(v.object({ waiting: v.number(), lastFailure: v.nullable(v.string()), isGone: v.boolean() })),
});

export type ShownEvents = v.InferOutput<typeof EVENT_LOG>;

type LearnedExplanation = Explanation & CanaryMember & { readonly learned?: { readonly region: string } };

const packPath = (sha256: string) => `/-/table/packs/${sha256}`;
const JSON_TYPE = { "content-type": "application/json" };
const ifMatch = (revision: number) => ({ "if-match": `"${revision}"` });
const noted = (note: string) => (note === "" ? {} : { note });
/** Headers contain no UTF-8 (RFC 9110 §5.5). */
const noteField = (note: string) => (note === "" ? {} : { [NOTE_HEADER]: encodeURIComponent(note) });

const mapOk = <From, To>(result: Result<From, GatewayFailure>, map: (value: From) => To): Result<To, GatewayFailure> =>
  result.ok ? ok(map(result.value)) : result;

const strange = (status: number, why: string): GatewayFailure => ({ reason: "strange", status, why });

const unexpected = (status: number, issue: v.BaseIssue<unknown>): GatewayFailure => {
  const what = `${v.getDotPath(issue) ?? "the whole answer"}: ${issue.message}`;
  return strange(status, `this command cannot read it (${what}); its version may differ from the gateway's`);
};

/** The bytes of a revision with their SHA-256. A text with another digest was changed in transit. */
const readText = ({ status, header, bytes }: GatewayResponse) => {
  const digest = createHash("sha256").update(bytes).digest("hex");
  const named = header("waybill-revision") ?? "";
  if (!/^\d{1,15}$/.test(named)) return err(strange(status, "it does not name the revision"));
  if (header("waybill-digest") === digest) return ok({ revision: Number(named), digest, bytes });
  return err(strange(status, "the table does not match its digest"));
};

const readVersion = ({ status, header, bytes }: GatewayResponse) => {
  const body = v.safeParse(api.readySchema, readObject(bytes));
  if (!body.success) return err(unexpected(status, body.issues[0]));
  const [, revision, source] = /^rev=(\d{1,15}); source=([a-z-]+);/.exec(header("waybill-table") ?? "") ?? [];
  const isNamed = revision !== undefined && source !== undefined;
  if (!isNamed) return err(strange(status, "it does not name the table that it routes by"));
  return ok({ revision: Number(revision), source, canary: body.output.canary?.revision });
};

export type PublishedTable<Table> = TableFile<Table> & { readonly revision: number };

/** Reads and validates a revision; without a number, the current one. */
export const readRevision = async <Table>(
  gateway: GatewayClient,
  revision: number | undefined,
  check: (json: unknown) => Result<Table, readonly Fault[]>,
): Promise<PublishedTable<Table>> => {
  const text = answerOf(gateway, await gateway.text(revision));
  const name = `revision ${text.revision}`;
  const why = `  ${gateway.url} serves it, so the versions of this command and the gateway differ: use the gateway's version\n`;
  return { name, ...text, table: valid(name, checkText(text.bytes, check), "stderr", why) };
};

export const readInForce = (gateway: GatewayClient): Promise<PublishedTable<DeclaredTable>> =>
  readRevision(gateway, undefined, checkTable);

export const readRecord = async (gateway: GatewayClient, revision: number): Promise<api.TableRevision> => {
  const [record] = answerOf(gateway, await gateway.revisions({ before: revision + 1, limit: 1 }));
  return record?.revision === revision ? record : fail(`error: the history has no revision ${revision}\n`);
};

/** Answers to the requests of a canary. `undefined` without figures: nothing is held up for want of them. */
export const readVerdict = async (gateway: GatewayClient, canary: number): Promise<CanaryVerdict | undefined> => {
  const listed = await gateway.revisions({ before: canary + 1, limit: 1 });
  const [{ revision, time } = {}] = listed.ok ? listed.value : [];
  const answer = revision !== canary || time === undefined ? undefined : await gateway.verdict(time);
  return answer?.ok && answer.value.source === "all" ? answer.value.canaryVerdict : undefined;
};

export type TableSource<Table> = TableFile<Table> & { readonly revision?: number };

export const SOURCE_HELP = "A number is a revision at the gateway; write ./41 for a file of that name.";

/** Digits alone are always a revision number, even if such a file exists. */
const isRevision = (word: string): boolean => /^\d{1,15}$/.test(word);

/** The file of a source; `undefined`: a revision has none. */
export const fileOf = (word: string): string | undefined => (isRevision(word) ? undefined : word);

export const readTableSource = async <Table>(
  word: string,
  options: GatewayOptions,
  runtime: Runtime,
  check: (json: unknown) => Result<Table, readonly Fault[]>,
  shown?: Shown,
): Promise<TableSource<Table>> => {
  if (!isRevision(word)) return readTableFile(word, runtime, check, shown);
  const hint = `  ${escapeControls(word)} was read as a revision number; write ./${word} for a file\n`;
  return readRevision(openGateway(options, runtime, hint), Number(word), check);
};
