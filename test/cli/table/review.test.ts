import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { fakeControlPlane } from "../fake-control-plane.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";
const SWITCHED = { ...DECLARED_TABLE, moved: { [ID]: { region: "us", epoch: 3 } } };
const CHANGES =
  `moved  1 removed: ${ID}\noverridden entities routed differently: 1\n` +
  `  ${ID}  order  us → ap  moved, epoch 3 → routes\n` +
  `warning: 1 entity (${ID}): the entry of a move is missing, so the routes decide again, and regions may reject requests\n`;
const REFUSAL = "to override, pass --over-moves\nnothing was changed\n";

/** A control plane whose table has an entity that was switched, and a folder with an older copy, without it. */
const setUp = async () => {
  const plane = fakeControlPlane(DECLARED_TABLE);
  const files = tableFiles(DECLARED_TABLE);
  const table = (...args: readonly string[]) => waybill(["table", ...args], { files, ...plane.access });
  files.write("switched.json", JSON.stringify(SWITCHED));
  await table("publish", "switched.json", "--yes");
  files.write("old.json", JSON.stringify(DECLARED_TABLE, null, 1));
  return { plane, files, table };
};

describe.concurrent("a table that undoes a step of a move", () => {
  it.each([
    { what: "published", args: ["publish", "old.json"] },
    { what: "rolled back to", args: ["rollback", "1"] },
    { what: "a canary", args: ["canary", "old.json", "--share", "5"] },
  ])("is not $what by --yes alone, and is by --over-moves", async ({ args }) => {
    const { plane, table } = await setUp();
    const refused = await table(...args, "--yes");
    expect(refused.stderr).toContain(CHANGES);
    expect(refused.stderr).toContain(REFUSAL);
    expect({ code: refused.code, revisions: plane.revisions.length, canary: plane.canary }).toEqual({
      code: 1,
      revisions: 2,
      canary: undefined,
    });
    const made = await table(...args, "--yes", "--over-moves", "--json");
    expect(made.stderr).toContain(CHANGES);
    expect(objectsOf(made.stdout)).toMatchObject([
      { revision: 3, warnings: [{ kind: "move-lost", entities: 1, ids: [ID] }] },
    ]);
    expect(made.code).toBe(0);
  });

  it("is not promoted either, where a canary has it", async () => {
    const { plane, table } = await setUp();
    await table("canary", "old.json", "--share", "5", "--yes", "--over-moves");
    const refused = await table("promote", "--yes", "--expect", "3");
    expect(refused.stderr).toContain(CHANGES);
    expect(refused.stderr).toContain(REFUSAL);
    expect([refused.code, plane.revisions.length]).toEqual([1, 2]);
    const made = await table("promote", "--yes", "--expect", "3", "--over-moves", "--json");
    expect(objectsOf(made.stdout)).toMatchObject([{ kind: "promote", warnings: [{ kind: "move-lost", ids: [ID] }] }]);
    expect(made.code).toBe(0);
  });

  it("is planned with the same words, and never as one that sends nothing elsewhere", async () => {
    const { table } = await setUp();
    const { stdout } = await table("plan", "old.json");
    expect(stdout).toContain(`us → ap  moved, epoch 3 → routes\n`);
    expect(stdout).toContain(`warnings\n  1 entity (${ID}): the entry of a move is missing`);
    expect(stdout).not.toContain("no key is routed differently");
  });
});

describe.concurrent("warnings before a change", () => {
  it("are none where nothing looks odd, and name the canary that a publish would end", async () => {
    const { files, table } = await setUp();
    files.write("next.json", JSON.stringify({ ...SWITCHED, default: "eu" }));
    await table("canary", "next.json", "--share", "5", "--yes");
    const { stderr, stdout, code } = await table("publish", "next.json", "--yes", "--json", "--expect", "3");
    expect(stderr).toContain(
      "warning: a canary of revision 3 is running: publishing requires --expect 3, which ends it",
    );
    expect(objectsOf(stdout)).toMatchObject([{ revision: 4, warnings: [{ kind: "canary-running", revision: 3 }] }]);
    expect(code).toBe(0);
    files.write("last.json", JSON.stringify({ ...SWITCHED, default: "us" }));
    const plain = await table("publish", "last.json", "--yes", "--json");
    expect(plain.stderr).not.toContain("warning");
    expect(objectsOf(plain.stdout)).toMatchObject([{ revision: 5, warnings: [] }]);
  });
});
