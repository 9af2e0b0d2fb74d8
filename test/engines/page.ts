import { readFileSync } from "node:fs";

/** `docs/guides/databases.md`: its tables and its statements. */

export const page = readFileSync(new URL("../../docs/guides/databases.md", import.meta.url), "utf8");

export const section = (title: string): string =>
  page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";

/** The rows of a section's tables as trimmed cells, without heads and rules. */
export const rowsOf = (title: string): readonly (readonly string[])[] =>
  section(title)
    .split(/\n(?!\|)/)
    .flatMap((block) =>
      block
        .split("\n")
        .filter((line) => line.startsWith("|"))
        .slice(2),
    )
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

export const namesIn = (cell = ""): string[] => [...cell.matchAll(/`([a-z\d-]+)`/g)].map(([, name = ""]) => name);

export const blocks: readonly { readonly engine: string; readonly sql: string }[] = [
  ...page.matchAll(/^```sql\n-- ([^\n]*)\n(.*?)^```$/gms),
].map(([, engine = "", sql = ""]) => ({ engine, sql }));

/** All statements of an engine, one after the other. */
export const statementsOf = (engine: string): readonly string[] =>
  blocks
    .filter((block) => block.engine === engine)
    .flatMap(({ sql }) => sql.split(/;\n/))
    .map((sql) => sql.trim())
    .filter((sql) => sql !== "");
