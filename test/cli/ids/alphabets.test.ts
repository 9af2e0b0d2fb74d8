import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const layouts = {
  "user-id": { like: "uuid-v7", text: [{ alphabet: "crockford-lower", prefix: "user_" }, "uuid"] },
  "short-id": { like: "uuid-v7", text: [{ alphabet: "base58-flickr" }, "uuid"] },
  "file-id": { like: "ksuid", text: { alphabet: "hex-upper" } },
  "least-id": { like: "uuid-v7", text: { alphabet: "base58", padded: false } },
} as const;

const names = Object.keys(layouts);

const files = tableFiles({
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    ...Object.fromEntries(names.map((layout) => [layout, { path: `/${layout}/:id`, ids: [{ layout }] }])),
  },
  layouts: { ...DECLARED_TABLE.layouts, ...layouts },
  routes: [...DECLARED_TABLE.routes, { when: { entity: names }, region: "eu" }],
});
const TABLE = ["--table", "routing-table.json"];
const TYPE_ID = "user_01h455vb4pex5vsknk084sn02q";
const UUID = "01890a5d-ac96-774b-bcce-b302099a8057";

describe("declared alphabets", () => {
  const range = (layout: string, ...more: string[]) =>
    waybill(
      ["id", "range", layout, ...TABLE, "--from", "2026-06-01T00:00:00Z", "--to", "2026-07-01T00:00:00Z", ...more],
      {
        files,
      },
    );

  it("bound a period in their own digits", async () => {
    const { stdout, stderr } = await range("user-id");
    expect(stdout).toMatch(/^user_01[0-9a-hjkmnp-tv-z]{24}\nuser_01[0-9a-hjkmnp-tv-z]{24}\n$/);
    expect(stderr).toBe("order: text, character by character, by code\n");
    const [least, greatest] = stdout.trim().split("\n") as [string, string];
    expect(least < greatest).toBe(true);
    expect((await range("file-id")).stdout).toMatch(/^[0-9A-F]{40}\n[0-9A-F]{40}\n$/);
  });

  it("have no bounds where their digits are not in the order of their codes", async () => {
    const { stdout, stderr, code } = await range("short-id");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Texts of short-id in base58-flickr do not sort by time");
    expect(stderr).toContain("Use --text uuid");
    expect((await range("short-id", "--text", "uuid")).code).toBe(0);
  });

  it("sort by length first where they are not padded", async () => {
    expect((await range("least-id")).stderr).toBe("order: number, by length, then character by character, by code\n");
  });

  it("are minted, converted and explained in the canonical text", async () => {
    const minted = await waybill(["mint", "user-id", ...TABLE], { files });
    expect(minted.stdout).toMatch(/^user_01[0-9a-hjkmnp-tv-z]{24}\n$/);
    const convert = (id: string, ...more: string[]) => waybill(["id", "convert", id, ...TABLE, ...more], { files });
    expect((await convert(UUID, "--from", "uuid-v7", "--to", "uuid-v7:uuid")).stdout).toContain(UUID);
    expect((await convert(TYPE_ID, "--from", "user-id", "--to", "uuid")).stdout).toContain(UUID);
    expect((await convert(UUID, "--from", "user-id:uuid", "--to", "user-id")).stdout).toContain(TYPE_ID);
    const explained = await waybill(["explain", ...TABLE, "--json", UUID], { files });
    expect(objectsOf(explained.stdout)).toMatchObject([{ text: UUID }]);
    const byPath = await waybill(["explain", ...TABLE, "--json", `/user-id/${UUID}`], { files });
    const [{ decision, forms }] = objectsOf(byPath.stdout) as [{ decision: object; forms: readonly object[] }];
    expect(decision).toMatchObject({ entity: "user-id", region: "eu" });
    expect(forms).toContainEqual({ layout: "user-id", form: "crockford-lower", text: TYPE_ID });
  });

  it("are shown with a greatest value that no number holds", async () => {
    const max = "9999999999999999999999999999";
    const rows = [{ field: "value", bits: 96, role: "random", max }];
    const wide = { "wide-id": { rows, text: ["decimal", { alphabet: "base58" }] } };
    const declared = {
      ...DECLARED_TABLE,
      entities: { ...DECLARED_TABLE.entities, wide: { path: "/wide/:id", ids: [{ layout: "wide-id" }] } },
      layouts: { ...DECLARED_TABLE.layouts, ...wide },
    };
    const shown = await waybill(["layout", "wide-id", ...TABLE, "--json"], { files: tableFiles(declared) });
    expect(objectsOf(shown.stdout)).toMatchObject([{ rows, texts: ["decimal", "base58"] }]);
  });

  it("are named where no table declares them", async () => {
    const { stderr } = await waybill(["id", "convert", "mhvXdrZT4jP5T8vBxuvm75", "--to", "uuid"]);
    expect(stderr).toContain("It could be: UUID in base58 (Flickr), as of short-uuid");
  });
});
