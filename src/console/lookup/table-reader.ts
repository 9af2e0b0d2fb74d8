import type { Layout, Words } from "../../ids/index.ts";
import type { Candidate, CompiledTable, DeclaredEntity, DeclaredTable, Taken } from "../../routing/index.ts";
import { readingsOf } from "../../routing/layouts/fields.ts";
import { checkTable, loadTable } from "../../routing/load.ts";
import { pathWithId, primaryPattern } from "../../routing/lookup/paths.ts";
import { shownOf } from "../../routing/resolve/reading.ts";
import { explain, resolveAny, resolvePath } from "../../routing/resolve/resolve.ts";
import { parseTableText } from "../../routing/schema/parse.ts";
import { gatewayNow } from "../app/clock.ts";
import { ownOf } from "../app/own.ts";
import { bareReader, type Names, type Reader, type ReadSlice } from "./reader.ts";
import { wordsOfNames, wordsOfTable } from "./verdict/table-words.ts";

/** Readers by a table. What compiles a table is large, and before sign-in there is none: this comes after it. */

/** A published table and its reader; a table of another version may have what this page does not know. */
export function readTable(text: string, revision: number): ReadTable | undefined {
  const json = parseTableText(text);
  const checked = json.ok ? checkTable(json.value) : json;
  if (!checked.ok) return undefined;
  const table = loadTable(checked.value, revision, true);
  return { declared: checked.value, reader: table.ok ? readerInWords(table.value, checked.value) : undefined };
}

interface ReadTable {
  readonly declared: DeclaredTable;
  readonly reader: Reader | undefined;
}

/** By the routes of a table, as the gateway reads it. */
export function readerOfTable(declared: unknown, revision: number): Reader | undefined {
  const table = loadTable(declared, revision);
  return table.ok ? readerInWords(table.value, declared as DeclaredTable) : undefined;
}

const readerInWords = (table: CompiledTable, declared: DeclaredTable): Reader => ({
  ...readerOf(table, "routes"),
  words: wordsOfTable(declared),
});

/** By the names of a table. The regions that it does not know become one that is never shown. */
export function readerOfNames({ entities = {}, countries, layouts, revision, taken }: Names): Reader | undefined {
  // Keys of a directory say nothing themselves.
  const withIds = Object.entries(entities).filter(([, { ids = [] }]) => ids.length > 0);
  const regions = { unknown: { origins: [{ url: "http://unknown.invalid" }] } };
  const declared = {
    regions,
    entities: Object.fromEntries(withIds.map(namesOnly)),
    countries,
    layouts,
    routes: [],
    default: "unknown",
  };
  const table = loadTable(JSON.parse(JSON.stringify(declared)), revision);
  if (!table.ok) return undefined;
  const own = taken && loadTaken({ ...declared, default: undefined }, taken, revision);
  return {
    ...readerOf(own ?? table.value, "names", taken?.named),
    words: wordsOfNames({ entities, ...(layouts && { layouts }) }),
  };
}

/** The routes were checked as a whole: without packs and regions some of them may now be without use. */
function loadTaken(declared: object, { when }: Taken, revision: number): CompiledTable | undefined {
  const routes = when.map((conditions) => ({ when: conditions, region: "unknown" }));
  try {
    const table = loadTable(JSON.parse(JSON.stringify({ ...declared, routes })), revision, true);
    return table.ok ? table.value : undefined;
  } catch {
    // Boxes in place of packs may be beyond the budget of a table: then nothing is said of routes.
    return undefined;
  }
}

const namesOnly = ([name, { path, ids, public: kind }]: readonly [string, DeclaredEntity]) =>
  [name, { path, ids, ...(kind !== undefined && { public: kind }) }] as const;

