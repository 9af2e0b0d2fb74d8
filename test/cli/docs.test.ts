import { describe, expect, it } from "vitest";
import { examplesOf, projectText, shownBy } from "./console-examples.ts";
import { MemoryFiles } from "./memory-files.ts";

const PAGES = ["docs/concepts.md", "docs/reference/cli.md", "docs/guides/databases.md", "docs/guides/ids-anywhere.md"];
const examples = PAGES.flatMap(examplesOf);
/** Other tests run these, one after the other. */
const steps = ["docs/reference/routing-table.md", "docs/guides/move-entities.md"].flatMap(examplesOf);
const READ = ["routing-table.json", "docs/examples/openapi.yaml", "docs/examples/requests.ndjson"];

/** Blurs the parts that differ from run to run: minted IDs, and the digest of a table that may be edited. */
const blur = (command: string, output: string): string => {
  const text = output.replace(/\b[0-9a-f]{64}\b/g, "<digest>");
  if (command.startsWith("waybill token")) return text.replace(/\bwaybill_[\w-]{43}/g, "<token>");
  if (!command.startsWith("waybill mint")) return text;
  return text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|^[0-9A-Z]{26}$/gm, "<id>");
};

describe.concurrent(PAGES.join(" and "), () => {
  it("has an example of every command", () => {
    const ofIds = ["id convert", "id range", "id column", "id capacity"];
    const commands = [
      "explain",
      "mint",
      ...ofIds,
      "table check",
      "table diff",
      "table replay",
      "table capacity",
      "contract",
      "canary",
      "move start",
      "move status",
      "token new",
      "layout",
    ];
    for (const name of commands) {
      expect([...examples, ...steps].filter(({ command }) => command.includes(`waybill ${name} `))).not.toEqual([]);
    }
  });

  it.each(examples)("$command", async ({ command, output }) => {
    const files = MemoryFiles.of(Object.fromEntries(READ.map((path) => [path, projectText(path)])));
    expect(blur(command, await shownBy(command, files))).toBe(blur(command, output));
  });
});
