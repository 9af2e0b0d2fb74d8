import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { fakeControlPlane } from "../fake-control-plane.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const [kz, ...others] = DECLARED_TABLE.routes;
const NEXT = `${JSON.stringify({ ...DECLARED_TABLE, routes: [{ ...kz, region: "us" }, ...others] }, null, 1)}\n\n`;
const FIRST = JSON.stringify(DECLARED_TABLE);
const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");

/** Two revisions, of which the second one has white space of its own. */
const setUp = async () => {
  const plane = fakeControlPlane(DECLARED_TABLE);
  const [first] = plane.revisions;
  if (first) plane.revisions.push({ ...first, revision: 2, text: NEXT, basedOn: 1 });
  const files = tableFiles();
  const table = (...args: readonly string[]) => waybill(["table", ...args], { files, ...plane.access });
  return { files, table };
};

describe.concurrent("waybill table show", () => {
  it("prints a revision byte for byte, or the current one, and describes it on stderr", async () => {
    const { table } = await setUp();
    expect(await table("show")).toEqual({
      stdout: NEXT,
      stderr: `revision 2 (publish, by ann): sha256 ${digestOf(NEXT)}\n`,
      code: 0,
    });
    expect(await table("show", "1")).toMatchObject({ stdout: FIRST, stderr: expect.stringContaining("revision 1 (") });
  });

  it("writes it to a file, and over one only by force", async () => {
    const { files, table } = await setUp();
    const file = "published.json";
    const written = await table("show", "2", "--out", "published.json");
    expect(written).toMatchObject({ stdout: "", code: 0 });
    expect(files.text(file)).toBe(NEXT);
    files.write(file, "mine");
    const refused = await table("show", "2", "--out", "published.json");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("published.json already exists") });
    expect(files.text(file)).toBe("mine");
    expect((await table("show", "2", "--out", "published.json", "--force")).code).toBe(0);
    expect(files.text(file)).toBe(NEXT);
  });

  it("names what there is not", async () => {
    const { table } = await setUp();
    expect(await table("show", "7")).toMatchObject({ stdout: "", code: 1, stderr: expect.stringContaining("404") });
    expect((await table("show", "x")).stderr).toContain("whole number");
    expect((await table("show", "--force")).stderr).toBe("error: --force requires --out\n");
  });
});

describe.concurrent("waybill table diff of revisions", () => {
  it("compares two of them, and one with a file", async () => {
    const { table } = await setUp();
    const both = await table("diff", "1", "2", "--json", "--exit-code");
    expect(both.code).toBe(2);
    expect(objectsOf(both.stdout)).toEqual([
      expect.objectContaining({
        before: { revision: 1, digest: digestOf(FIRST) },
        after: { revision: 2, digest: digestOf(NEXT) },
        isEmpty: false,
      }),
    ]);
    const mixed = await table("diff", "routing-table.json", "2");
    expect(mixed.stdout).toContain("order (iuid)  country KZ  ap → us");
    expect((await table("diff", "1", "routing-table.json")).stderr).toBe("no differences\n");
  });

  it("takes digits alone for a revision, whatever files there are", async () => {
    const { files, table } = await setUp();
    files.write("2", FIRST);
    expect((await table("diff", "1", "2")).stdout).not.toBe("");
    expect((await table("diff", "1", "./2")).stderr).toBe("no differences\n");
    const nowhere = await waybill(["table", "diff", "./2", "2"], { files });
    expect(nowhere).toMatchObject({ stdout: "", code: 64 });
    expect(nowhere.stderr).toMatch(/^error: no gateway given; .*\n {2}2 was read as a revision number; write \.\/2 /);
  });
});

describe.concurrent("a faulty table, for programs", () => {
  it("is told by every command with the objects of table check", async () => {
    const { files, table } = await setUp();
    files.write("faulty.json", NEXT.replace('"us"', '"mars"'));
    const { stdout, code } = await table("check", "faulty.json", "--json");
    expect(code).toBe(1);
    expect(objectsOf(stdout)[0]).toMatchObject({ file: "faulty.json", line: expect.any(Number), kind: "unknown-name" });
    for (const args of [["plan"], ["diff", "1"], ["publish"], ["canary", "--share", "5"]]) {
      expect(await table(...args, "faulty.json", "--json")).toMatchObject({ stdout, code: 1 });
    }
  });
});
