import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openState } from "../../../src/host/moving.ts";

const root = mkdtempSync(join(tmpdir(), "waybill-folders-"));
afterAll(() => rmSync(root, { recursive: true }));

describe("the state of a stopped gateway is not in", () => {
  it.each([
    ["the folder of an edge", "edge", true],
    ["the folder of an edge", "edge", false],
    ["the folder of a node of a cluster", "cluster", true],
    ["the folder of a node of a cluster", "cluster", false],
  ])("%s (role %s, an import: %s)", async (what, role, isNew) => {
    const folder = join(root, `${role}-${isNew}`);
    mkdirSync(join(folder, "durable-objects"), { recursive: true });
    writeFileSync(join(folder, "role"), `${role}\n`);
    await expect(openState(folder, isNew)).rejects.toThrow(
      `${folder} is ${what}. Name another folder with --state. It has copies alone: `,
    );
    expect(readdirSync(folder)).toEqual(["durable-objects", "role"]);
  });
});
