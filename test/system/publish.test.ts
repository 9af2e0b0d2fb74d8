import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { publishToDisk } from "../../src/host/publish.ts";

const folder = mkdtempSync(join(tmpdir(), "waybill-kv-"));
afterEach(() => rmSync(folder, { recursive: true }));

it("publishes a body under its digest and a pointer to it, and leaves nothing else", () => {
  const first = '{"regions":{}}';
  const second = '{"regions":{"é":1}}';
  const digest = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");
  const at = new Date("2026-11-21T12:00:00.000Z");
  publishToDisk(folder, first, 1, at);
  publishToDisk(folder, second, 2, at);
  expect(readdirSync(folder).sort()).toEqual(
    ["table.current", `table.${digest(first)}`, `table.${digest(second)}`].sort(),
  );
  expect(readFileSync(join(folder, `table.${digest(second)}`), "utf8")).toBe(second);
  expect(JSON.parse(readFileSync(join(folder, "table.current"), "utf8"))).toEqual({
    revision: 2,
    digest: digest(second),
    publishedAt: "2026-11-21T12:00:00.000Z",
  });
});
