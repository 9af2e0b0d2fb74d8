import type { CompiledTable, Entity, PathMatch, WithoutId } from "../../../routing/index.ts";
import { groupBy } from "../../../routing/layouts/plan.ts";
import { indexExactPaths } from "../../../routing/lookup/path-index.ts";
import { segmentsOf } from "../../../routing/lookup/paths.ts";
import { entityAt, hostsOf } from "../../../routing/resolve/owner.ts";
import { pointerTo } from "../../../routing/schema/faults.ts";
import { type ContractPath, type NotRead, operationPointer, type Parameter, type Unread } from "./paths.ts";

/** Why a parameter looks like an ID, as the end of a sentence. `undefined`: it does not. */
export type IdTest = (parameter: Parameter) => string | undefined;

/** `id`, `orderId`, `order_id`, `order-id`, `orderID`, `uuid`, `orderUuid`; but not `paid` or `grid`. */
const ID_NAME = /^(?:.*[a-z0-9]I[dD]|(?:.*[_-])?(?:id|ID|uuid|guid|UUID|GUID)|.*[a-z0-9](?:Uuid|Guid|UUID|GUID))$/;

/** Formats of IDs in common use; only `uuid` is registered (OpenAPI Format Registry). */
const ID_FORMAT = /^(?:uuid|guid|ulid|ksuid|xid|cuid|objectid|snowflake)$/i;

export const looksLikeId: IdTest = ({ name, format }) => {
  if (format !== undefined && ID_FORMAT.test(format)) return `its format is ${format}`;
  return ID_NAME.test(name) ? "it is named like one" : undefined;
};

/** Only names that match the user's expression are IDs. */
export const matchesGiven =
  (expression: RegExp): IdTest =>
  ({ name }) =>
    expression.test(name) ? "--id-param says so" : undefined;

/** A disagreement between document and table. Plain JSON. */
export interface Finding {
  /** Kinds are stable; docs/reference/cli.md lists them. */
  readonly kind:
    | ("id-without-entity" | "id-elsewhere" | "literal-for-id" | "reserved-path")
    | ("entity-without-operation" | "without-id-without-operation" | "operation-unrouted" | "reference-unread");
  /** JSON pointer into the document; absent if only the table has the path. */
  readonly pointer?: string;
  /** JSON pointer into the table, if the finding concerns an entry. */
  readonly table?: string;
  /** As clients send it, with base path; a pattern if only the table has it. */
  readonly path: string;
  readonly message: string;
}

/** Paths of the gateway itself, or of IDs alone. */
const OWN_PATH = /^\/(?:mint$|any(?:\/|$)|-\/)/;

/** A table with what is looked up for each path of a document. */
export interface Comparison {
  readonly table: CompiledTable;
  readonly isId: IdTest;
  /** Hosts that the table names, and one that it does not. */
  readonly hosts: readonly string[];
  /** Whether only a catch-all pattern of the entry matches: the path itself has no entry. */
  readonly isCaughtAll: (entry: WithoutId, path: string) => boolean;
}

export const createComparison = (table: CompiledTable, isId: IdTest): Comparison => {
  const owners = new Map<string, Set<Entity>>();
  for (const { entity } of table.withoutId.entries) {
    for (const pattern of entity.paths) owners.set(pattern, (owners.get(pattern) ?? new Set()).add(entity));
  }
  const exact = indexExactPaths(
    [...owners].flatMap(([pattern, of]) => (pattern.endsWith("/**") ? [] : [{ paths: [pattern], of }])),
  );
  const hosts = ["", ...hostsOf(table)];
  return { table, isId, hosts, isCaughtAll: ({ entity }, path) => exact.match(path)?.entity.of.has(entity) !== true };
};

const UNREAD: Readonly<Record<Unread["why"], string>> = {
  elsewhere: "is not in this document, so it is not compared: bundle the documents first",
  nowhere: "is not in this document, so it is not compared: correct the reference",
  circle: "leads back to itself, so it is not compared: correct the reference",
};

export const findingOf = (path: ContractPath, comparison: Comparison): readonly Finding[] => [
  ...path.unread.map(({ pointer, reference, why }): Finding => {
    return { kind: "reference-unread", pointer, path: path.path, message: `${reference} ${UNREAD[why]}` };
  }),
  // RFC 9110 §9.3.8: an answer would show what the gateway adds.
  ...path.methods
    .filter((method) => method === "TRACE")
    .map((method) => unroutedFinding(path, method, "the gateway refuses TRACE")),
  ...disagreements({ ...path, methods: path.methods.filter((method) => method !== "TRACE") }, comparison),
];

const unroutedFinding = ({ pointer, path }: ContractPath, method: string, message: string): Finding => ({
  kind: "operation-unrouted",
  pointer: pointer + operationPointer(method),
  path,
  message,
});

