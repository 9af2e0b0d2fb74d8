import { copyPointerKey } from "../../../features/directory/table/copy-format.ts";
import { POINTER_KEY } from "../../../formats/kv.ts";
import type { MirrorFolder } from "./folder.ts";

const DAY_MS = 86_400_000;

const FILE = "unreferenced.json";

/** Keys that the mirror writes. Other files are not its own. */
const OWN_KEY =
  /^(?:(?:table|pack|directory-copy)\.[0-9a-f]{64}(?:\.[0-9a-z-]{1,64})?|directory\.[A-Za-z][A-Za-z0-9_-]*\.current)$/;

/** The part of a key that names a table, a pack or a copy with all that belongs to it. */
const stemOf = (key: string): string => key.split(".", 2).join(".");

/** Everything that is in force: digests by kind, and directories by name. */
export interface InForce {
  readonly tables: readonly string[];
  readonly packs: readonly string[];
  readonly copies: readonly string[];
  readonly directories: readonly string[];
}

/**
 * Deletes values that nothing has referenced for a day: isolates may still serve the table before, and a rollback finds its values
 * here. Gives the keys that were deleted.
 */
export async function deleteUnreferenced(
  folder: MirrorFolder,
  { tables, packs, copies, directories }: InForce,
  nowMs: number,
): Promise<readonly string[]> {
  const stems = new Set([
    ...tables.map((digest) => `table.${digest}`),
    ...packs.map((digest) => `pack.${digest}`),
    ...copies.map((digest) => `directory-copy.${digest}`),
    ...directories.map((name) => stemOf(copyPointerKey(name))),
    stemOf(POINTER_KEY),
  ]);
  const known = readSince(await folder.readOwn(FILE));
  const unreferenced = (await folder.keys()).filter((key) => OWN_KEY.test(key) && !stems.has(stemOf(key)));
  // A clock that was set back begins the day again.
  const since = new Map(unreferenced.map((key) => [key, Math.min(known.get(key) ?? nowMs, nowMs)]));
  const old = unreferenced.filter((key) => nowMs - (since.get(key) ?? nowMs) >= DAY_MS);
  for (const key of old) {
    await folder.remove(key);
    since.delete(key);
  }
  const text = JSON.stringify(Object.fromEntries(since));
  if (text !== JSON.stringify(Object.fromEntries(known))) await folder.writeOwn(FILE, text);
  return old;
}

/** When each key was first seen unreferenced, Unix ms. A file that cannot be read begins the day again. */
function readSince(text: string | undefined): ReadonlyMap<string, number> {
  try {
    const entries = Object.entries<unknown>(JSON.parse(text ?? "{}"));
    return new Map(entries.filter((entry): entry is [string, number] => typeof entry[1] === "number"));
  } catch {
    return new Map();
  }
}
