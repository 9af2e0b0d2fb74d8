import { type Document, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { err, ok, type Result } from "../../../ids/index.ts";
import { pointerTo } from "../../../routing/schema/faults.ts";
import { duplicateKey, parseJson } from "../../../routing/schema/json-scanner.ts";
import { type Members, objectOf } from "../../lib/json-text.ts";

/** An OpenAPI document as plain values. Its content is untrusted. */

/** The largest known public documents have 10 MB. */
export const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;

/** Limits alias expansion, which can grow exponentially ("billion laughs"). */
const ALIASES_MAX = 100;

/** Reads YAML 1.2 or JSON. The error is a sentence. */
export const readDocument = (bytes: Uint8Array): Result<Members, string> => {
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = parseText(text);
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/\n.*/s, "") : String(error);
    return err(/call stack/.test(message) ? "it is nested too deeply" : message);
  }
  const document = objectOf(value);
  const version = document?.["openapi"];
  if (document === undefined) return err("it is not an object");
  if (typeof version === "string" && /^3\.\d+\.\d+/.test(version)) return ok(document);
  const said = version ?? document["swagger"];
  if (typeof said !== "string" && typeof said !== "number") return err("it has no `openapi` with a version");
  return err(`it is of version ${said}, but only 3.x is supported`);
};

/** JSON is valid YAML, but the JSON parser is a hundred times faster. */
const parseText = (text: string): unknown => {
  if (text.trimStart().startsWith("{")) {
    const json = parseJson(text);
    if (json !== undefined) {
      const twice = duplicateKey(text);
      if (twice !== undefined) throw new Error(`the key ${JSON.stringify(twice)} is duplicated in one object`);
      return json;
    }
    // YAML in flow style, or faulty JSON: the YAML parser reports the line.
  }
  const lines = new LineCounter();
  // The parser's own check for duplicate keys takes minutes on large objects.
  const document = parseDocument(text, { uniqueKeys: false, lineCounter: lines, logLevel: "error", version: "1.2" });
  const [fault] = document.errors;
  if (fault !== undefined) throw fault;
  rejectTwins(document, lines);
  return document.toJS({ maxAliasCount: ALIASES_MAX });
};

/** A parser would silently keep the last of two equal keys. */
const rejectTwins = (document: Document, lines: LineCounter): void => {
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) {
          const { line } = lines.linePos(key.range?.[0] ?? 0);
          throw new Error(`the key ${JSON.stringify(name)} is duplicated in one object, on line ${line}`);
        }
        seen.add(name);
      }
    },
  });
};

/** An own member, never an inherited one: a document may name one `__proto__`. */
export const memberOf = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined;

/** Longer chains of references are a cycle or a mistake. */
const REFERENCES_MAX = 20;

/** The value with references resolved. The error is a reference that leads out of the document, or nowhere. */
const dereference = (document: Members, value: unknown): Result<Members | undefined, string> => {
  let at = objectOf(value);
  let last: string | undefined;
  for (let step = 0; at !== undefined && step < REFERENCES_MAX; step++) {
    const reference = memberOf(at, "$ref");
    if (typeof reference !== "string") return ok(at);
    last = reference;
    at = reference.startsWith("#") ? objectOf(follow(document, reference.slice(1))) : undefined;
  }
  return last === undefined ? ok(undefined) : err(last);
};

/** An RFC 6901 pointer in a URI's fragment (section 6). */
const follow = (document: Members, fragment: string): unknown => {
  let at: unknown = document;
  for (const token of fragment.split("/").slice(1)) {
    const name = decoded(token)?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (name === undefined) return undefined;
    at = Array.isArray(at) ? at[Number(name)] : memberOf(objectOf(at) ?? {}, name);
  }
  return at;
};

const decoded = (token: string): string | undefined => {
  try {
    return decodeURIComponent(token);
  } catch {
    return undefined;
  }
};

/** A path of an OpenAPI document, as clients of the gateway see it. */
export interface ContractPath {
  /** JSON pointer into the document. */
  readonly pointer: string;
  /** With a base path of its servers: `/v1/orders/{orderId}`. */
  readonly path: string;
  readonly template: string;
  readonly methods: readonly string[];
  /** Parts that are in other documents, or nowhere: the path may have more methods. */
  readonly unread: readonly Unread[];
  /** Parameters of the path, in path order. */
  readonly parameters: readonly Parameter[];
}

/** `pointer`: of the part, in this document. */
export type Unread = { readonly pointer: string; readonly reference: string };

export type Parameter = { readonly name: string; readonly format: string | undefined };

/** Fields of a path item that are operations (OpenAPI 3.2, section 4.9). Methods beside these stand in `additionalOperations`. */
const METHODS: readonly string[] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
const OTHERS = "additionalOperations";

/** Where an operation stands in its path item. */
export const operationPointer = (method: string): string => {
  const name = method.toLowerCase();
  return pointerTo(METHODS.includes(name) && method !== name ? [name] : [OTHERS, method]);
};

