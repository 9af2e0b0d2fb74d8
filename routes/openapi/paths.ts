import { type CompiledTable, type Entity, hintName, type WithoutId } from "../../src/routing/index.ts";
import { KNOWN_NAMES_MAX } from "../../src/routing/limits.ts";
import type { Listed } from "../../src/routing/resolve/listed.ts";

/** The paths that a table gives to entities and to requests without an ID, as OpenAPI 3.1 describes them. */
export type Paths = Record<string, object>;

export const TEXT = { type: "string" };
export const TIME = { type: "string", format: "date-time" };

export const PROBLEM_CONTENT = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };

/** Bodies that an origin takes or answers: JSON to a client that is made from this document, and any type to all others. */
const ANY_CONTENT = { "application/json": { schema: {} }, "*/*": { schema: {} } };

/** Optional: only the origin knows which requests have a body. */
export const ANY_BODY = { requestBody: { required: false, content: ANY_CONTENT } };

/** By an origin, or by the gateway: a problem may come with any status that is no success. */
export const ANY_RESPONSES = {
  // Some makers of clients read no range.
  "200": { description: "The origin's response.", content: ANY_CONTENT },
  "2XX": { description: "The origin's response with another good status.", content: ANY_CONTENT },
  default: {
    description: "The origin's response, or a problem of the gateway.",
    // Validators that know no order of ranges take the first that fits.
    content: { "application/json": { schema: {} }, ...PROBLEM_CONTENT, "*/*": { schema: {} } },
  },
};

/** A body of the others has no meaning of its own (RFC 9110 §9.3). */
const WITH_BODY: ReadonlySet<string> = new Set(["post", "put", "patch", "delete"]);

/** The methods of OpenAPI; TRACE is not proxied. */
const METHODS = ["get", "head", "post", "put", "patch", "delete", "options"] as const;

export const ID_PARAMETER = pathParameter("id", { maxLength: 128 });

export function entityPaths(table: CompiledTable): Paths {
  if (table.entities.size === 0) return {};
  const hint = layoutParameter(table);
  const paths = new Map<string, object>([
    [
      "/any/{id}",
      pathItem({
        methods: METHODS,
        name: "any",
        tag: "entities",
        summary: "The entity of the ID, whatever its type",
        parameters: [ID_PARAMETER, hint],
        redirects: true,
      }),
    ],
  ]);
  for (const entity of table.entities.values()) {
    for (const [index, pattern] of entity.paths.entries()) {
      const { path, parameters } = templateOf(pattern);
      const fixed = entity.pathHints.get(pattern);
      // Public IDs have one layout, and a pattern with a layout fixes it: the header has no effect on either.
      const all = entity.reading?.hides !== true && fixed === undefined ? [...parameters, hint] : parameters;
      const summary = `The ${entity.name} that the ID names${fixed === undefined ? "" : `, read as ${hintName(fixed)} alone`}`;
      const own = pathItem({
        methods: methodsOf(entity),
        name: operationName(entity, index),
        tag: "entities",
        summary,
        parameters: all,
      });
      paths.set(path, joined(paths.get(path), own, entity));
    }
  }
  return Object.fromEntries(paths);
}

const methodsOf = ({ conditions }: Entity) =>
  METHODS.filter((method) => conditions?.methods?.includes(method.toUpperCase()) ?? true);

/** An owner that lists a method has it before one that takes the rest. */
const joined = (before: object | undefined, own: object, { conditions }: Entity): object =>
  conditions?.methods === undefined ? { ...own, ...before } : { ...before, ...own };

/** Templates that differ only in parameter names are identical (OpenAPI 3.1 §4.8.8), so they are joined under the first. */
export function withoutIdPaths(table: CompiledTable, before: Paths): Paths {
  const paths = { ...before };
  const known = new Map(Object.keys(before).map((path) => [shapeOf(path), path]));
  for (const entry of table.withoutId.entries) {
    const summary = `${entry.entity.name}: to the region that something else than an ID says`;
    for (const [index, pattern] of entry.entity.paths.entries()) {
      const { path, parameters } = templateOf(pattern);
      const all = [...parameters, ...sourceParameters(entry)];
      const own = pathItem({
        methods: methodsOf(entry.entity),
        name: operationName(entry.entity, index),
        tag: "without-id",
        summary,
        parameters: all,
      });
      const first = known.get(shapeOf(path));
      if (first === undefined) {
        known.set(shapeOf(path), path);
        paths[path] = own;
      } else {
        const { parameters: _, ...operations } = own;
        paths[first] = joined(paths[first], operations, entry.entity);
      }
    }
  }
  return paths;
}

