import { describe, expect, it } from "vitest";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { fakeDirectory } from "./fake-directory.ts";

const run = async (...args: readonly string[]) => {
  const world = fakeDirectory();
  const outcome = await waybill(["directory", ...args], world.access);
  return {
    ...outcome,
    asked: world.directory.asked,
    bodies: world.directory.bodies.map((text) => text && JSON.parse(text)),
  };
};

const SHOWN = `key          ada
region       eu
state        reserved
owner        42
lease until  2026-06-01T00:05:00.000Z
changed      2026-06-01T00:00:00.000Z
version      7
`;

describe.concurrent("waybill directory", () => {
  it("shows a key", async () => {
    expect(await run("get", "slug", "ada")).toMatchObject({ code: 0, stdout: SHOWN });
    expect((await run("get", "slug", "Ada Bö 1")).asked).toEqual(["GET /-/directory/slug/Ada%20B%C3%B6%201"]);
    // Keys that a former version stored and no path has are in the query; a new one is refused.
    for (const key of [".", "..", "a/b", "a\\b"]) {
      expect((await run("get", "slug", key)).asked).toEqual(["GET /-/directory/slug"]);
      expect((await run("delete", "slug", key)).asked.at(-1)).toBe("DELETE /-/directory/slug");
      const reserved = await run("reserve", "slug", key, "--owner", "1", "--region", "eu");
      expect(reserved).toMatchObject({
        code: 1,
        asked: [],
        stderr: expect.stringContaining("no path leads to the key"),
      });
    }
    expect(await run("get", "slug", "\ud800")).toMatchObject({ code: 64, asked: [] });
  });

  it("reserves with an operation of its own, which it prints", async () => {
    const { stdout, bodies } = await run("reserve", "slug", "ada", "--owner", "42", "--region", "eu", "--lease", "90s");
    const [{ operation, ...body }] = bodies;
    expect(body).toEqual({ action: "reserve", owner: "42", region: "eu", leaseSeconds: 90 });
    expect(operation).toMatch(/^cli-[0-9a-f]{32}$/);
    expect(stdout).toBe(`${SHOWN}operation    ${operation}\n`);
    const given = await run("reserve", "slug", "ada", "--owner", "42", "--region", "eu", "--operation", "a", "--json");
    expect(objectsOf(given.stdout)[0]).toMatchObject({ key: "ada", operation: "a" });
    expect(given.bodies[0]).toEqual({ action: "reserve", owner: "42", operation: "a", region: "eu" });
    const half = await run("reserve", "slug", "ada", "--owner", "42", "--region", "eu", "--lease", "1500ms");
    expect([half.code, half.asked]).toEqual([64, []]);
  });

  it("confirms and releases", async () => {
    const claim = ["slug", "ada", "--owner", "42", "--operation", "a"];
    expect((await run("confirm", ...claim)).bodies).toEqual([{ action: "confirm", owner: "42", operation: "a" }]);
    expect(await run("release", ...claim)).toMatchObject({ code: 0, stdout: "", stderr: "released\n" });
  });

  it("moves and removes at a version, and nothing in a dry run", async () => {
    const moved = await run("move", "slug", "ada", "--to", "us");
    expect(moved.asked).toEqual(["GET /-/directory/slug/ada", "PUT /-/directory/slug/ada"]);
    expect(moved.bodies[1]).toEqual({ region: "us" });
    expect((await run("move", "slug", "ada", "--to", "us", "--expect", "7")).asked.length).toBe(1);
    for (const words of [
      ["move", "slug", "ada", "--to", "us"],
      ["delete", "slug", "ada"],
    ]) {
      expect((await run(...words, "--dry-run")).asked).toEqual(["GET /-/directory/slug/ada"]);
    }
    expect((await run("delete", "slug", "ada")).asked[1]).toBe("DELETE /-/directory/slug/ada");
  });

  it("lists orphans of all pages, up to a limit", async () => {
    const all = await run("orphans", "slug");
    const row = "ada  reserved  eu  42  2026-06-01T00:00:00.000Z\n";
    expect([all.code, all.stdout, all.stderr]).toEqual([2, row + row, "2 orphans\n"]);
    expect(objectsOf((await run("orphans", "slug", "--limit", "1", "--json")).stdout).length).toBe(1);
  });
});