const disagreements = (path: ContractPath, comparison: Comparison): readonly Finding[] => {
  const { isId } = comparison;
  const at = { pointer: path.pointer, path: path.path };
  if (OWN_PATH.test(path.path)) {
    const message = "the gateway serves this path itself: the operation is never reached";
    return [{ kind: "reserved-path", ...at, message }];
  }
  // A document without an operation still says that there is the path.
  const methods = path.methods.length === 0 ? ["GET"] : path.methods;
  const owners = methods.map((method) => ({ method, ...ownerAt(comparison, path.path, method) }));
  const matches = new Map(owners.flatMap(({ match }) => (match === undefined ? [] : [[match.entity, match] as const])));
  return [
    ...[...matches.values()].flatMap(({ entity, idStart, idEnd }) =>
      entityFinding(path, entity, path.path.slice(idStart, idEnd), isId),
    ),
    ...[...groupBy(owners, ({ entry }) => entry)].flatMap(([entry, those]) => {
      const left = those.filter(({ match }) => match === undefined);
      return left.length === 0 ? [] : withoutIdFindings(path, comparison, entry, left);
    }),
  ];
};

type OwnerAt = {
  readonly match?: PathMatch;
  readonly entry?: WithoutId;
  /** The owner of the path for other methods. */
  readonly refusedBy?: string | undefined;
};

/** Whose path it is for a method, on some host that the table names or on another one. */
const ownerAt = ({ table, hosts }: Comparison, path: string, method: string): OwnerAt => {
  let refusedBy: string | undefined;
  for (const servedHost of hosts) {
    const asked = { method, preflightFor: undefined, servedHost };
    const match = entityAt(table, path, asked);
    if (match !== undefined && match.allow === undefined) return { match };
    const { literal, shared, match: own } = table.withoutId;
    const beside = literal?.match(path, asked) ?? shared?.(path, asked);
    const entry = beside ?? (match === undefined ? own(path, asked) : undefined);
    if (entry !== undefined && entry.allow === undefined) return { entry: entry.entity };
    refusedBy ??= match?.entity.name ?? entry?.entity.entity.name;
  }
  return { refusedBy };
};

const withoutIdFindings = (
  path: ContractPath,
  { table, isId, isCaughtAll }: Comparison,
  entry: WithoutId | undefined,
  those: readonly (OwnerAt & { readonly method: string })[],
): readonly Finding[] => {
  const at = { pointer: path.pointer, path: path.path };
  const [id] = idsIn(path, isId);
  const isRefused = entry === undefined && those.every(({ refusedBy }) => refusedBy !== undefined);
  if (id !== undefined && !isRefused && (entry === undefined || isCaughtAll(entry, path.path))) {
    const how = entry === undefined ? "no entity routes this path" : `${entry.entity.name} does not route it by the ID`;
    const message = `{${id.name}} looks like an ID (${id.why}), but no entity reads it: ${how}`;
    return [{ kind: "id-without-entity", ...at, message }];
  }
  const unrouted = those.filter(
    ({ method }) => path.methods.includes(method) && !takes(entry, method) && !isCollection(table, path.path, method),
  );
  return unrouted.map(({ method, refusedBy: name = entry?.entity.name }) =>
    unroutedFinding(
      path,
      method,
      name ? `${name} matches the path, but not ${method}` : `${method} is not routed here`,
    ),
  );
};

const takes = (entry: WithoutId | undefined, method: string): boolean =>
  entry !== undefined && (entry.methods === undefined || entry.methods.includes(method));

/** Collections that the gateway creates in, or lists over all regions. */
const isCollection = ({ creates, lists }: CompiledTable, path: string, method: string): boolean =>
  method === "POST" ? creates?.match(path) !== undefined : method === "GET" && lists?.has(path) === true;

const idsIn = ({ parameters }: ContractPath, isId: IdTest) =>
  parameters.flatMap((parameter) => {
    const why = isId(parameter);
    return why === undefined ? [] : [{ name: parameter.name, why }];
  });

const entityFinding = (path: ContractPath, entity: Entity, segment: string, isId: IdTest): readonly Finding[] => {
  const at = { pointer: path.pointer, table: pointerTo(["entities", entity.name, "path"]), path: path.path };
  const [, name] = /^\{([^{}]+)\}$/.exec(segment) ?? [];
  if (name === undefined) {
    const message = `${entity.name} reads ${JSON.stringify(segment)} as an ID, so every request here is rejected`;
    return [{ kind: "literal-for-id", ...at, message }];
  }
  const ids = idsIn(path, isId);
  const [first] = ids;
  if (first === undefined || ids.some((id) => id.name === name)) return [];
  const message = `${entity.name} reads {${name}}, and {${first.name}} looks like its ID (${first.why})`;
  return [{ kind: "id-elsewhere", ...at, message }];
};

