import { err, ok, type Result } from "../../../ids/result.ts";
import { isList, isNull, isObject, membersOf, rawOf, type Slice, sliceOf, stringOf } from "./slices.ts";

/** One request of GraphQL over HTTP, read strictly: the gateway must not see another one than the origin. */
export interface GraphqlRequest {
  /** `undefined` where only the hash of a registered document came. */
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: ReadonlyMap<string, Slice>;
  /** SHA-256 of the document, in lower case, that the request names. */
  readonly hash: string | undefined;
  /** Members that go along as they are: extensions, but for the hash, and what else came. */
  readonly others: ReadonlyMap<string, string>;
}

/** Why a request is not served. `isRequest`: it is not even a request of GraphQL (400 in each media type). */
export interface GraphqlFault {
  readonly code: string;
  readonly message: string;
  readonly isRequest: boolean;
}

export const requestFault = (message: string): GraphqlFault => ({ code: "BAD_REQUEST", message, isRequest: true });

/** A fault in the document or its variables. */
export const documentFault = (message: string, code = "GRAPHQL_VALIDATION_FAILED"): GraphqlFault => ({
  code,
  message,
  isRequest: false,
});

/** The parameters of a request, in a body or in a URL. */
const OWN = ["query", "operationName", "variables", "extensions", "documentId"] as const;

type Params = ReadonlyMap<string, Slice>;

/** A key that some object of a JSON text has twice: readers differ in which one counts. In linear time. */
export type KeyTwice = (text: string) => string | undefined;

/** `text`: the body of a POST. */
export function readBody(text: string, keyTwice: KeyTwice): Result<GraphqlRequest, GraphqlFault> {
  const body = sliceOf(text);
  if (body === undefined) return err(requestFault("The body is not JSON."));
  const twice = keyTwice(text);
  if (twice !== undefined) return err(requestFault(`The body has the key ${JSON.stringify(twice)} twice.`));
  if (isList(body)) return err(requestFault("Several operations in one request are not supported; send each alone."));
  const params = isObject(body) ? membersOf(body) : undefined;
  if (params === undefined) return err(requestFault("The body is not a JSON object."));
  return readParams(params);
}

/** `query`: the raw query of a GET with its question mark. Variables and extensions are JSON there. */
export function readQuery(query: string, keyTwice: KeyTwice): Result<GraphqlRequest, GraphqlFault> {
  const params = new Map<string, Slice>();
  for (const [name, value] of pairsOf(query)) {
    if (name === undefined || value === undefined) return err(requestFault("The query of the URL is not encoded."));
    if (!OWN.includes(name as (typeof OWN)[number]) && !isNearlyOwn(name)) continue;
    if (params.has(name)) return err(requestFault(`The URL has ${name} twice.`));
    const isJson = name === "variables" || name === "extensions";
    if (isJson && value === "") continue;
    const slice = sliceOf(isJson ? withoutMark(value) : JSON.stringify(value));
    if (slice === undefined) return err(requestFault(`${name} in the URL is not JSON.`));
    if (keyTwice(slice.text) !== undefined) return err(requestFault(`${name} in the URL has a key twice.`));
    params.set(name, slice);
  }
  return readParams(params);
}

/** Whether a URL has parameters of GraphQL: some servers put them before those of the body. */
export const hasParams = (query: string): boolean =>
  pairsOf(query).some(([name]) => name === undefined || OWN.some((own) => own.toUpperCase() === name.toUpperCase()));

function pairsOf(query: string): readonly (readonly [string | undefined, string | undefined])[] {
  return query
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const at = pair.indexOf("=");
      return [decoded(at === -1 ? pair : pair.slice(0, at)), decoded(at === -1 ? "" : pair.slice(at + 1))];
    });
}

/** One byte order mark before JSON is passed over (RFC 8259 §8.1). */
export const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function readParams(params: Params): Result<GraphqlRequest, GraphqlFault> {
  const other = [...params.keys()].find(isNearlyOwn);
  if (other !== undefined) return err(requestFault(`Write ${other} as the specification does.`));
  const query = optionalText(params, "query");
  const operationName = optionalText(params, "operationName");
  const documentId = optionalText(params, "documentId");
  const variables = optionalMembers(params, "variables");
  const extensions = optionalMembers(params, "extensions");
  for (const each of [query, operationName, documentId, variables, extensions]) if (!each.ok) return each;
  if (!query.ok || !operationName.ok || !documentId.ok || !variables.ok || !extensions.ok) throw new Error("unread");
  const hash = hashOf(documentId.value, extensions.value.get("persistedQuery"));
  if (!hash.ok) return hash;
  if (query.value === undefined && hash.value === undefined) return err(requestFault("The request has no query."));
  return ok({
    query: query.value,
    operationName: operationName.value === "" ? undefined : operationName.value,
    variables: variables.value,
    hash: hash.value,
    others: othersOf(params, extensions.value),
  });
}

function optionalText(params: Params, name: string): Result<string | undefined, GraphqlFault> {
  const slice = params.get(name);
  if (slice === undefined || isNull(slice)) return ok(undefined);
  const text = stringOf(slice);
  return text === undefined ? err(requestFault(`${name} is not a string.`)) : ok(text);
}

function optionalMembers(params: Params, name: string): Result<Params, GraphqlFault> {
  const slice = params.get(name);
  if (slice === undefined || isNull(slice)) return ok(new Map());
  const members = isObject(slice) ? membersOf(slice) : undefined;
  return members === undefined ? err(requestFault(`${name} is not an object.`)) : ok(members);
}

const HASH = /^(?:sha256:)?([0-9a-f]{64})$/i;

/** By Apollo's extension, or as the specification's appendix names a document. */
function hashOf(
  documentId: string | undefined,
  persisted: Slice | undefined,
): Result<string | undefined, GraphqlFault> {
  const hashes = new Set<string>();
  if (documentId !== undefined) {
    const hash = HASH.exec(documentId)?.[1];
    if (hash === undefined) return err(requestFault("documentId is not a SHA-256 hash in hexadecimal digits."));
    hashes.add(hash.toLowerCase());
  }
  if (persisted !== undefined && !isNull(persisted)) {
    const members = isObject(persisted) ? membersOf(persisted) : undefined;
    const version = members?.get("version");
    const named = members?.get("sha256Hash");
    const hash = HASH.exec((named && stringOf(named)) ?? "")?.[1];
    if (hash === undefined || version === undefined || version.text[version.start] !== "1") {
      return err(requestFault("persistedQuery needs version 1 and sha256Hash."));
    }
    hashes.add(hash.toLowerCase());
  }
  if (hashes.size > 1) return err(requestFault("The request names two documents."));
  return ok([...hashes][0]);
}

/** Some servers read names in any case (`ſ` is an S there): they would take another document than the gateway. */
const isNearlyOwn = (name: string): boolean =>
  !OWN.includes(name as (typeof OWN)[number]) && OWN.some((own) => own.toUpperCase() === name.toUpperCase());

/** The members that a part of a split operation sends beside its own document and variables. */
function othersOf(params: Params, extensions: Params): ReadonlyMap<string, string> {
  const others = new Map<string, string>();
  const kept = [...extensions].filter(([name]) => name !== "persistedQuery");
  if (kept.length > 0) {
    others.set("extensions", `{${kept.map(([name, slice]) => `${JSON.stringify(name)}:${rawOf(slice)}`).join()}}`);
  }
  for (const [name, slice] of params) if (!OWN.includes(name as (typeof OWN)[number])) others.set(name, rawOf(slice));
  return others;
}
