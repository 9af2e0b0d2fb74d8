import { err, ok, type Result } from "../../../ids/index.ts";
import { type Members, objectOf } from "../../lib/json-values.ts";
import { listOf, memberOf } from "./document.ts";

/** `elsewhere`: in another document; `nowhere`: not in this one; `circle`: it leads back to itself. */
export type LostReference = { readonly reference: string; readonly why: "elsewhere" | "nowhere" | "circle" };

type Followed = Result<Members | undefined, LostReference>;
type Format = Result<string | undefined, LostReference>;

/** Follows the references of one document, each once however often it is used. */
export interface References {
  /** The value with references followed; `undefined`: it is no object. */
  readonly follow: (value: unknown) => Followed;
  /** The format of a parameter's schema, which may stand in an `allOf` and the like. */
  readonly formatOf: (schema: unknown) => Format;
}

/** Keywords whose schemas apply at the same place (JSON Schema 2020-12, section 10.2.1). */
const APPLICATORS = ["allOf", "anyOf", "oneOf"] as const;

/** Schemas that are nested deeper say nothing of a format. */
const SCHEMA_DEPTH_MAX = 64;

export const createReferences = (document: Members): References => {
  const known = new Map<string, Followed>();
  const follow: References["follow"] = (value) => {
    const first = objectOf(value);
    const reference = first && memberOf(first, "$ref");
    if (typeof reference !== "string") return ok(first);
    return known.get(reference) ?? followChain(document, reference, known);
  };

  const formats = new WeakMap<Members, Format>();
  const formatOf = (declared: unknown, depth = 0): Format => {
    const beside = memberOf(objectOf(declared) ?? {}, "format");
    if (typeof beside === "string") return ok(beside);
    const read = follow(declared);
    if (!read.ok) return read;
    const schema = read.value;
    if (schema === undefined || depth > SCHEMA_DEPTH_MAX) return ok(undefined);
    const before = formats.get(schema);
    if (before !== undefined) return before;
    // A schema that contains itself adds nothing.
    formats.set(schema, ok(undefined));
    const found = formatWithin(schema, depth);
    formats.set(schema, found);
    return found;
  };
  const formatWithin = (schema: Members, depth: number): Format => {
    const own = memberOf(schema, "format");
    if (typeof own === "string") return ok(own);
    let lost: Format = ok(undefined);
    for (const part of APPLICATORS.flatMap((keyword) => listOf(memberOf(schema, keyword)))) {
      const read = formatOf(part, depth + 1);
      if (!read.ok) lost = read;
      else if (read.value !== undefined) return read;
    }
    return lost;
  };
  return { follow, formatOf };
};

/** Every reference of a chain leads to the same: each is walked once. */
const followChain = (document: Members, first: string, known: Map<string, Followed>): Followed => {
  const seen = new Set<string>();
  let at: Followed | string = first;
  while (typeof at === "string") {
    const before = known.get(at);
    if (before !== undefined) at = before;
    else if (seen.has(at)) at = err({ reference: at, why: "circle" });
    else {
      seen.add(at);
      at = stepFrom(document, at);
    }
  }
  for (const reference of seen) known.set(reference, at);
  return at;
};

/** The target, or the reference that stands there. */
const stepFrom = (document: Members, reference: string): Followed | string => {
  if (!reference.startsWith("#")) return err({ reference, why: "elsewhere" });
  const target = objectOf(targetOf(document, reference.slice(1)));
  if (target === undefined) return err({ reference, why: "nowhere" });
  const next = memberOf(target, "$ref");
  return typeof next === "string" ? next : ok(target);
};

/** An RFC 6901 pointer in a URI's fragment (section 6). An anchor is none. */
const targetOf = (document: Members, fragment: string): unknown => {
  if (fragment !== "" && !fragment.startsWith("/")) return undefined;
  let at: unknown = document;
  for (const token of fragment.split("/").slice(1)) {
    const name = decoded(token)?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (name === undefined) return undefined;
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(name) ? at[Number(name)] : undefined;
    else at = memberOf(objectOf(at) ?? {}, name);
  }
  return at;
};

const decoded = (token: string): string | undefined => {
  try {
    return decodeURIComponent(token);
  } catch {
    return undefined;
  }
};
