import { err, ok, type Result } from "../ids/index.ts";
import { pointerTo } from "../routing/faults.ts";
import { type Members, memberOf, membersOf, resolve } from "./contract-document.ts";

/** A path of an OpenAPI document, as a gateway in front of the origin sees it. */
export interface ContractPath {
  /** JSON pointer into the document. */
  readonly pointer: string;
  /** With one of the base paths of its servers in front: `/v1/orders/{orderId}`. */
  readonly path: string;
  /** As the document writes it. */
  readonly template: string;
  readonly methods: readonly string[];
  /** Parameters of the path, in the order in which they stand in it. */
  readonly parameters: readonly Parameter[];
}

export interface Parameter {
  readonly name: string;
  /** What its schema says of its form; `undefined` where it says nothing. */
  readonly format: string | undefined;
}

/** Fields of a path item that are operations (OpenAPI 3.1, section 4.8.9). */
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch"] as const;

/** Each path is looked at under each server's base path; nobody has so many. */
const SERVERS_MAX = 100;

/**
 * All paths of a document, each once for every base path that it may stand under. Those without an operation are left out. The
 * error is a sentence.
 */
export const pathsOf = (
  document: Members,
  origins: readonly string[],
  given?: string,
): Result<readonly ContractPath[], string> => {
  const isCrowded = (owner: Members): boolean => listOf(memberOf(owner, "servers")).length > SERVERS_MAX;
  let crowded: string | undefined;
  const paths = membersOf(memberOf(document, "paths")) ?? {};
  const found = Object.keys(paths).flatMap((template) => {
    if (crowded !== undefined) return [];
    const item = template.startsWith("/") ? resolve(document, memberOf(paths, template)) : undefined;
    if (item === undefined) return [];
    const operations = METHODS.flatMap((method) => {
      const operation = resolve(document, memberOf(item, method));
      return operation === undefined ? [] : [{ method: method.toUpperCase(), operation }];
    });
    if (operations.length === 0) return [];
    const owners = [item, ...operations.map(({ operation }) => operation)];
    if (given === undefined && [document, ...owners].some(isCrowded)) {
      crowded = template;
      return [];
    }
    const bases = given === undefined ? basesOf([document, ...owners], origins) : [given];
    const pointer = pointerTo(["paths", template]);
    const methods = operations.map(({ method }) => method);
    const parameters = parametersOf(document, template, owners);
    return bases.map((base) => ({ pointer, path: base + template, template, methods, parameters }));
  });
  return crowded === undefined
    ? ok(found)
    : err(`${crowded} has more than ${SERVERS_MAX} servers; name the base path with --base-path`);
};

/** Who declares a parameter last is right: an operation goes before its path (OpenAPI 3.1, section 4.8.10). */
const parametersOf = (document: Members, template: string, owners: readonly Members[]): readonly Parameter[] => {
  const formats = new Map<string, string | undefined>();
  for (const owner of owners) {
    const declared = memberOf(owner, "parameters");
    for (const entry of Array.isArray(declared) ? declared : []) {
      const parameter = resolve(document, entry) ?? {};
      const [name, place] = [memberOf(parameter, "name"), memberOf(parameter, "in")];
      if (typeof name === "string" && place === "path") formats.set(name, formatOf(document, parameter));
    }
  }
  return [...template.matchAll(/\{([^{}/]+)\}/g)].map(([, name = ""]) => ({ name, format: formats.get(name) }));
};

const formatOf = (document: Members, parameter: Members): string | undefined => {
  const schema = resolve(document, memberOf(parameter, "schema"));
  const format = schema && memberOf(schema, "format");
  return typeof format === "string" ? format : undefined;
};

/**
 * What stands before the paths: the servers that are named nearest to an operation. An origin's own base path is put there by the
 * gateway, so that clients leave it out.
 */
const basesOf = (owners: readonly Members[], origins: readonly string[]): readonly string[] => {
  const declared = owners.findLast((owner) => listOf(memberOf(owner, "servers")).length > 0);
  const servers = listOf(declared && memberOf(declared, "servers"));
  const bases = servers.length === 0 ? [""] : servers.map((server) => basePathOf(membersOf(server) ?? {}));
  const beyondOrigin = bases.flatMap((base) =>
    origins
      .filter((origin) => base === origin || base.startsWith(`${origin}/`))
      .map((origin) => base.slice(origin.length)),
  );
  return [...new Set([...bases, ...beyondOrigin])];
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The path of a server's URL, which may be a path alone, with its variables at their defaults. */
const basePathOf = (server: Members): string => {
  const url = memberOf(server, "url");
  if (typeof url !== "string") return "";
  const variables = membersOf(memberOf(server, "variables")) ?? {};
  const filled = url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const standard = memberOf(membersOf(memberOf(variables, name)) ?? {}, "default");
    return typeof standard === "object" || standard === undefined ? whole : String(standard);
  });
  const path = filled.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  return path.startsWith("/") ? path.replace(/\/+$/, "") : "";
};
