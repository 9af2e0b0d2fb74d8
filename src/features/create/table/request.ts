import { err, ok, type Result } from "../../../ids/result.ts";
import type { OwnRequest, RefusalFeature } from "../../../routing/own-request.ts";
import { fieldsOf } from "../../../routing/resolve/describe.ts";
import { memberOf } from "../../../routing/resolve/region-sources.ts";
import { duplicateKey, parseJson } from "../../../routing/schema/json-scanner.ts";
import type { CompiledTable, IdDecision } from "../../../routing/table.ts";
import { planMint } from "../../mint/table/plan.ts";
import type { MintRequest } from "../../mint/table/request.ts";
import type { Create, KeySource } from "./types.ts";

/** The parts of a create; each is read only when a source needs it. */
export interface CreateSays {
  /** The value of a header field by its name in lower case, all lines of it joined. */
  readonly header: (name: string) => string | undefined;
  /** The claims of the verified token; `undefined` without one. */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  /** The body as JSON; `undefined` where it was not read. */
  readonly json: unknown;
  /** ISO 3166-1 alpha-2, where it is known. */
  readonly country: () => string | undefined;
  /** A field of the parent's ID as decimal text; a country as its number. */
  readonly parent: (field: string) => string | undefined;
}

export type CreateKeyError =
  | {
      readonly reason: "create-key-missing";
      readonly entity: string;
      readonly field: string;
      readonly sources: readonly string[];
    }
  | {
      readonly reason: "create-key-invalid";
      readonly entity: string;
      readonly field: string;
      readonly source: string;
      readonly value: string;
    };

/** The mint request for the new ID. Each field has the value of the first source that has one. */
export function mintRequestOf(
  table: CompiledTable,
  create: Create,
  says: CreateSays,
): Result<MintRequest, CreateKeyError> {
  const { entity, layout } = create;
  const slices = table.layouts.get(layout)?.slices;
  const found: { country?: string; fields: Record<string, string>; slices: Record<string, number> } = {
    fields: {},
    slices: {},
  };
  for (const [field, sources] of create.key) {
    const word = firstWord(sources, says);
    if (word === undefined) {
      return err({
        reason: "create-key-missing",
        entity: entity.name,
        field,
        sources: sources.map(({ label }) => label),
      });
    }
    const { source, text, hasValue } = word;
    const invalid = () =>
      err({ reason: "create-key-invalid", entity: entity.name, field, source: source.label, value: text } as const);
    if (!hasValue) return invalid();
    if (field === "country" && source.kind !== "parent") {
      if (!table.countries.has(text)) return invalid();
      found.country = text;
      continue;
    }
    if (!DECIMAL.test(text)) return invalid();
    if (slices?.has(field) === true) found.slices[field] = Number(text);
    else found.fields[field] = text;
  }
  return ok({
    entity: entity.name,
    layout,
    ...(found.country === undefined ? {} : { country: found.country }),
    ...(Object.keys(found.fields).length === 0 ? {} : { fields: found.fields }),
    ...(Object.keys(found.slices).length === 0 ? {} : { slices: found.slices }),
  });
}

const DECIMAL = /^(?:0|[1-9][0-9]{0,48})$/;

/** Longer values are no key; what problems repeat of them stays short. */
const TEXT_LENGTH_MAX = 100;

function firstWord(sources: readonly KeySource[], says: CreateSays) {
  for (const source of sources) {
    const said = wordOf(source, says);
    if (said === undefined) continue;
    const short = said.length > TEXT_LENGTH_MAX ? `${said.slice(0, TEXT_LENGTH_MAX)}…` : said;
    // An unmapped value is an error: the next source must not be asked instead.
    const value = source.values === undefined ? short : source.values.get(said);
    return { source, text: value ?? short, hasValue: value !== undefined };
  }
  return undefined;
}

function wordOf(source: KeySource, says: CreateSays): string | undefined {
  switch (source.kind) {
    case "header":
      return says.header(source.header);
    case "claim":
      return textAt(says.claims, source.path);
    case "member":
      return textAt(says.json, source.path);
    case "country":
      return says.country();
    case "parent":
      return says.parent(source.field);
    case "value":
      return source.value;
  }
}

/** A member as text. `null` says nothing; what is neither text nor number still says something, and it is never a key. */
export function textAt(json: unknown, path: readonly string[]): string | undefined {
  const value = path.reduce(memberOf, json);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object") return Array.isArray(value) ? "[…]" : "{…}";
  // The body may have had other digits: JSON numbers are rounded.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return `${value}…`;
  return String(value);
}

/** How many entities a body creates: 1 for a single one; `undefined` where the declared list is not there. */
export function countOf({ bulk }: Create, json: unknown): number | undefined {
  if (bulk === undefined) return Array.isArray(json) ? undefined : 1;
  const items = bulk.path.reduce(memberOf, json);
  return Array.isArray(items) ? items.length : undefined;
}

/** A field of the parent's ID as decimal text. */
export const parentField = (
  table: CompiledTable,
  { layout, words }: Pick<IdDecision, "layout" | "words">,
  field: string,
): string | undefined => {
  const fields = table.layouts.get(layout)?.layout.fields.filter(({ name }) => name === field);
  return fields === undefined ? undefined : fieldsOf(fields, words)[field];
};

