import { idOf, KINDS, PER_KIND } from "./world.ts";

/** Random documents of the schema in `world.ts`. Choices come from a list, so that a failing case shrinks. */

export class Choices {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** From 0 to `count - 1`; 0 once the list has ended. */
  below(count: number): number {
    return (this.#numbers[this.#at++] ?? 0) % count;
  }

  one<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value;
  }

  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent;
  }
}

const LEAVES = ["id", "name", "big", "ratio", "count", "fails", "failsHard", "__typename", "tags", "tags(first: 1)"];

/** `withoutHome`: no field without an ID, whose region would be one of several. */
export function randomBody(choices: Choices, { withoutHome = false } = {}): string {
  const definitions: string[] = [];
  const declared: string[] = [];
  const variables: Record<string, unknown> = {};
  let names = 0;

  const variable = (type: string, value: unknown, literal: string | undefined): string => {
    const name = `v${names++}`;
    const byDefault = literal !== undefined && choices.chance(30);
    declared.push(`$${name}: ${type}${byDefault ? ` = ${literal}` : ""}`);
    if (!byDefault) variables[name] = value;
    return `$${name}`;
  };
  const kindOf = () => choices.below(KINDS.length);
  const entityId = (kind = kindOf()) => idOf(kind, choices.below(PER_KIND + 2));
  const idValue = (id: string): string =>
    choices.chance(50) ? variable("ID!", id, JSON.stringify(id)) : JSON.stringify(id);
  /** In a list a variable that is not given is null. */
  const nullValue = (): string => {
    if (choices.chance(50)) return "null";
    const name = variable("ID", null, "null");
    if (choices.chance(50)) delete variables[name.slice(1)];
    return name;
  };
  const listValue = (ids: readonly (string | null)[], mayBeNull: boolean): string => {
    const literal = JSON.stringify(ids);
    if (choices.chance(50)) return variable(mayBeNull ? "[ID]!" : "[ID!]!", ids, literal);
    return `[${ids.map((id) => (id === null ? nullValue() : idValue(id))).join(", ")}]`;
  };
  const directive = (): string => {
    if (!choices.chance(15)) return "";
    const isTrue = choices.chance(50);
    const value = choices.chance(50) ? variable("Boolean!", isTrue, String(isTrue)) : String(isTrue);
    return ` @${choices.one(["skip", "include"])}(if: ${value})`;
  };
  const itemSelection = (): string =>
    `{ label ${choices.chance(40) ? "price " : ""}${choices.chance(30) ? `parts { size ${choices.chance(50) ? "broken" : ""} }` : ""} }`;
  const fragment = (type: string, body: string): string => {
    const name = `F${names++}`;
    definitions.push(`fragment ${name} on ${type} ${body}`);
    return name;
  };
  const onKind = (kind: number, depth: number): string => {
    const parts: string[] = [];
    const count = 1 + choices.below(4);
    for (let at = 0; at < count; at++) {
      const which = choices.below(14);
      if (which < 9 || depth <= 0) {
        const leaf = choices.one(LEAVES);
        // The same field with other arguments would clash without an alias of its own.
        const alias = leaf.startsWith("tags") || choices.chance(10) ? `a${names++}: ` : "";
        parts.push(`${alias}${leaf}${directive()}`);
      } else if (which < 10) parts.push(`a${names++}: items ${itemSelection()}`);
      else if (which < 11) parts.push(`a${names++}: maybe ${itemSelection()}`);
      else if (which < 12) parts.push(`a${names++}: self${directive()} ${onKind(kind, depth - 1)}`);
      else if (which < 13)
        parts.push(`a${names++}: friend${directive()} ${onKind((kind + 3) % KINDS.length, depth - 1)}`);
      else if (choices.chance(50)) parts.push(`...${fragment(`T${kind}`, onKind(kind, depth - 1))}${directive()}`);
      else parts.push(`... on T${kind}${directive()} ${onKind(kind, depth - 1)}`);
    }
    return `{ ${parts.join(" ")} }`;
  };
  const onNode = (kinds: readonly number[], depth: number): string => {
    const parts = [choices.chance(70) ? "id" : "__typename"];
    for (const kind of new Set(kinds)) {
      if (choices.chance(60)) parts.push(`... on T${kind}${directive()} ${onKind(kind, depth)}`);
    }
    if (choices.chance(20)) parts.push(`...${fragment("Node", "{ id }")}`);
    return `{ ${parts.join(" ")} }`;
  };
  const where = (id: string): string => {
    const member = `{ ${choices.one(["id", "ids"])}: ${JSON.stringify(id)}, colour: RED }`;
    if (choices.chance(40)) {
      const value = choices.chance(50) ? { nested: { id } } : { ids: [id, id] };
      return variable("Where!", value, undefined);
    }
    return choices.chance(30) ? `{ nested: ${member} }` : member;
  };
  const root = (depth: number): string => {
    const alias = choices.chance(80) ? `r${names++}: ` : "";
    const kind = kindOf();
    const which = choices.below(withoutHome ? 14 : 16);
    // Without an alias the same key could come with other arguments: then it has to be one of its kind.
    const own = alias === "" ? `r${names++}: ` : alias;
    if (which < 4) return `${own}t${kind}(id: ${idValue(entityId(kind))})${directive()} ${onKind(kind, 2)}`;
    if (which < 5) return `${own}strict${kind}(id: ${idValue(entityId(kind))})${directive()} ${onKind(kind, 2)}`;
    if (which < 6) return `${own}node(id: ${idValue(entityId(kind))})${directive()} ${onNode([kind], 1)}`;
    if (which < 8) {
      const id = entityId(kind);
      return `${own}find(where: ${where(id)})${directive()} ${onNode([kind], 1)}`;
    }
    if (which < 12) {
      const ids = Array.from({ length: choices.below(7) + (withoutHome ? 1 : 0) }, () =>
        entityId(choices.chance(50) ? kind : undefined),
      );
      const twice = choices.chance(40) ? [...ids, ...ids.slice(0, 2)] : ids;
      const field = choices.one(["nodes", "nodes", "looseNodes", "strictNodes", "spareNodes", "spareNodes"]);
      const mayBeNull = field === "spareNodes";
      const all = mayBeNull ? twice.flatMap((id) => (choices.chance(30) ? [null, id, null] : [id])) : twice;
      return `${own}${field}(ids: ${listValue(all, mayBeNull)})${directive()} ${onNode([kind], 1)}`;
    }
    if (which < 13) return `__typename${directive()}`;
    if (which < 14 && depth > 0) {
      const body = `{ ${roots(depth - 1)} }`;
      const kinds = choices.below(3);
      if (kinds === 0) return `... on Query${directive()} ${body}`;
      if (kinds === 1) return `...${directive()} ${body}`;
      const name = fragment("Query", body);
      return choices.chance(30) ? `...${name} ...${name}` : `...${name}${directive()}`;
    }
    if (withoutHome) return "__typename";
    return choices.one(["colours", "info { version limits }", `${own}info { limits }`]);
  };
  const roots = (depth: number): string => Array.from({ length: 1 + choices.below(4) }, () => root(depth)).join(" ");

  const selections = roots(2);
  // Not valid, and its server says so.
  if (choices.chance(3)) declared.push(`$unused: Int`);
  if (choices.chance(3)) definitions.push("fragment Unused on Info { version }");
  const name = choices.chance(50) ? "Q" : "";
  const head =
    declared.length > 0 || name !== ""
      ? `query ${name}${declared.length > 0 ? `(${declared.join(", ")})` : ""}`
      : "query";
  const other = name !== "" && choices.chance(10) ? "query Other { colours }" : "";
  return JSON.stringify({
    query: [other, `${head} { ${selections} }`, ...definitions].join("\n"),
    variables,
    ...(name !== "" && { operationName: name }),
  });
}
