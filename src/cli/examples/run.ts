import { keyOf } from "../../features/directory/table/compile.ts";
import { isMissingKey, type MissingKey } from "../../features/directory/table/types.ts";
import {
  type ExplainedRequest,
  explainRequest,
  type RequestText,
  wholeRequest,
} from "../../features/places/serve/explain.ts";
import { type DecideInput, decideEntity } from "../../gateway/decide.ts";
import { explainId, explainOnPath } from "../../gateway/explain-id.ts";
import { err, ok } from "../../ids/index.ts";
import { problemOf } from "../../problems/index.ts";
import type { CompiledTable } from "../../routing/index.ts";
import { parseTime } from "../../routing/layouts/fields.ts";
import { ANY_PREFIX, pathWithId, primaryPattern } from "../../routing/lookup/paths.ts";
import { nearest, pointerTo } from "../../routing/schema/faults.ts";
import { parseJson } from "../../routing/schema/json-scanner.ts";
import { decidingPlace } from "../commands/explain/by-table.ts";
import { EXPECTED, type Example } from "./schema.ts";

/** Where the gateway would send the request of an example, and how that differs from what the example says. Nothing is sent. */

/** A table with its text, whose entries decide. */
export interface TestedTable {
  readonly table: CompiledTable;
  readonly declared: unknown;
}

export interface TestedExample extends Partial<Record<(typeof EXPECTED)[number], string>> {
  /** Its own name, or method and path. */
  readonly name: string;
  readonly request: string;
  /** Why the request is refused. */
  readonly detail?: string;
  /** A sentence for each difference; empty where all is as expected. */
  readonly differences: readonly string[];
}

type Reading = Pick<DecideInput, "ports" | "nowMs">;

export function testExample(tested: TestedTable, example: Example, reading: Reading): TestedExample {
  const text = requestText(example);
  const request = `${text.method} ${example.host ?? ""}${example.path}`;
  const found = outcomeOf(tested, example, text, reading);
  const named = { name: example.name ?? request, request };
  if ("lacking" in found) return { ...named, differences: [found.lacking] };
  return { ...named, ...found, differences: differencesOf(tested.table, example, found) };
}

type Found = Omit<TestedExample, "name" | "request" | "differences"> & { readonly byWhat?: string };

function requestText({
  method,
  path,
  host,
  headers = {},
  body = "",
  clientCountry,
  clientContinent,
}: Example): RequestText {
  const fields = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => [name.toLowerCase(), value] as const),
  );
  const sent = typeof body === "string" ? body : JSON.stringify(body);
  const hasType = fields.some(([name]) => name === "content-type");
  const isJson = sent !== "" && (typeof body !== "string" || parseJson(sent) !== undefined);
  return {
    method: method?.toUpperCase() ?? (sent === "" ? "GET" : "POST"),
    url: `http://${host ?? "localhost"}${path}`,
    headers: isJson && !hasType ? [...fields, ["content-type", "application/json"]] : fields,
    body: new TextEncoder().encode(sent),
    country: clientCountry,
    continent: clientContinent,
  };
}

function outcomeOf({ table, declared }: TestedTable, example: Example, text: RequestText, reading: Reading) {
  const hasToken = text.headers.some(([name]) => name === "authorization");
  const claims =
    example.claims === undefined && hasToken
      ? err({ reason: "authentication-unavailable" } as const)
      : ok(example.claims);
  const request = wholeRequest(text, claims);
  if (request === undefined) throw new Error("the schema takes a path alone");
  const answers = new Map<string, unknown>();
  const input: DecideInput = {
    tables: { table, canary: undefined },
    ports: reading.ports,
    layoutName: request.header("id-layout"),
    nowMs: (example.at === undefined ? undefined : parseTime(example.at)) ?? reading.nowMs,
    found: answers,
  };
  let explained = explainRequest(input, request);
  while (explained.kind === "load") {
    const { missing, error } = explained;
    if (!isMissingKey(missing)) return { problem: slugOf(problemOf(error)), detail: problemOf(error).detail };
    const answer = answerOf(example, missing);
    if (typeof answer === "string") return { lacking: answer };
    answers.set(missing.answerName ?? "", answer);
    explained = explainRequest(input, request);
  }
  const isDecided = explained.problem === undefined;
  const route = isDecided ? deciding(input, request.path, explained.ids[0], declared) : undefined;
  return { ...shownOf(explained), ...(route !== undefined && { route }) };
}

