import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, expect, it } from "vitest";
import { keptBuild } from "../../../src/host/kept-build.ts";

const folder = mkdtempSync(join(tmpdir(), "waybill-kept-"));
const name = basename(folder);
const kept = fileURLToPath(new URL(`../../../node_modules/.cache/waybill-builds/${name}.json`, import.meta.url));
const source = join(folder, "source");

afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(kept, { force: true });
});

/** The text that each build read. */
let built: string[] = [];
const build = async () => {
  const text = readFileSync(source, "utf8");
  built.push(text);
  return { value: { text }, sources: [source] };
};

/** A file is older than a build that begins later. */
const write = async (text: string): Promise<void> => {
  writeFileSync(source, text);
  await new Promise((resolve) => setTimeout(resolve, 150));
};

beforeEach(async () => {
  rmSync(kept, { force: true });
  built = [];
  await write("one");
});

it("keeps a build while its sources have the same bytes", async () => {
  for (let count = 0; count < 3; count++) expect(await keptBuild(name, build)).toEqual({ text: "one" });
  expect(built).toEqual(["one"]);
  await write("one");
  expect(await keptBuild(name, build)).toEqual({ text: "one" });
  expect(built).toEqual(["one"]);
});

it("builds anew when a source changes, also to the same length and time", async () => {
  await keptBuild(name, build);
  await write("two");
  utimesSync(source, 1, 1);
  expect(await keptBuild(name, build)).toEqual({ text: "two" });
  expect(built).toEqual(["one", "two"]);
});

it("builds anew for other options", async () => {
  await keptBuild(name, build, "a");
  await keptBuild(name, build, "b");
  await keptBuild(name, build, "b");
  expect(built).toEqual(["one", "one"]);
});

it("builds anew when a source is gone", async () => {
  await keptBuild(name, build);
  rmSync(source);
  await expect(keptBuild(name, build)).rejects.toThrow("ENOENT");
});

it.each(["", "{", "null", "[]", '{ "sources": [], "digest": "", "value": 1 }'])(
  "builds anew where what was kept is %j",
  async (text) => {
    await keptBuild(name, build);
    writeFileSync(kept, text);
    expect(await keptBuild(name, build)).toEqual({ text: "one" });
    expect(built).toEqual(["one", "one"]);
  },
);

it("keeps nothing that changed while it was built", async () => {
  const changing = async () => {
    const made = await build();
    await write(`${made.value.text} more`);
    return made;
  };
  await keptBuild(name, changing);
  expect(await keptBuild(name, build)).toEqual({ text: "one more" });
});

it("is whole for many at once", async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => keptBuild(name, build)));
  expect(new Set(all.map(({ text }) => text))).toEqual(new Set(["one"]));
  const before = built.length;
  await keptBuild(name, build);
  expect(built.length).toBe(before);
});