/** A segment that is one parameter and nothing else. */
const PARAMETER = /^\{[^{}]+\}$/;

/** `{proxy+}` of API Gateway, `{+path}` of RFC 6570, `{path*}`: they take further segments. */
const MANY_SEGMENTS = /^\{(?:\+[^{}]*|[^{}]*[+*])\}$/;

/** IDs that a pattern of a table cannot name: beside other text in their segment, or over several segments. */
export const idsNotRead = (path: ContractPath, isId: IdTest): readonly NotRead[] => {
  const isMeant = (segment: string) => idsIn(path, isId).some(({ name }) => segment.includes(`{${name}}`));
  const { pointer, template: text } = path;
  const segments = segmentsOf(text);
  if (segments.some((segment) => MANY_SEGMENTS.test(segment))) return [{ reason: "many-segments", pointer, text }];
  const isPart = (segment: string) => segment.includes("{") && !PARAMETER.test(segment) && isMeant(segment);
  return segments.some(isPart) ? [{ reason: "segment", pointer, text }] : [];
};

type Pattern = ReturnType<typeof patternsOf>[number];

/** Paths of the table, and whether the document has the path and one of `methods`. `undefined`: all methods. */
const patternsOf = (owner: Entity, isEntity: boolean, methods?: readonly string[]) =>
  owner.paths.map((text, index) => {
    const seen = { hasPath: false, hasMethod: false };
    const isClosed = owner.closedPaths?.has(text) === true;
    return { text, segments: segmentsOf(text), owner, isEntity, isClosed, index, methods, ...seen };
  });

/** Patterns by their segments: tables and documents have thousands of each. */
interface PatternNode {
  readonly next: Map<string, PatternNode>;
  /** Patterns that end here, and those that take all below as well. */
  readonly exact: Pattern[];
  readonly below: Pattern[];
}

const newNode = (): PatternNode => ({ next: new Map(), exact: [], below: [] });

const indexPatterns = (patterns: readonly Pattern[]): PatternNode => {
  const root = newNode();
  for (const pattern of patterns) {
    const isBelow = pattern.segments.at(-1) === "**";
    let node = root;
    for (const segment of isBelow ? pattern.segments.slice(0, -1) : pattern.segments) {
      const next = node.next.get(segment) ?? newNode();
      node.next.set(segment, next);
      node = next;
    }
    (isBelow || (pattern.isEntity && !pattern.isClosed) ? node.below : node.exact).push(pattern);
  }
  return root;
};

/** Visits each pattern that matches a path of the document, where a parameter stands for any segment. */
const visitLike = (node: PatternNode, segments: readonly string[], at: number, visit: (pattern: Pattern) => void) => {
  for (const pattern of node.below) if (pattern.isEntity || at < segments.length) visit(pattern);
  const segment = segments[at];
  if (segment === undefined) {
    node.exact.forEach(visit);
    return;
  }
  const names = PARAMETER.test(segment) ? [segment, "*", ":id"] : [segment, "*"];
  for (const name of new Set(names)) {
    const next = node.next.get(name);
    if (next !== undefined) visitLike(next, segments, at + 1, visit);
  }
};

/** Routed paths without an operation. `isMeant`: whether the document covers the path. */
export const missingOperations = (
  paths: readonly ContractPath[],
  table: CompiledTable,
  isMeant: (pattern: string) => boolean,
): readonly Finding[] => {
  const patterns = [
    ...[...table.entities.values()].flatMap((owner) => patternsOf(owner, true, owner.conditions?.methods)),
    ...table.withoutId.entries.flatMap(({ entity, methods }) => patternsOf(entity, false, methods)),
  ].filter(({ text }) => isMeant(text));
  const index = indexPatterns(patterns);
  for (const { path, methods, unread } of paths) {
    visitLike(index, segmentsOf(path), 0, (pattern) => {
      pattern.hasPath = true;
      // Behind a reference that is not read may be any operation.
      pattern.hasMethod ||=
        pattern.methods === undefined || unread.length > 0 || methods.some((each) => pattern.methods?.includes(each));
    });
  }
  return patterns
    .filter(({ isEntity, methods, hasPath, hasMethod }) => !(isEntity && methods === undefined ? hasPath : hasMethod))
    .map(missingFinding);
};

const missingFinding = ({ text, owner: { name, paths }, isEntity, index, hasPath }: Pattern): Finding => {
  const [kind, part] = isEntity
    ? (["entity-without-operation", "entities"] as const)
    : (["without-id-without-operation", "withoutId"] as const);
  const what = isEntity ? `this path of ${name}` : hasPath ? `a method that ${name} takes on this path` : "this path";
  const table = pointerTo(paths.length === 1 ? [part, name, "path"] : [part, name, "path", index]);
  return { kind, table, path: text, message: `no operation has ${what}` };
};
