import { err, ok, type Result } from "../../../ids/result.ts";
import type { RefusalFeature } from "../../../routing/own-request.ts";
import type { UnknownName } from "../../../routing/schema/faults.ts";
import type { CompiledTable, Target } from "../../../routing/table.ts";
import { timeMs } from "./time.ts";
import type { List } from "./types.ts";

/** The query of a list: its own parameters, and those of its regions. */

export const HAS_BODY = {
  reason: "malformed-request",
  detail: "A list takes no body; its parameters are in the query.",
} as const;

/** A client's request for a list. */
export interface ListQuery {
  /** Raw parameters that are sent on, in their order. */
  readonly sent: readonly string[];
  readonly limit: number;
  readonly cursor: string | undefined;
  /** Regions that the filters leave, in the order of the table. */
  readonly targets: ReadonlyMap<string, Target>;
}

export type QueryError = { readonly reason: "malformed-request"; readonly detail: string } | UnknownName;

type Failed = { readonly ok: false; readonly error: QueryError };

interface Tables {
  readonly table: CompiledTable;
  readonly canary?: { readonly table: CompiledTable } | undefined;
}

const malformed = (detail: string): Failed => err({ reason: "malformed-request", detail });

export function readQuery(query: string, list: List, served: Tables): Result<ListQuery, QueryError> {
  const { limit: limits, cursorQuery, filters } = list;
  const parameters = readParameters(query, list);
  if (!parameters.ok) return parameters;
  const { sent, values } = parameters.value;
  for (const name of [limits.query, cursorQuery, filters.mintedAfter, filters.mintedBefore]) {
    if (name !== undefined && (values.get(name)?.length ?? 0) > 1) return malformed(`${name} comes twice.`);
  }
  const limit = readLimit(values.get(limits.query)?.[0], list);
  if (!limit.ok) return limit;
  const targets = readTargets(values, list, served);
  return targets.ok
    ? ok({ sent, limit: limit.value, cursor: values.get(cursorQuery)?.[0], targets: targets.value })
    : targets;
}

/** `sent`: raw, for the regions. `values`: decoded, by name. */
interface Parameters {
  readonly sent: readonly string[];
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** Reads the query as it came: what is none of the list's own is for the regions. */
function readParameters(query: string, list: List): Result<Parameters, QueryError> {
  const { limit: limits, cursorQuery, filters, next, pageSizeQuery } = list;
  const sent: string[] = [];
  const values = new Map<string, string[]>();
  const own = new Set([limits.query, cursorQuery]);
  const regional = new Set([pageSizeQuery, next.kind === "cursor" ? next.query : undefined]);
  const isRead = new Set([...own, ...regional, ...Object.values(filters)]);
  for (const piece of query.slice(1).split("&")) {
    if (piece === "") continue;
    const [rawName = ""] = piece.split("=", 1);
    const name = decoded(rawName);
    const value = decoded(piece.slice(rawName.length + 1));
    // A region decides which bytes its parameters may have.
    if (name === undefined || (value === undefined && !isRead.has(name))) {
      sent.push(piece);
      continue;
    }
    if (value === undefined) return malformed(`${name} is not percent-encoded UTF-8.`);
    values.set(name, [...(values.get(name) ?? []), value]);
    if (own.has(name)) continue;
    if (regional.has(name)) return malformed(`The parameter ${name} is of one region; use ${cursorQuery}.`);
    sent.push(piece);
  }
  return ok({ sent, values });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function readLimit(text: string | undefined, { limit }: List): Result<number, QueryError> {
  if (text === undefined) return ok(limit.default);
  const value = Number(text);
  const isGood = /^[1-9]\d{0,8}$/.test(text) && value <= limit.max;
  return isGood ? ok(value) : malformed(`${limit.query} must be a whole number from 1 to ${limit.max}.`);
}

function readTargets(
  values: ReadonlyMap<string, readonly string[]>,
  list: List,
  { table, canary }: Tables,
): Result<ReadonlyMap<string, Target>, QueryError> {
  const { filters } = list;
  const namesOf = (query: string | undefined): readonly string[] | undefined =>
    query === undefined ? undefined : values.get(query)?.flatMap((value) => value.split(","));
  const others = canary?.table.lists?.get(list.path);
  const all = new Map([...list.targets, ...[...(others?.targets ?? [])].filter(([name]) => !list.targets.has(name))]);
  const regions = namesOf(filters.region);
  const unknown = regions?.find((name) => !all.has(name));
  if (unknown !== undefined) {
    return err({ reason: "unknown-name", what: "region", name: unknown, known: [...all.keys()] });
  }
  const codes = namesOf(filters.country);
  const countries: number[] = [];
  for (const code of codes ?? []) {
    const number = table.countries.get(code) ?? canary?.table.countries.get(code);
    if (number === undefined) {
      return err({ reason: "unknown-name", what: "country", name: code, known: [...table.countries.keys()] });
    }
    countries.push(number);
  }
  const timeOf = (query: string | undefined) => readMoment(query, query && values.get(query)?.[0]);
  const from = timeOf(filters.mintedAfter);
  const to = timeOf(filters.mintedBefore);
  if (!from.ok) return from;
  if (!to.ok) return to;
  const wanted = {
    countries: codes && countries,
    fromMs: from.value ?? Number.MIN_SAFE_INTEGER,
    toMs: to.value ?? Number.MAX_SAFE_INTEGER,
  };
  if (wanted.fromMs > wanted.toMs) return malformed(`${filters.mintedBefore} is before ${filters.mintedAfter}.`);
  const own = list.regionsOf?.(wanted);
  const other = canary === undefined ? new Set<string>() : others?.regionsOf?.(wanted);
  const mayOwn = (name: string) => own === undefined || other === undefined || own.has(name) || other.has(name);
  return ok(new Map([...all].filter(([name]) => mayOwn(name) && (regions === undefined || regions.includes(name)))));
}

function readMoment(query: string | undefined, text: string | undefined): Result<number | undefined, QueryError> {
  if (text === undefined) return ok(undefined);
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : timeMs(text);
  return ms === undefined ? malformed(`${query} is a time such as 2026-01-01T00:00:00Z, or in Unix ms.`) : ok(ms);
}

export const listsRefusal: RefusalFeature = {
  name: "lists",
  refusal(table, { path, query, body }) {
    const list = table.lists?.get(path);
    // A source of the same path may name one region, which takes what a list does not.
    if (list === undefined || table.withoutId.match(path) !== undefined) return undefined;
    const read = readQuery(query, list, { table });
    return body.length > 0 ? HAS_BODY : read.ok ? undefined : read.error;
  },
};
