import { type ArgumentNode, type FieldNode, Kind, type SelectionSetNode, type ValueNode } from "graphql/language";
import { isLeftOut, type Operation } from "./document.ts";
import { isList, isNull, isObject, itemsOf, membersOf, type Slice, stringOf, textOf } from "./slices.ts";

/** Where IDs stand in a document, as the table declares it. */
export interface IdRule {
  /** Name of the argument, or of the member of an input object within an argument. */
  readonly argument: string;
  /** Fields whose arguments are meant; `undefined` for all. */
  readonly fields: ReadonlySet<string> | undefined;
  /** Named type of the variable that brings the value; `undefined` for any, and for literals. */
  readonly type: string | undefined;
  /** `undefined`: a global ID says its entity itself. */
  readonly entity: string | undefined;
  /** The field answers a list with one entry for each ID, in order, as `nodes` does. */
  readonly isPlural: boolean;
}

/** Where a value stands. `name`: of the argument or the member that has it. `type`: of the variable that brings it. */
interface ValuePlace {
  readonly field: string;
  readonly name: string;
  readonly type?: string | undefined;
}

/** One ID of a document. */
export interface FoundId {
  readonly text: string;
  readonly entity: string | undefined;
  /** Whether it is written as a number. */
  readonly isNumber?: boolean;
}

/** The IDs in one field of the root and all below it. */
export interface FieldIds {
  readonly ids: readonly FoundId[];
  /** The list of a plural field of the root, one entry for each of its items; it is not among `ids`. A null stays one. */
  readonly list: { readonly argument: string; readonly items: readonly (FoundId | null)[] } | undefined;
}

/** Nesting of values in variables. */
const DEPTH_MAX = 32;

/** Fields and values that are looked at: a large variable may be used by many fields. */
const VISITS_MAX = 100_000;

export const TOO_DEEP = "deep";
export const NO_ID_IN_LIST = "no-id";
/** A literal where the type of a variable says whether it is an ID. */
export const UNTYPED = "untyped";

/** Finds the IDs of a field of the root: literals, variables and their defaults, lists, and members of input objects. */
export class IdFinder {
  readonly #operation: Operation;
  readonly #rules = new Map<string, IdRule[]>();
  /** Members and items of values in variables: each is read once. */
  readonly #children = new Map<Slice, readonly (readonly [string | undefined, Slice])[]>();
  #visits = 0;

  constructor(operation: Operation, rules: readonly IdRule[]) {
    this.#operation = operation;
    for (const rule of rules) this.#rules.set(rule.argument, [...(this.#rules.get(rule.argument) ?? []), rule]);
  }

  /** The IDs of nodes with the same response key. A string says why they cannot be read. */
  ofField(nodes: readonly FieldNode[]): FieldIds | typeof TOO_DEEP | typeof NO_ID_IN_LIST | typeof UNTYPED {
    const found = new Found();
    let list: FieldIds["list"];
    const plural = nodes.map((node) => this.#pluralOf(node));
    const [first] = plural;
    // The arguments of nodes with the same key are the same, or the document is not valid: then nothing is split.
    const isSplit = first !== undefined && plural.every((each) => each !== undefined && isSame(each, first));
    if (isSplit) {
      if (first.items.some((item) => item === undefined)) return NO_ID_IN_LIST;
      list = { argument: first.argument, items: first.items as readonly (FoundId | null)[] };
    }
    const visited = new Set<string>();
    for (const node of nodes) this.#field(node, found, visited, isSplit ? first.argument : undefined);
    if (found.isUntyped) return UNTYPED;
    return found.isDeep || this.#visits > VISITS_MAX ? TOO_DEEP : { ids: found.ids, list };
  }

  #field(node: FieldNode, found: Found, visited: Set<string>, without?: string): void {
    if (++this.#visits > VISITS_MAX) return;
    for (const { name, value } of node.arguments ?? []) {
      if (name.value !== without) this.#literal({ field: node.name.value, name: name.value }, value, found);
    }
    if (node.selectionSet !== undefined) this.#selections(node.selectionSet, found, visited);
  }

  #selections({ selections }: SelectionSetNode, found: Found, visited: Set<string>): void {
    for (const node of selections) {
      if (isLeftOut(node.directives, this.#operation.variables)) continue;
      if (node.kind === Kind.FIELD) this.#field(node, found, visited);
      else if (node.kind === Kind.INLINE_FRAGMENT) this.#selections(node.selectionSet, found, visited);
      else if (!visited.has(node.name.value)) {
        visited.add(node.name.value);
        const fragment = this.#operation.fragments.get(node.name.value);
        if (fragment !== undefined) this.#selections(fragment.selectionSet, found, visited);
      }
    }
  }

  #ruleFor({ field, name, type }: ValuePlace): IdRule | undefined {
    return this.#rules
      .get(name)
      ?.find(
        (rule) =>
          (rule.fields === undefined || rule.fields.has(field)) && (rule.type === undefined || rule.type === type),
      );
  }

  /** Whether rules for variables are the only ones: a literal has no type, and may be such an ID. */
  #mayBeId({ field, name }: ValuePlace): boolean {
    const rules = this.#rules.get(name)?.filter(({ fields }) => fields === undefined || fields.has(field)) ?? [];
    return rules.length > 0 && rules.every(({ type }) => type !== undefined);
  }

