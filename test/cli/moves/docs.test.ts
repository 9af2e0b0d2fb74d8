import { expect, it } from "vitest";
import { examplesOf, projectText, shownBy } from "../console-examples.ts";
import { MemoryFiles } from "../memory-files.ts";

it("docs/guides/move-entities.md shows what its commands do, one after the other, to the table of the demo", async () => {
  const examples = examplesOf("docs/guides/move-entities.md");
  expect(examples.length).toBeGreaterThan(5);
  const files = MemoryFiles.of({ "routing-table.json": projectText("routing-table.json") });
  for (const { command, output } of examples) expect(await shownBy(command, files)).toBe(output);
});
