import { err, ok, type Result } from "../../../ids/result.ts";
import { memberOf } from "../../../routing/resolve/region-sources.ts";
import type { CompiledTable } from "../../../routing/table.ts";
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