function readerOf(table: CompiledTable, knows: "names" | "routes", named: readonly string[] = []): Reader {
  const shown = shownOf(table);
  const ownersOfForm = (text: string) => table.reading?.ownersOfForm(table, text) ?? [];
  const enabled = [...shown.layouts.values()];
  const codes = new Map([...table.countries].map(([code, number]) => [String(number), code]));
  return {
    knows,
    revision: table.revision,
    canRead: (text) =>
      enabled.some(({ layout }) => readingsOf(layout, text).some(({ words }) => layout.fits(words))) ||
      ownersOfForm(text).length > 0,
    onPath: (path) => {
      const match = table.paths.match(path);
      return match && path.slice(match.idStart, match.idEnd);
    },
    example: exampleOf(shown),
    layout: (name) => shown.layouts.get(name)?.layout,
    country: (number) => codes.get(number),
    ownPath: (name, layout, text) => {
      const entity = shown.entities.get(name);
      const pattern = entity && primaryPattern(entity, layout);
      return pattern && pathWithId(pattern, text);
    },
    slices: (name, words) => slicesOf(shown, name, words),
    read: ({ id, path }, nowMs) => {
      const match = path === undefined ? undefined : shown.paths.match(path);
      const where =
        path === undefined || match === undefined || match.entity.reading?.hides === true
          ? resolveAny(shown, id, nowMs)
          : resolvePath(shown, match, path, nowMs);
      const explanation = explain(shown, id, nowMs, undefined, where);
      const publicOf = ownersOfForm(id);
      // No entity uses it, and it is what it is.
      if (explanation.candidates.length === 0 && publicOf.length === 0 && match === undefined) {
        const bare = bareReader.read({ source: id, id, path }, nowMs);
        if (bare.candidates.some(({ excluded }) => !excluded)) return { ...bare, error: explanation.error };
      }
      const shownAs = publicOf.length === 0 ? {} : { publicOf };
      const placed = onPathOf(explanation.candidates, match?.entity.name);
      if (knows === "routes") return { ...explanation, ...shownAs, candidates: placed };
      const candidates = placed.map((each) => ({ ...each, region: undefined, rule: undefined }));
      const { error } = explanation;
      const isUnsure = error?.reason === "unassigned-key" && named.includes(error.entity);
      return { ...explanation, ...shownAs, candidates, decision: undefined, ...(isUnsure && { isUnsure }) };
    },
  };
}

/** An ID of the table's first entity, minted now in the first of its countries; `undefined` where none can be made so. */
function exampleOf({ entities, countries }: CompiledTable): Reader["example"] {
  const nowMs = gatewayNow();
  for (const entity of entities.values()) {
    for (const { enabled, service, group, takes } of entity.ids) {
      const { layout } = enabled;
      const [country = 0] = countries.values();
      const marks = { country, service: service ?? 0, group: group ?? 0 };
      const words = layout.encode(Object.fromEntries(valuesOf(layout, marks, nowMs)));
      const mintedMs = words.ok ? (layout.mintedAtMs?.(words.value) ?? nowMs) : undefined;
      if (!words.ok || !takes(words.value) || Math.abs((mintedMs ?? 0) - nowMs) > DAY_MS) continue;
      const id = layout.format(words.value);
      const pattern = primaryPattern(entity, layout.name);
      return { id, path: pattern && pathWithId(pattern, id) };
    }
  }
  return undefined;
}

/** Any number that does not end in zeros. */
const SOME = 0x5eed;
const DAY_MS = 86_400_000;

function valuesOf(layout: Layout, marks: Readonly<Record<string, number>>, nowMs: number) {
  const times = layout.fields.filter(({ role }) => role === "time");
  return layout.fields
    .filter(({ role }) => role !== "fixed")
    .map(({ name, role, max }): [string, number | bigint] => {
      const row = layout.table.rows.find((each) => each.field === name);
      if (role === "time" && row?.role === "time" && times.length === 1 && typeof max === "number")
        return [name, Math.min(max, Math.floor((nowMs - row.epochMs) / (row.unit === "s" ? 1000 : 1)))];
      const value = ownOf(marks, name) ?? SOME;
      return [name, typeof max === "bigint" ? BigInt(value) : Math.min(max, value)];
    });
}

/** A path is of one entity: where it can have the ID, no other one is meant. */
function onPathOf(candidates: readonly Candidate[], owner: string | undefined): readonly Candidate[] {
  const isOwn = ({ entity }: Candidate): boolean => entity === owner;
  if (owner === undefined || !candidates.some((each) => isOwn(each) && !each.excluded)) return candidates;
  const against = `the path is one of ${owner}`;
  return candidates.map((each) =>
    isOwn(each) ? each : { ...each, excluded: true, against: [...each.against, against] },
  );
}

function slicesOf(table: CompiledTable, name: string, words: Words): readonly ReadSlice[] {
  const enabled = table.layouts.get(name);
  const key = enabled?.layout.fields.find((field) => field.role === "key");
  if (enabled === undefined || key === undefined) return [];
  const value = key.readBig(words);
  return [...enabled.slices.values()].map((slice) => {
    const below = BigInt(key.bits - slice.offset - slice.bits);
    return {
      name: slice.name,
      value: BigInt.asUintN(slice.bits, value >> below).toString(),
      isArea: slice.codes === "m49",
    };
  });
}
