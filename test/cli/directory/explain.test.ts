import { describe, expect, it } from "vitest";
import { waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";

const UUID = "919108f7-52d1-4320-9bac-f847db4148a8";

const table = (mode = "serve") =>
  JSON.stringify({
    regions: { eu: { origins: [{ url: "http://eu.test" }] }, us: { origins: [{ url: "http://us.test" }] } },
    entities: {
      shop: { path: "/shops/:id", directory: "slug" },
      order: { path: "/orders/:id", ids: [{ layout: "uuid-v4" }, { layout: "uuid-v7" }] },
    },
    directory: { slug: { key: { text: "lower" } }, old: { key: { layout: "uuid-v4" }, mode } },
    routes: [
      { when: { layout: "uuid-v4" }, directory: "old" },
      { when: {}, region: "us" },
    ],
  });
const files = () => MemoryFiles.of({ "table.json": table(), "before.json": table("write-only") });

describe("what a directory decides", () => {
  it("is no region for the command line, and no guess", async () => {
    const shown = await waybill(["explain", UUID, "https://x.test/shops/My-Shop", "--table", "table.json"], {
      files: files(),
    });
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/directory {2}old/);
    expect(shown.stderr).toContain('The directory "old" says where this is');
    expect(shown.stderr).toContain('The directory "slug" says where this is');
    expect(shown.stderr).toContain("with --gateway and the address of a running gateway this command asks it\n");
    const json = await waybill(["explain", "--json", UUID, "--table", "table.json"], { files: files() });
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { reason: "directory-unavailable", directory: "old", why: "unread" },
    });
    expect(json.stdout).not.toContain("lookup");
  });

  it.each([
    ["an ID", [UUID]],
    ["a path", [`/orders/${UUID}`]],
    ["a request", ["--url", `/orders/${UUID}`]],
  ])("is told by the gateway of the environment, which is named, for %s", async (_, args) => {
    const env = { WAYBILL_GATEWAY: "http://127.0.0.1:8787" };
    const { stderr, code } = await waybill(["explain", ...args, "--table", "table.json"], { files: files(), env });
    expect(code).toBe(1);
    expect(stderr).toBe(
      'error: The directory "old" says where this is, and was not asked.\n' +
        "with --gateway http://127.0.0.1:8787 this command asks it\n",
    );
  });

  it("is not moved by the table", async () => {
    const moved = await waybill(["move", "start", UUID, "--to", "us", "--table", "table.json"], { files: files() });
    expect(moved).toMatchObject({ code: 1 });
    expect(moved.stderr).toContain("its region is in a directory");
  });

  it("differs from what decided before", async () => {
    const diff = await waybill(["table", "diff", "before.json", "table.json"], { files: files() });
    expect(diff.stdout).toContain("us → directory old");
  });
});
