import {
  type ArgumentNode,
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  Kind,
  print,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  type VariableNode,
} from "graphql/language";
import { isLeftOut, type Operation } from "./document.ts";
import type { FoundId } from "./ids.ts";
import { type Part, type RootField, responseKey } from "./plan.ts";
import type { GraphqlRequest } from "./request.ts";
import { rawOf } from "./slices.ts";

/**
 * The body of the request for one part: the operation with the part's fields, and the variables and fragments that these
 * use. `isFirst`: with what the caller's own document does not use, so that an origin finds fault with it as ever.
 */
export function partBody(
  request: GraphqlRequest,
  operation: Operation,
  fields: readonly RootField[],
  part: Part,
  isFirst: boolean,
): string {
  const { definition, fragments, document } = operation;
  const opened = new Opened(operation, fields, part, isFirst);
  const selectionSet: SelectionSetNode = { ...definition.selectionSet, selections: opened.root() };
  const selected = { ...definition, selectionSet };
  const unused = isFirst ? unusedOf(document, operation) : NONE_UNUSED;
  const unusedFragments = [...fragments.values()].filter(({ name }) => unused.fragments.has(name.value));
  const used = namesIn([selected, ...unusedFragments], fragments);
  const kept = [...fragments.values()].filter(
    ({ name }) => used.fragments.has(name.value) || unused.fragments.has(name.value),
  );
  const declared = (definition.variableDefinitions ?? []).filter(
    ({ variable: { name } }) => used.variables.has(name.value) || unused.variables.has(name.value),
  );
  const own = { ...selected, variableDefinitions: declared };
  const query = print({ kind: Kind.DOCUMENT, definitions: [own, ...kept] });
  const values = declared.flatMap(({ variable: { name } }) => {
    const value = request.variables.get(name.value);
    return value === undefined ? [] : [`${JSON.stringify(name.value)}:${rawOf(value)}`];
  });
  const members = [
    `"query":${JSON.stringify(query)}`,
    ...(request.operationName === undefined ? [] : [`"operationName":${JSON.stringify(request.operationName)}`]),
    ...(values.length === 0 ? [] : [`"variables":{${values.join()}}`]),
    ...[...request.others].map(([name, raw]) => `${JSON.stringify(name)}:${raw}`),
  ];
  return `{${members.join()}}`;
}

interface Unused {
  readonly fragments: ReadonlySet<string>;
  readonly variables: ReadonlySet<string>;
}

const NONE_UNUSED: Unused = { fragments: new Set(), variables: new Set() };

function unusedOf({ definitions }: DocumentNode, { definition, fragments }: Operation): Unused {
  const others = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION && node !== definition);
  const own = namesIn([definition], fragments);
  const spread = others.length === 0 ? own.fragments : namesIn([definition, ...others], fragments).fragments;
  const names = (definition.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  return {
    fragments: new Set([...fragments.keys()].filter((name) => !spread.has(name))),
    variables: new Set(names.filter((name) => !own.variables.has(name))),
  };
}

/** Names of the fragments that these spread, also by way of others, and of the variables in all of them. */
function namesIn(nodes: readonly ASTNode[], fragments: ReadonlyMap<string, FragmentDefinitionNode>): Unused {
  const found = { fragments: new Set<string>(), variables: new Set<string>() };
  const open: object[] = [...nodes];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { kind } = node as ASTNode;
    if (kind === Kind.VARIABLE_DEFINITION) continue;
    if (kind === Kind.VARIABLE) found.variables.add((node as VariableNode).name.value);
    if (kind === Kind.FRAGMENT_SPREAD) {
      const name = (node as FragmentSpreadNode).name.value;
      const fragment = fragments.get(name);
      if (fragment !== undefined && !found.fragments.has(name)) open.push(fragment);
      found.fragments.add(name);
    }
    // The library's own visitor takes ten times as long.
    for (const value of Object.values(node)) if (typeof value === "object" && value !== null) open.push(value);
  }
  return found;
}

/** The root with the part's fields. Fragments of the root become inline ones, since each part has others of their fields. */
class Opened {
  readonly #operation: Operation;
  readonly #lists: ReadonlyMap<string, ArgumentNode>;
  readonly #part: Part;
  readonly #keepsLeftOut: boolean;
  readonly #visited = new Set<string>();

  constructor(operation: Operation, fields: readonly RootField[], part: Part, keepsLeftOut: boolean) {
    this.#operation = operation;
    this.#part = part;
    this.#keepsLeftOut = keepsLeftOut;
    this.#lists = listsOf(fields, part);
  }

  root(): readonly SelectionNode[] {
    return this.#selections(this.#operation.definition.selectionSet);
  }

  #selections({ selections }: SelectionSetNode): readonly SelectionNode[] {
    return selections.flatMap((node): readonly SelectionNode[] => {
      if (isLeftOut(node.directives, this.#operation.variables)) return this.#keepsLeftOut ? [node] : [];
      if (node.kind === Kind.FIELD) {
        const key = responseKey(node);
        return this.#part.fields.has(key) ? [this.#field(node, key)] : [];
      }
      if (node.kind === Kind.INLINE_FRAGMENT) return withSelections(node, this.#selections(node.selectionSet));
      const name = node.name.value;
      const fragment = this.#operation.fragments.get(name);
      if (fragment === undefined || this.#visited.has(name)) return [];
      this.#visited.add(name);
      const { directives = [] } = node;
      const { typeCondition, selectionSet } = fragment;
      const inline = { kind: Kind.INLINE_FRAGMENT, typeCondition, directives, selectionSet } as const;
      return withSelections(inline, this.#selections(selectionSet));
    });
  }

  #field(node: FieldNode, key: string): FieldNode {
    const list = this.#lists.get(key);
    if (list === undefined) return node;
    return {
      ...node,
      arguments: (node.arguments ?? []).map((each) => (each.name.value === list.name.value ? list : each)),
    };
  }
}

function withSelections<Node extends { readonly selectionSet: SelectionSetNode }>(
  node: Node,
  selections: readonly SelectionNode[],
): readonly Node[] {
  return selections.length === 0 ? [] : [{ ...node, selectionSet: { ...node.selectionSet, selections } }];
}

/** The IDs that the part asks for of each plural field that is split, by response key: each once. */
function listsOf(fields: readonly RootField[], part: Part): ReadonlyMap<string, ArgumentNode> {
  const lists = new Map<string, ArgumentNode>();
  for (const { key, list } of fields) {
    const positions = part.fields.get(key);
    if (positions === undefined || list === undefined) continue;
    const values = askedIds(list.items, positions).map((item): ValueNode => {
      if (item === null) return { kind: Kind.NULL };
      return { kind: item.isNumber === true ? Kind.INT : Kind.STRING, value: item.text };
    });
    lists.set(key, {
      kind: Kind.ARGUMENT,
      name: { kind: Kind.NAME, value: list.argument },
      value: { kind: Kind.LIST, values },
    });
  }
  return lists;
}

/** The same ID, and null, is asked for once, and answered at each of its positions. */
export const askedIds = (
  items: readonly (FoundId | null)[],
  positions: readonly number[],
): readonly (FoundId | null)[] => [
  ...new Map(
    positions.flatMap((at) => {
      const item = items[at];
      return item === undefined ? [] : [[textOfItem(item), item] as const];
    }),
  ).values(),
];

/** Apart from the ID `"null"`. */
export const textOfItem = (item: FoundId | null): string | null => item?.text ?? null;
