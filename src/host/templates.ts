import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { templatesFolder } from "./parts.ts";

/** The files of `waybill init` by folder: `common`, `cloudflare`, `own-servers`, `monitoring`. Each is copied whole. */
export type Templates = ReadonlyMap<string, ReadonlyMap<string, string>>;

export function readTemplates(): Templates {
  const top = templatesFolder();
  return new Map(readdirSync(top).map((folder) => [folder, filesBelow(join(top, folder))]));
}

/** Texts by path with slashes. npm packs no file named .gitignore, so it stands there as _gitignore. */
function filesBelow(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).toSorted();
  return new Map(
    paths.map((path) => {
      const name = relative(folder, path).split(sep).join("/");
      return [name.replace(/(^|\/)_gitignore$/, "$1.gitignore"), readFileSync(path, "utf8")];
    }),
  );
}
