import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ROOT, shell } from "./command.ts";

/** Every command of docs/reference/cli.md with the output that stands below it. */
const examples = [
  ...readFileSync(new URL("../../docs/reference/cli.md", import.meta.url), "utf8").matchAll(
    /^```console\n(.*?)^```$/gms,
  ),
]
  .flatMap(([, block]) => (block ?? "").split(/^\$ /m).slice(1))
  .map((example) => {
    const [command = "", ...output] = example.split("\n");
    return { command, output: output.join("\n") };
  });

/** What differs from run to run: minted IDs, and the digest of a table that may be edited. */
const blur = (command: string, output: string): string => {
  const text = output.replace(/\b[0-9a-f]{64}\b/g, "<digest>");
  if (command.startsWith("waybill token")) return text.replace(/\bwaybill_[\w-]{43}/g, "<token>");
  if (!command.startsWith("waybill mint")) return text;
  return text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|^[0-9A-Z]{26}$/gm, "<id>");
};

describe.concurrent("docs/reference/cli.md", () => {
  it("has an example of every command", () => {
    const ofIds = ["id convert", "id range", "id capacity"];
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
      expect(examples.filter(({ command }) => command.includes(`waybill ${name} `))).not.toEqual([]);
    }
  });

  it.each(examples)("$command", async ({ command, output }) => {
    // On a terminal both streams are read together.
    const { stdout } = await shell(`waybill() { "$NODE" "$MAIN" "$@"; }\n{ ${command}\n} 2>&1`, ROOT);
    expect(blur(command, stdout)).toBe(blur(command, output));
  });
});
