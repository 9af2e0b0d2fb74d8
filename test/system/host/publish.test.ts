import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { publishedPointer, publishNext, publishToDisk } from "../../../src/host/publish/publish.ts";

const SCRIPT = fileURLToPath(new URL("../../../src/host/publish/publish-table.ts", import.meta.url));

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-kv-"));
});
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

it("publishes after a canary too, whose number is given, and takes its text for another than the one in force", () => {
  const digest = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");
  const canary = { revision: 5, digest: digest("canary"), audience: { share: 5 } };
  const pointer = { revision: 4, digest: digest("stable"), change: 7, canary };
  writeFileSync(join(folder, "table.current"), JSON.stringify(pointer));
  publishNext(folder, "stable", new Date());
  expect(JSON.parse(readFileSync(join(folder, "table.current"), "utf8"))).toEqual(pointer);
  publishNext(folder, "canary", new Date());
  expect(publishedPointer(folder)).toEqual({ ok: true, value: { highest: 6, digest: canary.digest, change: 8 } });
});

it("does not give the number of a canary that was ended again", () => {
  const digest = "0".repeat(64);
  writeFileSync(join(folder, "table.current"), JSON.stringify({ revision: 4, digest, change: 8, highest: 5 }));
  publishNext(folder, "canary", new Date());
  expect(publishedPointer(folder)).toMatchObject({ ok: true, value: { highest: 6, change: 9 } });
  expect(readFileSync(join(folder, "table.current"), "utf8")).not.toContain("highest");
});

it("gives no number after the last one that gateways take", () => {
  writeFileSync(join(folder, "table.current"), JSON.stringify({ revision: 999_999_999_999_999, digest: "" }));
  expect(() => publishNext(folder, "next", new Date())).toThrow("the highest possible");
});

it("npm run publish prints its usage where it is asked for it, and refuses what it cannot read", () => {
  const run = (...args: string[]) => spawnSync(process.execPath, [SCRIPT, ...args], { encoding: "utf8" });
  const usage = expect.stringMatching(/^usage: /);
  expect(run("--help")).toMatchObject({ status: 0, stdout: usage, stderr: "" });
  expect(run("state")).toMatchObject({ status: 1, stdout: "", stderr: usage });
});
