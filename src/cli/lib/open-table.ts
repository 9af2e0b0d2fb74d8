import type { CompiledTable } from "../../routing/index.ts";
import type { Runtime } from "../runtime.ts";
import { tablePath } from "./input.ts";

/** The table of an option `--table`. The code for tables is loaded if there is one. */
export const openTable = async (
  option: string | false | undefined,
  runtime: Runtime,
): Promise<CompiledTable | undefined> => {
  const path = tablePath(option, runtime);
  if (path === undefined) return undefined;
  const { readServable } = await import("./table-file.ts");
  return (await readServable(path, runtime)).table;
};
