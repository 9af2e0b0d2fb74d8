import { err, ok, type Result } from "../../../ids/result.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { codingsOf } from "../../../proxy/codings.ts";
import { PLACE_IDS_MAX } from "../../../routing/limits.ts";
import { ambiguousCookie, cookieValues, nearName, parameterValues } from "../../../routing/lookup/values.ts";
import { memberOf } from "../../../routing/resolve/region-sources.ts";
import type { IdPlace, IdPlaces } from "../table/types.ts";
import { readJsonIds } from "./json-ids.ts";

/** Reads the IDs of a request from all places that its path declares. Nothing that is there is passed over. */

/** The first bytes of a body. */
export interface BodyHead {
  readonly bytes: Uint8Array;
  /** Whether no bytes follow. */
  readonly isWhole: boolean;
}

/** A request's values at the places where IDs may be. */
export interface PlacesSays {
  /** Raw, with its question mark, or empty. */
  readonly query: string;
  readonly header: (name: string) => string | undefined;
  /** Claims of the verified token; `undefined` without one. */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  /** `undefined`: there is none, or none that is read. */
  readonly body: (BodyHead & { readonly type: BodyType }) | undefined;
}

export type BodyType = "json" | "form";

/** An ID, and where it is. */
export interface FoundId {
  readonly place: Pick<IdPlace, "label" | "entity">;
  readonly text: string;
}

type Reading<Value> = Result<Value, GatewayError>;

const JSON_TYPE = /^[^\s/,;]+\/(?:[^\s/,;]+\+)?json[ \t]*(?:;[^,]*)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded[ \t]*(?:;[^,]*)?$/i;
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^\s";,]*)/gi;
const UTF_8: readonly string[] = ["utf-8", "utf8", "us-ascii"];

/** How a body is to be read; `undefined`: not at all. One that might hold an ID and cannot be read is an error. */
export function bodyTypeOf(
  { places, peekBytes, passesOtherTypes }: IdPlaces,
  method: string,
  header: PlacesSays["header"],
): Reading<BodyType | undefined> {
  if (peekBytes === 0) return ok(undefined);
  const type = (header("content-type") ?? "").trim();
  const read = JSON_TYPE.test(type) ? "json" : FORM_TYPE.test(type) ? "form" : undefined;
  if (read === undefined || !places.some(({ kind }) => kind === read)) {
    return passesOtherTypes
      ? ok(undefined)
      : unreadable(`No ID is read from a body of this content-type; send ${typesOf(places)}.`);
  }
  if (method === "GET" || method === "HEAD") return unreadable(`No ID is read from a body of ${method}.`);
  const codings = codingsOf(header("content-encoding"));
  if (codings.length > 0) {
    return unreadable(
      `No ID is read from a body with the content-encoding ${codings.join(", ").slice(0, 100)}; send it without.`,
    );
  }
  // Readers differ in which one of several counts.
  const charsets = [...type.matchAll(CHARSET)].map(([, charset = ""]) => charset.toLowerCase());
  return charsets.every((charset) => UTF_8.includes(charset))
    ? ok(read)
    : unreadable("No ID is read from a body that is not UTF-8.");
}

/** The content types that the places read. */
function typesOf(places: IdPlaces["places"]): string {
  const kinds = new Set(places.map(({ kind }) => kind));
  const json = kinds.has("json") ? ["application/json"] : [];
  return [...json, ...(kinds.has("form") ? ["application/x-www-form-urlencoded"] : [])].join(" or ");
}

const unreadable = (detail: string, place?: string) =>
  err({ reason: "id-unreadable", detail, ...(place === undefined ? {} : { place }) } as const);