/** The operations of a path item by their methods, which know case (RFC 9110 §9.1), and what of them is elsewhere. */
const operationsOf = (document: Members, item: Members, at: readonly string[]) => {
  const others = objectOf(memberOf(item, OTHERS)) ?? {};
  const declared = [
    ...METHODS.map((name) => ({ method: name.toUpperCase(), place: [name], value: memberOf(item, name) })),
    ...Object.keys(others).map((method) => ({ method, place: [OTHERS, method], value: memberOf(others, method) })),
  ].filter(({ value }) => value !== undefined);
  const unread: Unread[] = [];
  const operations = declared.flatMap(({ method, place, value }) => {
    const read = dereference(document, value);
    if (!read.ok) unread.push({ pointer: pointerTo([...at, ...place]), reference: read.error });
    // The method is there, whatever the operation says.
    const operation = read.ok ? read.value : {};
    return operation === undefined ? [] : [{ method, place, operation }];
  });
  return { operations, unread };
};

/** A limit on base paths: each path is checked under each of them. */
const SERVERS_MAX = 100;

/** All paths with operations, each once per base path. The error is a sentence. */
export const pathsOf = (document: Members, origins: readonly string[], given?: string) => {
  const isCrowded = (owner: Members): boolean => listOf(memberOf(owner, "servers")).length > SERVERS_MAX;
  let crowded: string | undefined;
  const paths = objectOf(memberOf(document, "paths")) ?? {};
  const found = Object.keys(paths).flatMap((template): readonly ContractPath[] => {
    if (crowded !== undefined || !template.startsWith("/")) return [];
    const at = ["paths", template];
    const declared = memberOf(paths, template);
    const read = dereference(document, declared);
    // Members beside a reference (OpenAPI 3.1, section 4.8.9) are read even where the rest is not.
    const item = read.ok ? read.value : objectOf(declared);
    if (item === undefined) return [];
    const { operations, unread: inside } = operationsOf(document, item, at);
    const pointer = pointerTo(at);
    const outside = read.ok ? inside : [{ pointer, reference: read.error }, ...inside];
    if (operations.length === 0 && outside.length === 0) return [];
    const owners = [
      { at, members: item },
      ...operations.map((each) => ({ at: [...at, ...each.place], members: each.operation })),
    ];
    const servers = [document, ...owners.map(({ members }) => members)];
    if (given === undefined && servers.some(isCrowded)) {
      crowded = template;
      return [];
    }
    const bases = given === undefined ? basesOf(servers, origins) : [given];
    const methods = operations.map(({ method }) => method);
    const { parameters, unread: inParameters } = parametersOf(document, template, owners);
    const unread = [...outside, ...inParameters];
    return bases.map((base) => ({ pointer, path: base + template, template, methods, unread, parameters }));
  });
  if (crowded === undefined) return ok(found);
  return err(`${crowded} has more than ${SERVERS_MAX} servers; name the base path with --base-path`);
};

type Owner = { readonly at: readonly string[]; readonly members: Members };

/**
 * Parameters of an operation override those of its path (OpenAPI 3.1, section 4.8.10). `unread`: only where a parameter of the
 * path may be meant.
 */
const parametersOf = (document: Members, template: string, owners: readonly Owner[]) => {
  const formats = new Map<string, string | undefined>();
  const [unnamed, unread]: [Unread[], Unread[]] = [[], []];
  for (const { at, members } of owners) {
    for (const [index, entry] of listOf(memberOf(members, "parameters")).entries()) {
      const pointer = pointerTo([...at, "parameters", index]);
      const read = dereference(document, entry);
      if (!read.ok) unnamed.push({ pointer, reference: read.error });
      const parameter = (read.ok ? read.value : undefined) ?? {};
      const [name, place] = [memberOf(parameter, "name"), memberOf(parameter, "in")];
      if (typeof name !== "string" || place !== "path") continue;
      const schema = dereference(document, memberOf(parameter, "schema"));
      if (!schema.ok) unread.push({ pointer, reference: schema.error });
      const format = schema.ok && schema.value !== undefined ? memberOf(schema.value, "format") : undefined;
      formats.set(name, typeof format === "string" ? format : undefined);
    }
  }
  const names = [...template.matchAll(/\{([^{}/]+)\}/g)].map(([, name = ""]) => name);
  const parameters = names.map((name): Parameter => ({ name, format: formats.get(name) }));
  return { parameters, unread: names.every((name) => formats.has(name)) ? unread : [...unread, ...unnamed] };
};

/** Base paths: those of the innermost `servers`, without the origin's own, which the gateway adds. */
const basesOf = (owners: readonly Members[], origins: readonly string[]): readonly string[] => {
  const declared = owners.findLast((owner) => listOf(memberOf(owner, "servers")).length > 0);
  const servers = listOf(declared && memberOf(declared, "servers"));
  const bases = servers.length === 0 ? [""] : servers.map((server) => basePathOf(objectOf(server) ?? {}));
  const beyondOrigin = bases.flatMap((base) => {
    const own = origins.filter((origin) => base === origin || base.startsWith(`${origin}/`));
    return own.map((origin) => base.slice(origin.length));
  });
  return [...new Set([...bases, ...beyondOrigin])];
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The path of a server URL, absolute or relative, with its variables at their defaults. */
const basePathOf = (server: Members): string => {
  const url = memberOf(server, "url");
  if (typeof url !== "string") return "";
  const variables = objectOf(memberOf(server, "variables")) ?? {};
  const filled = url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const standard = memberOf(objectOf(memberOf(variables, name)) ?? {}, "default");
    return typeof standard === "object" || standard === undefined ? whole : String(standard);
  });
  const path = filled.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  return path.startsWith("/") ? path.replace(/\/+$/, "") : "";
};
