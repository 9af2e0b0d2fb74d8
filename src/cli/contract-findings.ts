import { pointerTo } from "../routing/faults.ts";
import type { CompiledTable, Entity, WithoutId } from "../routing/index.ts";
import { segmentsOf } from "../routing/paths.ts";
import type { IdTest } from "./contract-ids.ts";
import type { ContractPath } from "./contract-paths.ts";

/** Where an origin's paths and the routing table do not agree. Kinds are stable. Plain JSON. */
export interface Finding {
  readonly kind: FindingKind;
  /** JSON pointer into the document; absent for what only the table has. */
  readonly pointer?: string;
  /** JSON pointer into the table, where something of it is meant. */
  readonly table?: string;
  /** As clients send it, base path included; a pattern for what only the table has. */
  readonly path: string;
  readonly message: string;
}

export type FindingKind =
  /** An ID in the path, and no entity that reads it. */
  | "id-without-entity"
  /** An entity reads another segment than the one that looks like its ID. */
  | "id-elsewhere"
  /** Where the entity reads an ID, the document has literal text, or text around the ID. */
  | "literal-for-id"
  /** A path of an entity that no operation has. */
  | "entity-without-operation"
  /** A path without an ID that no operation has. */
  | "without-id-without-operation"
  /** An operation without an ID that nothing routes. */
  | "operation-unrouted"
  /** An operation on a path of the gateway's own. */
  | "reserved-path";

/** What the gateway answers itself, or by the ID alone. */
const OWN_PATH = /^\/(?:mint$|any\/|-\/)/;

/** What the table makes of one path of the document; nothing where they agree. */
export const findingOf = (path: ContractPath, table: CompiledTable, isId: IdTest): readonly Finding[] => {
  const at = { pointer: path.pointer, path: path.path };
  if (OWN_PATH.test(path.path)) {
    return [
      { kind: "reserved-path", ...at, message: "the gateway answers this path itself: the operation is never reached" },
    ];
  }
  const match = table.paths.match(path.path);
  if (match !== undefined) return entityFinding(path, match.entity, path.path.slice(match.idStart, match.idEnd), isId);
  const [id] = idsIn(path, isId);
  const entry = table.withoutId.match(path.path);
  if (id !== undefined && (entry === undefined || isCaughtAll(entry, path.path))) {
    const how =
      entry === undefined ? "nothing routes the path" : `${entry.entity.name} routes it by something else than the ID`;
    const message = `{${id.name}} looks like an ID (${id.why}), and no entity reads it: ${how}`;
    return [{ kind: "id-without-entity", ...at, message }];
  }
  return path.methods
    .filter((method) => !takes(entry, method))
    .map((method) => ({
      kind: "operation-unrouted",
      pointer: `${path.pointer}/${method.toLowerCase()}`,
      path: path.path,
      message:
        entry === undefined
          ? `nothing routes ${method} here`
          : `${entry.entity.name} takes the path, and not ${method}`,
    }));
};

const takes = (entry: WithoutId | undefined, method: string): boolean =>
  entry !== undefined && (entry.methods === undefined || entry.methods.includes(method));

/** Whether only a pattern that takes everything below has it: nobody decided about this very path. */
const isCaughtAll = ({ entity }: WithoutId, path: string): boolean =>
  !entity.paths.some((pattern) => !pattern.endsWith("/**") && isLike(segmentsOf(pattern), segmentsOf(path)));

const idsIn = ({ parameters }: ContractPath, isId: IdTest) =>
  parameters.flatMap((parameter) => {
    const why = isId(parameter);
    return why === undefined ? [] : [{ name: parameter.name, why }];
  });

const entityFinding = (path: ContractPath, entity: Entity, segment: string, isId: IdTest): readonly Finding[] => {
  const at = { pointer: path.pointer, table: pointerTo(["entities", entity.name, "path"]), path: path.path };
  const [, name] = /^\{([^{}]+)\}$/.exec(segment) ?? [];
  if (name === undefined) {
    const message = `${entity.name} reads ${JSON.stringify(segment)} as an ID, so that every request here is refused`;
    return [{ kind: "literal-for-id", ...at, message }];
  }
  const ids = idsIn(path, isId);
  const [first] = ids;
  if (first === undefined || ids.some((id) => id.name === name)) return [];
  const message = `${entity.name} reads {${name}}, and {${first.name}} looks like its ID (${first.why})`;
  return [{ kind: "id-elsewhere", ...at, message }];
};

/** Whether a path of the document is one that a pattern without an ID takes. */
const isLike = (pattern: readonly string[], path: readonly string[]): boolean => {
  const isOpenEnded = pattern.at(-1) === "**";
  if (isOpenEnded ? path.length < pattern.length : path.length !== pattern.length) return false;
  return pattern.every((segment, at) => segment === "*" || segment === "**" || segment === path[at]);
};
