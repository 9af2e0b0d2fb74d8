import { describe, expect, it } from "vitest";
import { loadTable } from "../../../src/routing/index.ts";
import { examplesOf, projectText } from "../console-examples.ts";
import { FakeClock, waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";
import { fakeDirectory } from "./fake-directory.ts";

/** docs/guides/adopting.md: its table has no fault, its examples print what they show. */

const PAGE = "docs/guides/adopting.md";
const ROWS = "docs/examples/slugs.ndjson";

describe("the guide to adopting", () => {
  it("has a table without a fault", () => {
    const [, json = ""] = /^```json\n(.*?)^```$/ms.exec(projectText(PAGE)) ?? [];
    const table = loadTable(JSON.parse(json), 1);
    expect(table.ok ? [...(table.value.directories?.keys() ?? [])] : table.error).toEqual(["old-orders", "slug"]);
  });

  it("shows what the commands print", async () => {
    const files = MemoryFiles.of({ [ROWS]: projectText(ROWS) });
    const { access } = fakeDirectory();
    const clock = new FakeClock(Date.parse("2026-11-23T09:00:00.000Z"));
    const examples = examplesOf(PAGE);
    expect(examples.map(({ command }) => command.split(" ").slice(0, 3).join(" "))).toEqual([
      "head -2 docs/examples/slugs.ndjson",
      "waybill directory import",
      "waybill directory copy",
      "waybill directory verify",
    ]);
    expect(examples[0]?.output).toBe(projectText(ROWS));
    for (const { command, output } of examples.slice(1)) {
      const { stdout, stderr } = await waybill(command.split(" ").slice(1), { ...access, files, clock });
      expect(stdout + stderr, command).toBe(output);
    }
  });
});
