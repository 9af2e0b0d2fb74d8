import { err, type Layout, ok, type Result } from "../../../ids/index.ts";
import { wordsToBig } from "../../../ids/layout/words.ts";
import { PUBLIC_ID_MAX, type PublicType } from "../../../ids/public/public-id.ts";
import { Budget, COMPLEXITY_MAX } from "../../../routing/limits.ts";
import type { DeclaredEntity } from "../../../routing/schema/table.ts";
import { compileFieldPaths, type FieldPathError, type FieldPaths, type PublicField } from "./field-paths.ts";
import type { DeclaredPublic } from "./schema.ts";

/** Public IDs of a declared table, in the terms of the compiled one. */

/** How clients see an entity's IDs: sealed, or as a kind and text form of Architect.Identities. */
export type PublicKind =
  | { readonly as: "sealed" }
  | { readonly as: PublicType; readonly form: "uuid" | "base62" | "hex" };

export const publicKindOf = (declared: DeclaredPublic | undefined): PublicKind | undefined => {
  if (declared === undefined) return undefined;
  if (declared === true || declared.as === "sealed") return { as: "sealed" };
  return { as: declared.as, form: declared.form ?? "base62" };
};

type HasFields = Pick<DeclaredEntity, "publicFields">;

/** A bare path means the entity's own ID. */
const publicFieldsOf = (entity: string, { publicFields = [] }: HasFields): readonly PublicField[] =>
  publicFields.map((field) => (typeof field === "string" ? { path: field, entity } : field));

type Outcome = Result<FieldPaths | undefined, FieldPathError>;

/** By what declares the fields, and by the name that bare paths mean. */
const compiled = new WeakMap<HasFields, Map<string, Outcome>>();

/** The machine for declared fields, made once: by the check, and within its budget. `undefined` where none are declared. */
export const fieldPathsOf = (entity: string, declared: HasFields, budget = new Budget(COMPLEXITY_MAX)): Outcome => {
  const byName = compiled.get(declared) ?? new Map<string, Outcome>();
  compiled.set(declared, byName);
  const fields = publicFieldsOf(entity, declared);
  const paths = byName.get(entity) ?? (fields.length === 0 ? ok(undefined) : compileFieldPaths(fields, budget));
  byName.set(entity, paths);
  return paths;
};

/** Bits of a sealed ID, and of the .NET Guid and UInt128. */
const WIDE_BITS = 128;

/** Why IDs of a layout cannot be shown as a kind: the two hold different values. */
export const incompatibility = (layout: Layout, kind: PublicKind): Result<undefined, string> => {
  const bits = layout.fields.reduce((sum, field) => sum + field.bits, 0);
  if (kind.as === "sealed" || kind.as === "guid" || kind.as === "uint128") {
    return bits === WIDE_BITS ? ok(undefined) : err(`IDs of layout ${layout.name} have ${bits} bits, not ${WIDE_BITS}`);
  }
  return greatestOf(layout) <= PUBLIC_ID_MAX[kind.as]
    ? ok(undefined)
    : err(`IDs of layout ${layout.name} may be greater than any ${kind.as}`);
};

/** No ID of a layout has a greater value. Bits that are fixed count with what they are fixed to. */
const greatestOf = ({ fields, fixed, table }: Layout): bigint => {
  const words = [...fixed.value];
  for (const field of fields) {
    // Where bytes stand in another order, a smaller value of a field may make a greater ID.
    const most = table.octetOrder === undefined ? field.max : (1n << BigInt(field.bits)) - 1n;
    if (field.role !== "fixed") field.write(words, most);
  }
  return wordsToBig(words);
};