const shapeOf = (template: string): string => template.replaceAll(/\{[^}]+\}/g, "{}");

/** Names of entities have no dot, so operation names are unique. */
const operationName = ({ name }: Entity, index: number): string => (index === 0 ? name : `${name}.${index + 1}`);

/** A path whose methods all do the same. */
interface SharedPath {
  /** In lower case. */
  readonly methods: readonly string[];
  /** Operations are named by method and this: `get_order`. */
  readonly name: string;
  readonly tag: string;
  readonly summary: string;
  readonly parameters: readonly object[];
  /** Whether the gateway may answer with a redirect. */
  readonly redirects?: boolean;
}

export function pathItem({ methods, name, tag, summary, parameters, redirects = false }: SharedPath): {
  readonly parameters: readonly object[];
} {
  const responses = {
    ...(redirects ? { "307": { description: "The entity's own path, where the table says so." } } : {}),
    ...ANY_RESPONSES,
  };
  const operations = methods.map((method) => [
    method,
    {
      operationId: `${method}_${name}`,
      tags: [tag],
      summary,
      security: [],
      ...(WITH_BODY.has(method) && ANY_BODY),
      responses,
    },
  ]);
  return { parameters, ...Object.fromEntries(operations) };
}

/** `/v2/*\/rides/:id` as `/v2/{segment1}/rides/{id}`; `**` is `{rest}`, although an OpenAPI parameter is one segment. */
export function templateOf(pattern: string): { readonly path: string; readonly parameters: readonly object[] } {
  const parameters: object[] = [];
  let count = 0;
  const named = (parameter: { readonly name: string }): string => {
    parameters.push(parameter);
    return `{${parameter.name}}`;
  };
  const segments = pattern.split("/").map((segment) => {
    if (segment === ":id") return named(ID_PARAMETER);
    if (segment === "*") return named(pathParameter(`segment${++count}`));
    return segment === "**" ? named(pathParameter("rest")) : segment;
  });
  return { path: segments.join("/"), parameters };
}

export function pathParameter(name: string, limits: object = {}) {
  return { name, in: "path", required: true, schema: { type: "string", ...limits } };
}

export function parameter(place: string, name: string, description: string, limits: object = {}) {
  return { name, in: place, description, schema: { type: "string", ...limits } };
}

function layoutParameter({ layouts }: CompiledTable): object {
  const description = "The layout of the ID, for texts that several layouts can read.";
  return parameter("header", "id-layout", description, { examples: [...layouts.keys()] });
}

/** Nothing where other values are let through too, or where they are too many to read. */
const valuesIn = ({ regions, prefixes, goesOn }: Listed): object =>
  goesOn || prefixes !== undefined || regions.size > KNOWN_NAMES_MAX ? {} : { enum: [...regions.keys()] };

/** Without `authorization`: OpenAPI 3.1 §4.8.12 ignores it as a parameter. */
function sourceParameters({ sources, idFields = [] }: WithoutId): readonly object[] {
  const described = new Map<string, object>();
  for (const source of sources) {
    if (source.kind === "header" || source.kind === "claim") {
      if (source.header === "authorization") continue;
      const limits = source.kind === "header" ? valuesIn(source.listed) : {};
      const says = `Says the region: ${source.label}.`;
      described.set(`header ${source.header}`, parameter("header", source.header, says, limits));
    } else if (source.kind === "cookie") {
      const says = "Names the region; ignored if it names none.";
      described.set(source.label, parameter("cookie", source.cookie, says));
    } else if (source.kind === "query") {
      const says = `Says the region: ${source.label}.`;
      described.set(source.label, parameter("query", source.name, says, valuesIn(source.listed)));
    } else if (source.kind === "headers") {
      for (const { header } of source.conditions) {
        const says = `Says the region, with the others of the ${source.label}.`;
        if (!described.has(`header ${header}`)) described.set(`header ${header}`, parameter("header", header, says));
      }
    }
  }
  for (const { label, kind, name, entity } of idFields) {
    described.set(label, parameter(kind, name, `An ID of ${entity}.`));
  }
  return [...described.values()];
}

/** A path whose parameters stand at each method, so that they are not of another one. */
export function withOwnParameters(item: object): object {
  const { parameters, ...methods }: Readonly<Record<string, object>> = { ...item };
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, { ...method, parameters }]));
}
