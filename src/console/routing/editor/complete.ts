import { plainJson } from "../../../routing/index.ts";
import schema from "../../../routing/routing-table.schema.json";
import { parseJson } from "../../../routing/schema/json-scanner.ts";

/** Completions at a place of the table: by its JSON Schema, and names that the table itself has. */

export interface Member {
  readonly name: string;
  readonly description?: string | undefined;
  /** As JSON. */
  readonly value: string;
}

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string;
  readonly $ref?: string;
}

const TOP = schema as unknown as Schema & { readonly $defs?: Readonly<Record<string, Schema>> };

/** All that a schema may mean: its alternatives, one by one. */
function alternatives(of: Schema, depth = 0): readonly Schema[] {
  if (depth > 8) return [];
  if (of.$ref !== undefined) {
    const found = TOP.$defs?.[of.$ref.split("/").at(-1) ?? ""];
    return found === undefined ? [] : alternatives(found, depth + 1);
  }
  const inner = [...(of.anyOf ?? []), ...(of.oneOf ?? []), ...(of.allOf ?? [])];
  return [of, ...inner.flatMap((each) => alternatives(each, depth + 1))];
}

function at(path: readonly string[]): readonly Schema[] {
  let here = alternatives(TOP);
  for (const step of path) {
    here = here.flatMap(({ properties, additionalProperties, items, prefixItems }) => {
      const named = properties !== undefined && Object.hasOwn(properties, step) ? properties[step] : undefined;
      const others = typeof additionalProperties === "object" ? additionalProperties : undefined;
      return [named ?? others, items, prefixItems?.[Number(step)]].flatMap((next) => (next ? alternatives(next) : []));
    });
  }
  return here;
}

/** The members that an object there may have. */
export function membersAt(path: readonly string[]): readonly Member[] {
  const members = new Map<string, Member>();
  for (const { properties = {} } of at(path)) {
    for (const [name, { description }] of Object.entries(properties))
      members.set(name, { name, description, value: "" });
  }
  return [...members.values()];
}

/** Members whose values are names of another part of the table. */
const NAMED_PARTS: Readonly<Record<string, string>> = {
  region: "regions",
  default: "regions",
  from: "regions",
  to: "regions",
  failover: "regions",
  entity: "entities",
  country: "countries",
  layout: "layouts",
  pack: "packs",
  directory: "directory",
};

/** The values that are known for a place: words of the schema, and names of the table. */
export function valuesAt(path: readonly string[], text: string): readonly Member[] {
  const words = at(path).flatMap((one) => [...(one.enum ?? []), ...("const" in one ? [one.const] : [])]);
  const flags = at(path).some(({ type }) => type === "boolean") ? [true, false] : [];
  const member = path.findLast((step) => !/^\d+$/.test(step)) ?? "";
  const part = NAMED_PARTS[member];
  const table = part === undefined ? undefined : parseJson(plainJson(text));
  const named = Object.keys((table as Readonly<Record<string, object>> | undefined)?.[part ?? ""] ?? {});
  const all = [...words, ...flags, ...named].map((value) => ({ name: String(value), value: JSON.stringify(value) }));
  return [...new Map(all.map((one) => [one.value, one])).values()];
}
