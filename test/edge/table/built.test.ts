import { describe, expect, it } from "vitest";
import { declaredIn, readVoucher } from "../../../src/edge/table/built.ts";
import { compileBuilt } from "../../../src/edge/table/restored.ts";
import { type DeclaredTable, storeTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const DECLARED = DECLARED_TABLE as unknown as DeclaredTable;

const voucher = (version: string, form?: string) => ({ version, digest: "d", form });

function formOf(): string {
  const { text, numbers } = storeTable(DECLARED);
  return `${btoa(String.fromCharCode(...numbers))}\n${text}`;
}

describe("the voucher of a build", () => {
  it.each([
    ["of this version", voucher("v1"), "v1", "d"],
    ["of another version", voucher("v0"), "v1", undefined],
    ["in a Worker of sources", voucher("v1"), undefined, undefined],
    ["that is not there", undefined, "v1", undefined],
    ["that is not there, in a Worker of sources", undefined, undefined, undefined],
  ])("%s", (_, given, version, digest) => {
    expect(readVoucher(given, version)?.digest).toBe(digest);
  });

  it("brings the form of the table, from which the table is restored without its text", async () => {
    const built = readVoucher(voucher("v1", formOf()), "v1");
    expect(built?.form?.()).toEqual(storeTable(DECLARED));
    expect(await compileBuilt({ bundled: "{}", built }, 0)).toMatchObject({ ok: true });
  });
});

describe("the table of a build as JSON text", () => {
  it.each([
    ["an object", DECLARED_TABLE, DECLARED_TABLE],
    ["its text", JSON.stringify(DECLARED_TABLE), DECLARED_TABLE],
    ["no JSON", "{", undefined],
  ])("%s", (_, given, declared) => {
    expect(declaredIn(given)).toEqual(declared);
  });

  it.each([
    ["its text", JSON.stringify(DECLARED_TABLE), true],
    ["no JSON", "{", false],
    ["no table", "[]", false],
  ])("%s: it compiles, or its faults are told", async (_, bundled, isGood) => {
    expect((await compileBuilt({ bundled }, 0)).ok).toBe(isGood);
  });
});