  #literal(place: ValuePlace, value: ValueNode, found: Found): void {
    switch (value.kind) {
      case Kind.STRING:
      case Kind.INT:
        found.add(value.value, this.#ruleFor(place));
        found.isUntyped ||= this.#mayBeId(place);
        return;
      case Kind.LIST:
        for (const item of value.values) this.#literal(place, item, found);
        return;
      case Kind.OBJECT:
        for (const { name, value: member } of value.fields) {
          this.#literal({ field: place.field, name: name.value }, member, found);
        }
        return;
      case Kind.VARIABLE: {
        const { given, defaults, types } = this.#operation.variables;
        const slice = given.get(value.name.value);
        const typed = { ...place, type: types.get(value.name.value) };
        if (slice !== undefined) this.#slice(typed, slice, found, DEPTH_MAX);
        else {
          const fallback = defaults.get(value.name.value);
          if (fallback !== undefined) this.#default(typed, fallback, found);
        }
      }
    }
  }

  #default(place: ValuePlace, value: ValueNode, found: Found): void {
    if (value.kind === Kind.STRING || value.kind === Kind.INT) found.add(value.value, this.#ruleFor(place));
    else if (value.kind === Kind.LIST) for (const item of value.values) this.#default(place, item, found);
    else this.#literal({ field: place.field, name: place.name }, value, found);
  }

  #slice(place: ValuePlace, slice: Slice, found: Found, left: number): void {
    if (++this.#visits > VISITS_MAX) return;
    if (left < 0) found.isDeep = true;
    else if (isList(slice) || isObject(slice)) {
      for (const [member, value] of this.#childrenOf(slice)) {
        // Only an object's own type names its members' types.
        const inner = member === undefined ? place : { field: place.field, name: member };
        this.#slice(inner, value, found, left - 1);
      }
    } else {
      const text = textOf(slice);
      if (text !== undefined) found.add(text, this.#ruleFor(place));
    }
  }

  #childrenOf(slice: Slice): readonly (readonly [string | undefined, Slice])[] {
    const known = this.#children.get(slice);
    if (known !== undefined) return known;
    const children = isList(slice)
      ? itemsOf(slice).map((item) => [undefined, item] as const)
      : [...(membersOf(slice) ?? [])];
    this.#children.set(slice, children);
    return children;
  }

  /** The list of a field that answers one entry for each ID. An item that is no ID is `undefined`. */
  #pluralOf(node: FieldNode): Plural | undefined {
    for (const given of node.arguments ?? []) {
      const type = given.value.kind === Kind.VARIABLE ? given.value.name.value : undefined;
      const named = type === undefined ? undefined : this.#operation.variables.types.get(type);
      const rule = this.#ruleFor({ field: node.name.value, name: given.name.value, type: named });
      const texts = rule?.isPlural === true ? this.#textsOf(given) : undefined;
      if (rule !== undefined && texts !== undefined) {
        const { entity } = rule;
        return {
          argument: given.name.value,
          items: texts.map((one) => one && { ...one, entity }),
        };
      }
    }
    return undefined;
  }

  #textsOf({ value }: ArgumentNode): readonly (ItemText | null | undefined)[] | undefined {
    if (value.kind === Kind.LIST) return value.values.map((item) => this.#textOf(item));
    if (value.kind !== Kind.VARIABLE) return undefined;
    const { given, defaults } = this.#operation.variables;
    const slice = given.get(value.name.value);
    if (slice !== undefined)
      return isList(slice) ? this.#childrenOf(slice).map(([, item]) => itemText(item)) : undefined;
    const fallback = defaults.get(value.name.value);
    return fallback?.kind === Kind.LIST ? fallback.values.map((item) => this.#textOf(item)) : undefined;
  }

  #textOf(value: ValueNode): ItemText | null | undefined {
    if (value.kind === Kind.NULL) return null;
    if (value.kind === Kind.STRING || value.kind === Kind.INT) {
      return { text: value.value, isNumber: value.kind === Kind.INT };
    }
    if (value.kind !== Kind.VARIABLE) return undefined;
    const { given, defaults } = this.#operation.variables;
    const slice = given.get(value.name.value);
    if (slice !== undefined) return itemText(slice);
    const fallback = defaults.get(value.name.value);
    // A variable that is not given is null in a list (§3.11).
    return fallback === undefined ? null : this.#textOf(fallback);
  }
}

type ItemText = Pick<FoundId, "text" | "isNumber">;

function itemText(slice: Slice): ItemText | null | undefined {
  if (isNull(slice)) return null;
  const text = textOf(slice);
  return text === undefined ? undefined : { text, isNumber: stringOf(slice) === undefined };
}

interface Plural {
  readonly argument: string;
  readonly items: readonly (FoundId | null | undefined)[];
}

const isSame = (one: Plural, other: Plural): boolean =>
  one.argument === other.argument &&
  one.items.length === other.items.length &&
  one.items.every((item, at) => item?.text === other.items[at]?.text && (item === null) === (other.items[at] === null));

class Found {
  readonly ids: FoundId[] = [];
  isDeep = false;
  isUntyped = false;

  add(text: string, rule: IdRule | undefined): void {
    if (rule !== undefined) this.ids.push({ text, entity: rule.entity });
  }
}