export type ContentError =
  | { readonly reason: "malformed-request"; readonly detail: string }
  | {
      readonly reason: "create-count";
      readonly entity: string;
      readonly count: number | undefined;
      readonly max: number | undefined;
    };

/** Problems have a media type of their own; so do many JSON formats (RFC 6839 §3.1). A field sent twice is joined by a comma. */
const JSON_TYPE = /(?:^|,)[ \t]*[^\s/,;]+\/(?:[^\s/,;]+\+)?json[ \t]*(?:$|[;,])/i;

/** Many values, one a line or record (RFC 7464). */
const JSON_LINES_TYPE =
  /(?:^|,)[ \t]*[^\s/,;]+\/(?:(?:x-)?(?:ndjson|jsonl(?:ines)?)|(?:[^\s/,;]+\+)?json-seq)[ \t]*(?:$|[;,])/i;

/** Whether a body of this media type is JSON of one value, where the collection takes the type. */
export function isJsonFor(create: Create, type: string): Result<boolean, ContentError> {
  const isJson = JSON_TYPE.test(type);
  const isRefused = JSON_LINES_TYPE.test(type) || (create.bulk !== undefined && !isJson);
  return isRefused ? err(countError(create, undefined)) : ok(isJson);
}

/** `text`: `undefined` if it is not UTF-8. `undefined` where the table reads nothing of it: values take up to twenty times the memory of their text. */
export function readJson(
  create: Create,
  text: string | undefined,
  unreadable?: () => string | undefined,
): Result<unknown, ContentError> {
  const json = text === undefined ? undefined : parseJson(text);
  // A body that cannot be read may be a list. An empty body is none.
  if (json === undefined && (create.readsBody || text !== "")) {
    return err({ reason: "malformed-request", detail: unreadable?.() ?? "The body is not JSON in UTF-8." });
  }
  const twice = create.readsBody && text !== undefined ? duplicateKey(text) : undefined;
  if (twice !== undefined) {
    return err({ reason: "malformed-request", detail: `The body has the key ${JSON.stringify(twice)} twice.` });
  }
  const count = countOf(create, json);
  if (count === undefined || count === 0 || count > (create.bulk?.max ?? 1)) return err(countError(create, count));
  return ok(create.readsBody ? json : undefined);
}

const countError = ({ entity, bulk }: Create, count: number | undefined): ContentError => ({
  reason: "create-count",
  entity: entity.name,
  count,
  max: bulk?.max,
});

type Refusal = { readonly reason: string };

/** A collection that is posted to. `idEnd`: of the parent's ID in the path. */
interface Posted {
  readonly entity: Create;
  readonly idEnd: number;
}

/** Why a create that is only explained would be refused, as far as the request alone tells. */
function refusalOf(table: CompiledTable, posted: Posted, request: OwnRequest<IdDecision>): Refusal | undefined {
  const create = posted.entity;
  const read = readParts(posted, request);
  if (!read.ok) return read.error;
  const { json, claims, parent } = read.value;
  const own = ownIdOf(create, request, json);
  const unkeyed = keyRefusal(create, request, own);
  // The gateway judges an ID of the client by its clock.
  if (unkeyed !== undefined || own.length > 0) return unkeyed;
  const wanted = mintRequestOf(table, create, {
    header: request.header,
    claims,
    json,
    country: request.country,
    parent: (field) => parent && parentField(table, parent, field),
  });
  if (!wanted.ok) return wanted.error;
  const plan = planMint(table, wanted.value);
  return plan.ok ? undefined : plan.error;
}

/** The parts that sources read, in the order in which the gateway reads them. */
function readParts({ entity: create, idEnd }: Posted, request: OwnRequest<IdDecision>) {
  const isJson = isJsonFor(create, request.header("content-type") ?? "");
  if (!isJson.ok) return isJson;
  const json = isJson.value ? readJson(create, request.text(request.body)) : ok(undefined);
  if (!json.ok) return json;
  const claims = create.readsToken ? request.claims : ok(undefined);
  if (!claims.ok) return claims;
  const parent = idEnd === 0 ? ok(undefined) : request.above(idEnd);
  return parent.ok ? ok({ json: json.value, claims: claims.value, parent: parent.value }) : parent;
}

function keyRefusal({ idempotency, entity }: Create, { key }: OwnRequest<IdDecision>, own: readonly string[]) {
  if (own.length === 2 && own[0] !== own[1]) {
    return refused("malformed-request", { detail: "The header and the body name different IDs." });
  }
  if (!key.ok) return key.error;
  const hasKey = key.value !== undefined || (idempotency.byClientId && own.length > 0);
  return idempotency.isRequired && !hasKey ? refused("idempotency-key-missing", { entity: entity.name }) : undefined;
}

const refused = (reason: string, members: object): Refusal => ({ reason, ...members });

const ownIdOf = ({ clientId }: Create, { header }: OwnRequest<IdDecision>, json: unknown): readonly string[] => {
  const inHeader = clientId?.header === undefined ? undefined : header(clientId.header);
  const inBody = clientId?.path === undefined ? undefined : textAt(json, clientId.path);
  return [inHeader, inBody].filter((text) => text !== undefined);
};

export const createRefusal: RefusalFeature = {
  name: "create",
  refusal(table, request) {
    const match = table.creates?.match(request.path);
    return match && refusalOf(table, match, request);
  },
};
