import type { Positions } from "../../../formats/console/positions.ts";
import { keysOfPointer } from "../../../routing/schema/faults.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { textOf } from "../condition-words.ts";
import { routeWords } from "../route-words.ts";

/** The parts of a table's text, to jump by name. Pure. */

export interface OutlinePart {
  readonly pointer: string;
  readonly name: string;
  readonly entries: readonly OutlineEntry[];
}

export interface OutlineEntry {
  readonly pointer: string;
  readonly name: string;
}

/** Single values of the top have no entries. */
export function outlineOf({ keys, values }: Pick<Positions, "keys" | "values">): readonly OutlinePart[] {
  const parts = new Map<string, { name: string; entries: OutlineEntry[] }>();
  for (const pointer of keys.keys()) {
    const [name = "", entry, ...deeper] = keysOfPointer(pointer);
    if (deeper.length > 0) continue;
    if (entry === undefined) parts.set(name, parts.get(name) ?? { name, entries: [] });
    else parts.get(name)?.entries.push({ pointer, name: entry });
  }
  const routes = parts.get("routes");
  for (let at = 0; routes !== undefined && values.has(`/routes/${at}`); at++)
    routes.entries.push({ pointer: `/routes/${at}`, name: `Route ${at + 1}` });
  return [...parts.values()].map((part) => ({ ...part, pointer: `/${part.name}` }));
}

/** `Route 3: IDs of Brazil or Mexico`, of a table without fault. */
export function entryName({ pointer, name }: OutlineEntry, table: DeclaredTable | undefined): string {
  if (table === undefined || !pointer.startsWith("/routes/")) return name;
  const words = routeWords(table, pointer);
  return words === undefined ? name : `${words.number} ${textOf(words.takes)}`;
}

export const FOUND_MAX = 50;

/** Entries whose name has all of the text; at most some, and how many there are. */
export function found(parts: readonly OutlinePart[], asked: string, table: DeclaredTable | undefined) {
  const words = asked
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const hits: (OutlineEntry & { readonly part: string })[] = [];
  let all = 0;
  for (const { name: part, pointer, entries } of parts) {
    for (const entry of [{ pointer, name: part }, ...entries]) {
      const name = entryName(entry, table);
      const text = `${part} ${name}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
      all++;
      if (hits.length < FOUND_MAX) hits.push({ pointer: entry.pointer, name, part });
    }
  }
  return { hits, all };
}