/** The members of an outcome that examples can name. */
function shownOf({ owner, region, problem, creates, lists, redirect, source, isGraphql }: ExplainedRequest): Found {
  const byWhat = isGraphql ? "the IDs of its GraphQL document, which are not read here" : source;
  const members = { entity: owner, region, problem: problem && slugOf(problem), detail: problem?.detail };
  const given = Object.entries({ ...members, creates, lists, redirect, byWhat });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

const slugOf = ({ type }: { readonly type: string }): string => type.slice(type.lastIndexOf("/") + 1);

/** A directory's answer by the example; a sentence where it says nothing of the key. */
function answerOf({ directory = {} }: Example, { plan, key }: MissingKey) {
  for (const [text, region] of Object.entries(directory[plan.name] ?? {})) {
    const read = keyOf(plan, text);
    if (!read.ok || read.value !== key) continue;
    return region === null ? { state: "absent" } : { state: "found", region, source: "object" };
  }
  const said = JSON.stringify({ [plan.name]: { [key]: "REGION" } });
  return `directory ${plan.name} is asked for ${JSON.stringify(key)}: say its region by "directory": ${said}, or null where it is absent`;
}

/** The pointer of the entry of the table that decides about the first ID. */
function deciding(
  input: DecideInput,
  path: string,
  first: { readonly place: string; readonly entity: string; readonly id: string } | undefined,
  declared: unknown,
): string | undefined {
  if (first === undefined) return undefined;
  const { place, entity, id } = first;
  const explained =
    place !== "path"
      ? explainOnPath(input, id, ownPath(input, entity, id), true)
      : path.startsWith(ANY_PREFIX)
        ? explainId(input, id, true)
        : explainOnPath(input, id, path, true);
  if (explained.kind !== "explanation") return undefined;
  const { explanation, decided } = explained;
  const rule = decidingPlace({ ...explanation, canonical: decided?.canonical }, declared);
  return rule && pointerTo(rule);
}

/** The path of an entity that an ID outside of paths is read as on. */
function ownPath(input: DecideInput, name: string, id: string): string {
  const outcome = decideEntity(input, name, id);
  if (outcome.kind !== "region") throw new Error(`the ID of ${name} has been decided about`);
  const { entity, layout } = outcome.decision;
  return entity.reading?.hides === true ? pathWithId(primaryPattern(entity, layout) ?? "", id) : outcome.path;
}

function differencesOf({ regions }: CompiledTable, example: Example, found: Found): readonly string[] {
  const expected = EXPECTED.filter((member) => example[member] !== undefined && example[member] !== found[member]);
  // Each example expects a problem or another outcome.
  const unexpected = found.problem !== undefined && example.problem === undefined;
  const sentences = expected.map((member) => sentence(member, example[member] as string, found));
  const near =
    example.region === undefined || regions.has(example.region) ? undefined : nearest(example.region, regions.keys());
  const hint = near === undefined ? [] : [`the table has no region ${example.region}; did you mean ${near}?`];
  const why = found.detail === undefined || expected.length === 0 ? [] : [found.detail];
  if (unexpected) return [`${OUTCOME_WORDS.problem} ${found.problem}`, ...why, ...hint];
  return [...sentences, ...why, ...hint];
}

const OUTCOME_WORDS = {
  region: "its region is",
  problem: "it is refused with",
  entity: "its path belongs to",
  route: "it is decided by",
  creates: "it creates",
  lists: "it lists",
  redirect: "it is redirected to",
} as const;

function sentence(member: (typeof EXPECTED)[number], expected: string, found: Found): string {
  const actual = found[member];
  const words = OUTCOME_WORDS[member];
  if (actual !== undefined) return `${words} ${actual}, not ${expected}`;
  return `${NOTHING[member]}, not ${expected}${elsewhere(member, found)}`;
}

const NOTHING = {
  region: "it has no region",
  problem: "it is not refused",
  entity: "its path belongs to nothing",
  route: "no entry of the table decides by an ID",
  creates: "it creates nothing",
  lists: "it lists nothing",
  redirect: "it is not redirected",
} as const;

/** The outcome that the request has instead. */
function elsewhere(member: string, found: Found): string {
  const { region, creates, lists, redirect, byWhat } = found;
  const by = byWhat === undefined ? "" : ` by ${byWhat}`;
  if (redirect !== undefined && member !== "region") return `: it is redirected to ${redirect}`;
  if (region !== undefined) return `: its region is ${region}${by}`;
  if (creates !== undefined) return `: it creates a new ${creates}, whose ID decides`;
  if (lists !== undefined) return `: it lists ${lists}, in the regions that its query leaves`;
  return byWhat === undefined ? "" : `: the regions are${by}`;
}
