import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { faultsOfTable } from "../host/table-check.ts";
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
  const faults = await faultsOfTable(name);
  if (faults !== undefined) throw new Error(faults);
  const text = readFileSync(path, "utf8");
  const declared: AnyTable = JSON.parse(text);
  const table = loadTable(declared, 1);
  if (!table.ok) throw new Error(`${name} was changed while it was read`);
  return { name, path, text, declared, table: table.value };
}
