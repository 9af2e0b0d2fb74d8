import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT, shell, tableFolder } from "./command.ts";

/** The commands of docs/guides/move-entities.md, in order, each with the output that stands below it. */
const examples = [
  ...readFileSync(join(ROOT, "docs/guides/move-entities.md"), "utf8").matchAll(/^```console\n(.*?)^```$/gms),
]
  .flatMap(([, block]) => (block ?? "").split(/^\$ /m).slice(1))
  .map((example) => {
    const [command = "", ...output] = example.split("\n");
    return { command, output: output.join("\n") };
  });

it("docs/guides/move-entities.md shows what its commands do, one after the other, to the table of the demo", async () => {
  expect(examples.length).toBeGreaterThan(5);
  const cwd = tableFolder();
  copyFileSync(join(ROOT, "routing-table.json"), join(cwd, "routing-table.json"));
  for (const { command, output } of examples) {
    // On a terminal both streams are read together.
    const { stdout } = await shell(`waybill() { "$NODE" "$MAIN" "$@"; }\n{ ${command}\n} 2>&1`, cwd);
    expect(stdout).toBe(output);
  }
});
