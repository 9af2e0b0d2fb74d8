import {
  type ConstValueNode,
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from "graphql/language";
import { err, ok, type Result } from "../../../ids/result.ts";
import { documentFault, type GraphqlFault } from "./request.ts";
import type { Slice } from "./slices.ts";

/** The limits of a document's cost. */
export interface DocumentLimits {
  readonly tokensMax: number;
  /** Depth of selections within each other, and of values. */
  readonly depthMax: number;
  /** Counted as often as their fragment is spread. */
  readonly aliasesMax: number;
}

/** The operation that a request runs. */
export interface Operation {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Variables;
  /** Whether `@defer` or `@stream` asks for an answer in parts. */
  readonly isIncremental: boolean;
}

/** Variables: the values that came, and the defaults. */
export interface Variables {
  readonly given: ReadonlyMap<string, Slice>;
  readonly defaults: ReadonlyMap<string, ConstValueNode>;
  /** The named type of each, without list and non-null marks. */
  readonly types: ReadonlyMap<string, string>;
}

/** Reads a document within its limits. Nothing of it is checked against a schema: the origin does that. */
export function readDocument(
  query: string,
  operationName: string | undefined,
  given: ReadonlyMap<string, Slice>,
  limits: DocumentLimits,
): Result<Operation, GraphqlFault> {
  const document = parseWithin(query, limits.tokensMax);
  if (!document.ok) return document;
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.value.definitions) {
    if (node.kind === Kind.OPERATION_DEFINITION) operations.push(node);
    else if (node.kind !== Kind.FRAGMENT_DEFINITION) return err(documentFault("The document defines types."));
    else if (fragments.has(node.name.value))
      return err(documentFault(`The fragment ${node.name.value} is defined twice.`));
    else fragments.set(node.name.value, node);
  }
  const named = operations.filter(({ name }) => operationName === undefined || name?.value === operationName);
  const [definition, second] = named;
  if (definition === undefined) {
    return err(
      documentFault(`The document has no operation${operationName === undefined ? "" : ` ${operationName}`}.`),
    );
  }
  if (second !== undefined) {
    const message = "The document has several operations; name the one to run in operationName.";
    return err(documentFault(message, "OPERATION_RESOLUTION_FAILURE"));
  }
  const measured = new Measure(fragments, limits).operation(definition);
  if (!measured.ok) return measured;
  const declared = definition.variableDefinitions ?? [];
  const variables: Variables = {
    given,
    defaults: new Map(
      declared.flatMap(({ variable, defaultValue }) =>
        defaultValue === undefined ? [] : [[variable.name.value, defaultValue] as const],
      ),
    ),
    types: new Map(
      declared.map(({ variable, type }) => {
        let named = type;
        while (named.kind !== Kind.NAMED_TYPE) named = named.type;
        return [variable.name.value, named.name.value];
      }),
    ),
  };
  return ok({ document: document.value, definition, fragments, variables, isIncremental: measured.value });
}

function parseWithin(query: string, tokensMax: number): Result<DocumentNode, GraphqlFault> {
  try {
    return ok(parse(query, { maxTokens: tokensMax, noLocation: true }));
  } catch (thrown) {
    // Nesting has no limit of its own in the parser: it ends at that of the stack.
    if (thrown instanceof RangeError) return err(documentFault("The document is nested too deep.", "TOO_DEEP"));
    const why = thrown instanceof Error ? thrown.message : "";
    const isLong = why.includes("tokens");
    if (isLong) return err(documentFault(`The document has more than ${tokensMax} tokens.`, "TOO_MANY_TOKENS"));
    return err(documentFault(why, "GRAPHQL_PARSE_FAILED"));
  }
}

/** Depth and aliases of what a selection leads to, its fragments included. */
interface Size {
  readonly depth: number;
  readonly aliases: number;
}

