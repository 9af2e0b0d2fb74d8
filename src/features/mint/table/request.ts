import * as v from "valibot";
import { err, ok, type Result } from "../../../ids/result.ts";
import { KNOWN_NAMES_MAX } from "../../../routing/limits.ts";
import { faultList, type UnknownName } from "../../../routing/schema/faults.ts";
import { duplicateKey, parseJson } from "../../../routing/schema/json-scanner.ts";
import { described } from "../../../routing/schema/parts.ts";
import { checkShape, reportIssue } from "../../../routing/schema/validate.ts";

export type MintPlanError =
  | { readonly reason: "malformed-request"; readonly detail: string; readonly pointer?: string }
  | UnknownName
  | { readonly reason: "key-out-of-range"; readonly field: string; readonly value: string; readonly max: string };

export function malformed(detail: string, pointer: string): MintPlanError {
  return { reason: "malformed-request", detail, pointer };
}

export function unknownName(what: string, name: string, known: Iterable<string>): MintPlanError {
  const all = [...known];
  const more = all.length - KNOWN_NAMES_MAX;
  return { reason: "unknown-name", what, name, known: all.slice(0, KNOWN_NAMES_MAX), ...(more > 0 && { more }) };
}

/** Most IDs of one request. More come from more requests: an answer of this size is about 40 kB. */
export const MINT_COUNT_MAX = 1000;

/** A request is a few short names and numbers. */
export const MINT_BODY_BYTES_MAX = 4096;

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

const optional = <const Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.optional(described(schema, description));

/** Body of `POST /mint`. Whether numbers fit their fields is the minting step's to say. */
export const MINT_BODY = v.strictObject({
  entity: optional(name, "An entity of the routing table."),
  layout: optional(name, "A layout of the routing table; needed where the entity has several."),
  country: optional(
    name,
    "ISO 3166-1 alpha-2 code of a country of the routing table. For iuid and layouts with such a field.",
  ),
  service: optional(v.number(), "Service number, instead of the entity. For iuid and layouts with such a field."),
  group: optional(v.number(), "Group number, instead of the entity. For luuid."),
  shardKey: optional(v.number(), "The whole 32-bit shard key. For hotguid."),
  slices: optional(v.record(name, v.number()), "The shard key by the table's slices, every bit of it. For hotguid."),
  fields: optional(
    v.record(
      name,
      v.union([
        v.number(),
        v.pipe(v.string(), v.regex(/^(0|[1-9][0-9]{0,48})$/, "must be a number or its decimal text")),
      ]),
    ),
    "Key and node fields of the layout by name; in decimal text where a number is not exact.",
  ),
  count: v.optional(
    v.pipe(
      v.number(),
      v.integer("must be a whole number"),
      v.minValue(1, "must be at least 1"),
      v.maxValue(MINT_COUNT_MAX, `must be at most ${MINT_COUNT_MAX}`),
      v.description("How many IDs."),
    ),
    1,
  ),
});

export type MintBody = v.InferOutput<typeof MINT_BODY>;

/** A client's words about the IDs that it wants. Numbers are not yet checked against their fields. */
export type MintRequest = Readonly<Omit<MintBody, "count">>;

/** Good bodies of late: clients send the same again and again, and to check one costs more than an ID. 4 KiB each. */
const known = new Map<string, MintBody>();
const KNOWN_MAX = 64;

/** Reads the JSON text of a mint request. The first thing that is wrong with it is named, with a JSON pointer (RFC 6901). */
export function readMintBody(text: string): Result<MintBody, MintPlanError> {
  const before = known.get(text);
  if (before !== undefined) return ok(before);
  const json = parseJson(text);
  if (json === undefined) return err(malformed("The body is not JSON.", ""));
  const twice = duplicateKey(text);
  if (twice !== undefined) return err(malformed(`The body has the key ${JSON.stringify(twice)} twice.`, ""));
  const { report, faults } = faultList();
  if (Array.isArray(json)) report("schema", [], "Expected an object, found a list; correct it.");
  checkShape(json, report);
  const parsed = v.safeParse(MINT_BODY, json);
  if (parsed.success && faults.length === 0) {
    if (known.size === KNOWN_MAX) known.clear();
    known.set(text, parsed.output);
    return ok(parsed.output);
  }
  for (const issue of parsed.issues ?? []) reportIssue(issue, report, MINT_BODY);
  const [{ pointer, message } = { pointer: "", message: "It is not a mint request." }] = faults;
  return err(malformed(`${pointer === "" ? "The body" : pointer}: ${message}`, pointer));
}
