import { group } from "../../command.ts";
import { directoryCopy, directoryStat, directoryVerify } from "./copy.ts";
import { directoryExport } from "./export.ts";
import { directoryImport } from "./import.ts";

export const directory = group("directory", "regions of keys that carry none: look up, claim, move, import, copy", [
  directoryImport,
  directoryExport,
  directoryCopy,
  directoryStat,
  directoryVerify,
]);
