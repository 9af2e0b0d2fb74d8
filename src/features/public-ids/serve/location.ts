import { ID_LENGTH_MAX } from "../../../routing/limits.ts";
import { unescaped } from "../../../routing/lookup/as-read.ts";
import { allOwners, type LayoutHint } from "../../../routing/resolve/match.ts";
import type { CompiledTable, Entity } from "../../../routing/table.ts";

/** Knowledge about IDs in the references of an answer. */
export interface ReferenceDeps {
  readonly table: CompiledTable;
  readonly nowMs: number;
  /** The entity's own path that was asked for: relative references are resolved against it. */
  readonly path: string;
  /** The public ID for an internal one; `null`: there can be none; `undefined`: the text is no ID of the entity. */
  readonly show: (entity: Entity, internal: string) => string | null | undefined;
}

const WORD = /[0-9A-Za-z_-]+/g;

/** With public IDs in place of internal ones; all else to the byte. `undefined` where an internal ID would remain. */
export const publicReference = (reference: string, deps: ReferenceDeps): string | undefined => {
  const written = wordsIn(reference);
  const shown = new Map<string, string>();
  const placed = idByPath(reference, deps);
  if (placed?.shown === null) return undefined;
  if (placed !== undefined) shown.set(placed.text, placed.shown);
  for (const word of new Set([...written, ...wordsIn(unescaped(reference))])) {
    if (shown.has(word)) continue;
    const text = publicForm(word, deps);
    if (text === undefined) continue;
    // One that is only seen when escapes are undone cannot be replaced in place.
    if (text === null || !written.includes(word)) return undefined;
    shown.set(word, text);
  }
  return reference.replace(WORD, (word) => shown.get(word) ?? word);
};

const wordsIn = (reference: string): readonly string[] => reference.match(WORD) ?? [];

/** The ID that the path names by its entity, which settles of whom it is. Another entity's ID at its place is none. */
const idByPath = (reference: string, { table, path, nowMs, show }: ReferenceDeps) => {
  const pathname = URL.parse(reference, `http://gateway${path}`)?.pathname ?? "";
  for (const candidate of pathsAtGateway(table, pathname)) {
    const match = table.paths.match(candidate);
    if (match === undefined) continue;
    const text = candidate.slice(match.idStart, match.idEnd);
    const { entity, hint } = match;
    if (entity.public === undefined) {
      return ownersOf(table, text, nowMs, hint).some((owner) => owner.entity === entity)
        ? { text, shown: text }
        : undefined;
    }
    const shown = show(entity, text);
    return shown === undefined ? undefined : { text, shown };
  }
  return undefined;
};

/** The public ID of a word; `null` if it may be an internal one of several entities; `undefined` if it is of no public entity. */
const publicForm = (word: string, { table, nowMs, show }: ReferenceDeps): string | null | undefined => {
  const owners = ownersOf(table, word, nowMs);
  const [first] = owners;
  if (first === undefined || owners.every(({ entity }) => entity.public === undefined)) return undefined;
  return owners.every(({ entity }) => entity === first.entity) ? (show(first.entity, word) ?? null) : null;
};

const ownersOf = (table: CompiledTable, text: string, nowMs: number, hint?: LayoutHint) =>
  text.length > ID_LENGTH_MAX ? [] : allOwners(table, text, nowMs, hint);

/** The path as it stands, and without what origins put in front of their paths. */
const pathsAtGateway = (table: CompiledTable, path: string): readonly string[] => [
  path,
  ...basePathsOf(table).flatMap((base) => (path.startsWith(`${base}/`) ? [path.slice(base.length)] : [])),
];

const basePaths = new WeakMap<CompiledTable, readonly string[]>();

const basePathsOf = (table: CompiledTable): readonly string[] => {
  const known = basePaths.get(table);
  if (known !== undefined) return known;
  const origins = [...table.regions.values()].flatMap((region) => region.origins);
  const found = new Set(origins.map(({ url }) => (URL.parse(url)?.pathname ?? "").replace(/\/$/, "")));
  found.delete("");
  basePaths.set(table, [...found]);
  return [...found];
};
