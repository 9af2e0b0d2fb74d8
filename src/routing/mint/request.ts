import * as v from "valibot";
import { err, ok, type Result } from "../../ids/result.ts";
import { faultList } from "../schema/faults.ts";
import { duplicateKey } from "../schema/json-scanner.ts";
import { checkShape, reportIssue } from "../schema/validate.ts";

/** What a client says about the IDs that it wants. Numbers are not yet checked against their fields. */
export interface MintRequest {
  readonly entity?: string | undefined;
  readonly layout?: string | undefined;
  /** ISO 3166-1 alpha-2 code, as the table declares it. */
  readonly country?: string | undefined;
  readonly service?: number | undefined;
  readonly group?: number | undefined;
  readonly shardKey?: number | undefined;
  /** Parts of the key by name; together they must give every bit of it. */
  readonly slices?: Readonly<Record<string, number>> | undefined;
  /** Key and node fields by name; in decimal where a number would not be exact. */
  readonly fields?: Readonly<Record<string, number | string>> | undefined;
}

/** Why a request cannot be planned. */
export type MintPlanError =
  | { readonly reason: "malformed-request"; readonly detail: string; readonly pointer?: string }
  | { readonly reason: "unknown-name"; readonly what: string; readonly name: string; readonly known: readonly string[] }
  | { readonly reason: "key-out-of-range"; readonly field: string; readonly value: string; readonly max: string };

export function malformed(detail: string, pointer: string): MintPlanError {
  return { reason: "malformed-request", detail, pointer };
}

/** Most names that an answer lists. */
const KNOWN_NAMES_MAX = 50;

export function unknownName(what: string, name: string, known: Iterable<string>): MintPlanError {
  return { reason: "unknown-name", what, name, known: [...known].slice(0, KNOWN_NAMES_MAX) };
}

/** Most IDs of one request. More come from more requests: an answer of this size is about 40 kB. */
export const MINT_COUNT_MAX = 1000;

/** A request is a few short names and numbers. */
export const MINT_BODY_BYTES_MAX = 4096;

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

/** Body of `POST /mint`. Whether numbers fit their fields is the minting step's to say. */
export const MINT_BODY = v.strictObject({
  entity: v.optional(v.pipe(name, v.description("An entity of the routing table."))),
  layout: v.optional(
    v.pipe(name, v.description("A layout of the routing table; needed where the entity has several.")),
  ),
  country: v.optional(
    v.pipe(
      name,
      v.description(
        "ISO 3166-1 alpha-2 code of a country of the routing table. For iuid and layouts with such a field.",
      ),
    ),
  ),
  service: v.optional(
    v.pipe(v.number(), v.description("Service number, instead of the entity. For iuid and layouts with such a field.")),
  ),
  group: v.optional(v.pipe(v.number(), v.description("Group number, instead of the entity. For luuid."))),
  shardKey: v.optional(v.pipe(v.number(), v.description("The whole 32-bit shard key. For hotguid."))),
  slices: v.optional(
    v.pipe(
      v.record(name, v.number()),
      v.description("The shard key by the table's slices, every bit of it. For hotguid."),
    ),
  ),
  fields: v.optional(
    v.pipe(
      v.record(
        name,
        v.union([
          v.number(),
          v.pipe(v.string(), v.regex(/^(0|[1-9][0-9]{0,48})$/, "must be a number or its decimal text")),
        ]),
      ),
      v.description("Key and node fields of the layout by name; in decimal text where a number is not exact."),
    ),
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

/** Reads the JSON text of a mint request. The first thing that is wrong with it is named, with a JSON pointer (RFC 6901). */
export function readMintBody(text: string): Result<MintBody, MintPlanError> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return err({ reason: "malformed-request", detail: "The body is not JSON.", pointer: "" });
  }
  const twice = duplicateKey(text, json);
  if (twice !== undefined) {
    return err({
      reason: "malformed-request",
      detail: `The body has the key ${JSON.stringify(twice)} twice.`,
      pointer: "",
    });
  }
  const { report, faults } = faultList();
  if (Array.isArray(json)) report("schema", [], "Expected an object, found a list; correct it.");
  checkShape(json, report);
  const parsed = v.safeParse(MINT_BODY, json);
  if (parsed.success && faults.length === 0) return ok(parsed.output);
  for (const issue of parsed.issues ?? []) reportIssue(issue, report);
  const [{ pointer, message } = { pointer: "", message: "It is not a mint request." }] = faults;
  return err({ reason: "malformed-request", detail: `${pointer === "" ? "The body" : pointer}: ${message}`, pointer });
}