/** All IDs of a request, in the order of the places. */
export function readPlaces({ places, peekBytes }: IdPlaces, says: PlacesSays): Reading<readonly FoundId[]> {
  const inBody = says.body === undefined ? ok(NOTHING) : readBody(places, says.body, peekBytes);
  if (!inBody.ok) return inBody;
  const found: FoundId[] = [];
  for (const [at, place] of places.entries()) {
    const values = place.kind === says.body?.type ? ok(inBody.value.get(at) ?? []) : valuesOf(place, says);
    if (!values.ok) return values;
    if (values.value.length > PLACE_IDS_MAX) return tooMany(place);
    // JSON has lists of its own.
    const isText = place.kind !== "json" && place.kind !== "claim";
    const texts = new Set(place.isList && isText ? values.value.flatMap(itemsOf) : values.value);
    if (texts.size > 1 && !place.isList)
      return unreadable(`There are ${texts.size} values instead of one.`, place.label);
    for (const text of texts) found.push({ place, text });
    if (found.length > PLACE_IDS_MAX) return tooMany(place);
  }
  return ok(found);
}

const tooMany = ({ label }: IdPlace) => unreadable(`A request has at most ${PLACE_IDS_MAX} IDs.`, label);

const misnamed = (name: string, { label }: Pick<IdPlace, "label">) =>
  unreadable(`The name ${JSON.stringify(name.slice(0, 100))} differs in its case.`, label);

const NOTHING: ReadonlyMap<number, readonly string[]> = new Map();

const itemsOf = (text: string): readonly string[] => text.split(",").map((item) => item.trim());

function valuesOf(place: IdPlace, { query, header, claims }: PlacesSays): Reading<readonly string[]> {
  switch (place.kind) {
    case "query": {
      const near = nearName(query.slice(1), place);
      return near === undefined ? ok(parameterValues(query.slice(1), place.test)) : misnamed(near, place);
    }
    case "header": {
      const value = header(place.name);
      return ok(value === undefined ? [] : [value.trim()]);
    }
    case "cookie": {
      const values = cookieValues(header("cookie"), place.name);
      return values === undefined ? unreadable(ambiguousCookie(place.name), place.label) : ok(values);
    }
    case "claim":
      return claimValues(place, claims);
    case "json":
    case "form":
      return ok([]);
  }
}

function claimValues(
  place: Extract<IdPlace, { readonly path: unknown }>,
  claims: PlacesSays["claims"],
): Reading<readonly string[]> {
  const value = place.path.reduce(memberOf, claims as unknown);
  if (value === undefined || value === null) return ok([]);
  const values = Array.isArray(value) && place.isList ? value : [value];
  // Other numbers were rounded when the token was read.
  const isId = (one: unknown) => typeof one === "string" || (Number.isSafeInteger(one) && Number(one) >= 0);
  return values.every(isId)
    ? ok(values.map(String))
    : unreadable("It is neither text nor a whole number.", place.label);
}

/** The values in the body, by place. */
function readBody(
  places: readonly IdPlace[],
  { bytes, isWhole, type }: NonNullable<PlacesSays["body"]>,
  withinBytes: number,
): Reading<ReadonlyMap<number, readonly string[]>> {
  const late = (at: number) => err({ reason: "id-not-in-time", withinBytes, place: places[at]?.label ?? "" } as const);
  const values = new Map<number, string[]>();
  if (type === "form") {
    const text = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
    // The text after the last separator may go on.
    const end = isWhole ? text.length : Math.max(0, text.lastIndexOf("&"));
    for (const [at, place] of places.entries()) {
      if (place.kind !== "form") continue;
      const near = nearName(text.slice(0, end), place);
      if (near !== undefined) return misnamed(near, place);
      const own = parameterValues(text.slice(0, end), place.test);
      const isCut = !isWhole && (own.length === 0 || parameterValues(text.slice(end + 1), place.test).length > 0);
      if (isCut) return late(at);
      values.set(at, [...own]);
    }
    return ok(values);
  }
  const pointers = places.flatMap((place, at) =>
    place.kind === "json" ? [{ place: at, path: place.path, isList: place.isList }] : [],
  );
  const reading = readJsonIds(bytes, isWhole, pointers);
  switch (reading.kind) {
    case "malformed":
      return err({ reason: "malformed-request", detail: reading.detail });
    case "fault":
      return unreadable(`The value ${reading.fault.detail}.`, places[reading.fault.place]?.label);
    case "late":
      return late(reading.place);
    case "values":
      for (const { place, text } of reading.values) {
        const own = values.get(place);
        if (own === undefined) values.set(place, [text]);
        else own.push(text);
      }
      return ok(values);
  }
}
