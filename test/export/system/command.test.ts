import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { waybill } from "../../cli/fake-runtime.ts";
import { tableFiles } from "../../cli/memory-files.ts";
import richTable from "../rich-table.json" with { type: "json" };
import { describeEngines } from "./describe-engines.ts";

const folder = mkdtempSync(join(tmpdir(), "waybill-command-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeEngines(
  (engine) => `waybill export ${engine}`,
  (engine) => {
    const out = join(folder, engine);
    const state = join(folder, `${engine}-state`);
    mkdirSync(state);
    const run = (table: unknown, ...more: string[]) =>
      waybill(["export", engine, "--out", out, "--state", state, "--waybill", "http://127.0.0.1:8787", ...more], {
        files: tableFiles(table),
      });

    it("has the engine check the result, and keeps the last good one where it refuses", async () => {
      const first = await run(richTable);
      expect(first.stderr).toBe(`${engine} accepts it.\n`);
      const files = readdirSync(out).toSorted();
      const before = files.map((name) => readFileSync(join(out, name), "utf8"));
      // A name that no resolver has: engines look names up when they start.
      const regions = { ...richTable.regions, ap: { origins: [{ url: "http://no-such-host.invalid" }] } };
      const second = await run({ ...richTable, regions });
      expect(second.code).toBe(1);
      expect(second.stderr).toContain(`${engine} refuses the new configuration`);
      expect(files.map((name) => readFileSync(join(out, name), "utf8"))).toEqual(before);
      expect((await run(richTable)).code).toBe(0);
      expect(readdirSync(folder)).toContain(`${engine}.previous`);
    });
  },
);
