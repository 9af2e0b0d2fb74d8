import { type DeclaredPack, declaredPacks } from "../../../features/packs/table/schema.ts";
import { DIGEST, type Pointer, parsePointer } from "../../../formats/kv.ts";
import { ok, type Result } from "../../../ids/index.ts";
import { parseJson } from "../../../routing/index.ts";

/** A pointer as it is in KV, and the tables that it names: the one in force, then a canary. */
export interface Publication extends Pick<Pointer, "revision" | "change"> {
  readonly text: string;
  readonly digests: readonly string[];
}

/** The parts of a table that are not in its text. */
export interface References {
  readonly packs: readonly DeclaredPack[];
  readonly directories: readonly string[];
}

/** Far above a pointer with a canary's audience. */
export const POINTER_BYTES_MAX = 65_536;

export function readPublication(bytes: Uint8Array): Result<Publication, string> {
  const text = Buffer.from(bytes).toString("utf8");
  const pointer = parsePointer(text);
  if (!pointer.ok) return pointer;
  const { revision, change, digest } = pointer.value;
  // A canary of a later version too: a Worker that can read it needs its table.
  const canary = memberOf(memberOf(parseJson(text), "canary"), "digest");
  const others = typeof canary === "string" && DIGEST.test(canary) && canary !== digest ? [canary] : [];
  return ok({ text, revision, change, digests: [digest, ...others] });
}

type Order = "newer" | "same" | "older" | "conflict";

/** `conflict`: equal numbers, but other tables. */
export function orderOf(next: Publication, held: Publication | undefined): Order {
  if (held === undefined) return "newer";
  const order = next.revision - held.revision || next.change - held.change;
  if (order !== 0) return order > 0 ? "newer" : "older";
  return next.digests.join() === held.digests.join() ? "same" : "conflict";
}

/** `body`: a text whose digest was verified. */
export function referencesOf(body: Uint8Array): References {
  const text = Buffer.from(body).toString("utf8");
  // Most tables have none, and need not be parsed again.
  const mayHave = text.includes('"directory"') || text.includes("\\u");
  const directories = mayHave ? memberOf(parseJson(text), "directory") : undefined;
  const names = typeof directories === "object" && directories !== null ? Object.keys(directories) : [];
  return {
    packs: declaredPacks(text).map(([, pack]) => pack),
    directories: names.filter((name) => FILE_NAME.test(name)),
  };
}

/** A name of a directory, which is a part of a file's name. */
const FILE_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