/** Each fragment is measured once, however often it is spread: bombs of fragments cost no more than their text. */
class Measure {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #limits: DocumentLimits;
  readonly #known = new Map<string, Size | "open">();
  #isIncremental = false;

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>, limits: DocumentLimits) {
    this.#fragments = fragments;
    this.#limits = limits;
  }

  operation({ selectionSet, directives }: OperationDefinitionNode): Result<boolean, GraphqlFault> {
    const { depthMax, aliasesMax } = this.#limits;
    const values = this.#values(directives ?? []);
    const size = values ?? this.#selections(selectionSet, 1);
    if ("code" in size) return err(size);
    if (size.depth > depthMax) {
      return err(documentFault(`The document is nested more than ${depthMax} levels deep.`, "TOO_DEEP"));
    }
    if (size.aliases > aliasesMax) {
      return err(documentFault(`The document has more than ${aliasesMax} aliases.`, "TOO_MANY_ALIASES"));
    }
    return ok(this.#isIncremental);
  }

  /** `level`: of the caller's recursion. */
  #selections({ selections }: SelectionSetNode, level: number): Size | GraphqlFault {
    const { depthMax } = this.#limits;
    // Fragments are levels of the text, not of the result.
    if (level > 2 * depthMax) {
      return documentFault(`The document is nested more than ${depthMax} levels deep.`, "TOO_DEEP");
    }
    let depth = 1;
    let aliases = 0;
    for (const node of selections) {
      const wrong = this.#values(node.directives ?? []);
      if (wrong !== undefined) return wrong;
      const size = this.#selection(node, level);
      if ("code" in size) return size;
      depth = Math.max(depth, size.depth);
      // Fragments within fragments double it with each step.
      aliases = Math.min(aliases + size.aliases, this.#limits.aliasesMax + 1);
    }
    return { depth, aliases };
  }

  #selection(node: SelectionNode, level: number): Size | GraphqlFault {
    if (node.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(node.name.value, level);
    // A wrapper is no level of the result; it is one of the document.
    if (node.kind === Kind.INLINE_FRAGMENT) return this.#selections(node.selectionSet, level + 1);
    const wrong = this.#arguments(node.arguments ?? []);
    if (wrong !== undefined) return wrong;
    const own = node.alias === undefined ? 0 : 1;
    if (node.selectionSet === undefined) return { depth: 1, aliases: own };
    const size = this.#selections(node.selectionSet, level + 1);
    return "code" in size ? size : { depth: size.depth + 1, aliases: size.aliases + own };
  }

  #fragment(name: string, level: number): Size | GraphqlFault {
    const known = this.#known.get(name);
    if (known === "open") return documentFault(`The fragment ${name} spreads itself.`);
    if (known !== undefined) return known;
    const fragment = this.#fragments.get(name);
    if (fragment === undefined) return documentFault(`There is no fragment ${name}.`);
    this.#known.set(name, "open");
    const size = this.#selections(fragment.selectionSet, level + 1);
    if (!("code" in size)) this.#known.set(name, size);
    return size;
  }

  #values(directives: readonly DirectiveNode[]): GraphqlFault | undefined {
    for (const { name, arguments: given } of directives) {
      if (name.value === "defer" || name.value === "stream") this.#isIncremental = true;
      const wrong = this.#arguments(given ?? []);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  #arguments(given: readonly { readonly value: ValueNode }[]): GraphqlFault | undefined {
    const isDeep = given.some(({ value }) => depthOf(value, this.#limits.depthMax) > this.#limits.depthMax);
    return isDeep ? documentFault("A value in the document is nested too deep.", "TOO_DEEP") : undefined;
  }
}

function depthOf(value: ValueNode, left: number): number {
  if (left < 0) return 1;
  if (value.kind === Kind.LIST) return 1 + Math.max(0, ...value.values.map((each) => depthOf(each, left - 1)));
  if (value.kind !== Kind.OBJECT) return 0;
  return 1 + Math.max(0, ...value.fields.map((each) => depthOf(each.value, left - 1)));
}

/** Whether `@skip` and `@include` leave a selection out for certain. An unreadable condition counts as in: the origin refuses it. */
export function isLeftOut(directives: readonly DirectiveNode[] | undefined, variables: Variables): boolean {
  return (directives ?? []).some(({ name, arguments: given }) => {
    if (name.value !== "skip" && name.value !== "include") return false;
    const condition = given?.find((each) => each.name.value === "if")?.value;
    const value = condition && booleanOf(condition, variables);
    return value !== undefined && value === (name.value === "skip");
  });
}

function booleanOf(value: ValueNode, { given, defaults }: Variables): boolean | undefined {
  if (value.kind === Kind.BOOLEAN) return value.value;
  if (value.kind !== Kind.VARIABLE) return undefined;
  const slice = given.get(value.name.value);
  if (slice === undefined) {
    const fallback = defaults.get(value.name.value);
    return fallback?.kind === Kind.BOOLEAN ? fallback.value : undefined;
  }
  const first = slice.text[slice.start];
  return first === "t" ? true : first === "f" ? false : undefined;
}
