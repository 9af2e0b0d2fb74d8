import { relative } from "node:path";
import { readTableText } from "../host/publish/table-check.ts";
import { type CompiledTable, loadTable } from "../routing/index.ts";
import type { AnyTable } from "./demo-table.ts";

/** A table's file that has no fault. */
export interface TableFile {
  /** As the operator would name it. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly declared: AnyTable;
  readonly table: CompiledTable;
}

/** Reads and checks a table. Throws with every fault and its place when it cannot be served. */
export async function readTableFile(path: string): Promise<TableFile> {
  const name = relative(process.cwd(), path);
  const read = await readTableText(name);
  if (!read.ok) throw new Error(read.error);
  const text = read.value;
  const declared: AnyTable = JSON.parse(text);
  const table = loadTable(declared, 1);
  if (!table.ok) throw new Error(`${name} has faults that its check does not find`);
  return { name, path, text, declared, table: table.value };
}
