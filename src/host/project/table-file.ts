import { relative } from "node:path";
import { parsePublicKeys } from "../../features/public-ids/table/codec.ts";
import { type CompiledTable, type DeclaredTable, loadTable } from "../../routing/index.ts";
import { publishedText, readTableText } from "../publish/publish.ts";
import type { Environment } from "../settings.ts";

export interface TableFile {
  /** Relative to the working folder, for messages. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly declared: DeclaredTable;
  readonly table: CompiledTable;
}

/** Reads and checks a table. Throws with all its faults. */
export async function readTableFile(path: string): Promise<TableFile> {
  const name = relative(process.cwd(), path);
  const read = await readTableText(name);
  if (!read.ok) throw new Error(read.error);
  const declared: DeclaredTable = JSON.parse(read.value);
  const table = loadTable(declared, 1);
  if (!table.ok) throw new Error(`${name} passed its check, but does not load`);
  return { name, path, text: read.value, declared, table: table.value };
}

/** The table in force of a state, for the packs of a file; `undefined` if there is none that this version can serve. */
export function publishedTable(kvFolder: string, { path }: TableFile): TableFile | undefined {
  const text = publishedText(kvFolder);
  const table = text ? loadTable(JSON.parse(text), 1) : undefined;
  if (!text || !table?.ok) return undefined;
  return { name: "the published one", path, text, declared: JSON.parse(text), table: table.value };
}

/** A note for a table whose public IDs have no keys. */
export function missingKeysNote({ entities }: CompiledTable, environment: Environment): string | undefined {
  const parsed = parsePublicKeys(environment["PUBLIC_ID_KEYS"] || "{}");
  const missing = [...entities.values()].flatMap(({ name, public: kind }) => {
    if (kind === undefined) return [];
    const as = kind.as === "sealed" ? "sealed" : "compatible";
    return parsed.ok && parsed.value[as].length > 0 ? [] : [`${name} (${as})`];
  });
  if (missing.length === 0) return undefined;
  return `note: PUBLIC_ID_KEYS has no keys for the public IDs of ${missing.join(", ")}: requests for them get 503. See docs/guides/public-ids.md.`;
}
