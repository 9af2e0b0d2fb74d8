import { describe, expect, it } from "vitest";
import { capacityOf, twitterSnowflake } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const capacity = (...args: readonly string[]) => waybill(["id", "capacity", ...args]);

describe.concurrent("waybill id capacity", () => {
  it("says until when, how fast, how many minters, and that no two IDs are equal", async () => {
    const { stdout, stderr, code } = await capacity("sonyflake-v2", "--rate", "20000", "--minters", "4");
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toBe(`sonyflake-v2 at 20,000 IDs a second from 4 minters, for 10 years

  lasts       until 2199-03-19T03:28:58.880Z, mintedAt from 2025-01-01T00:00:00.000Z on
  one minter  25,600 IDs a second: 256 by sequence a tick, 100 ticks a second
  all         102,400 IDs a second
  minters     65,536 at most, distinguished by machine
  equal IDs   none while no two minters have the same machine
  verdict     sufficient
`);
  });

  it("gives the odds of equal IDs where chance tells them apart", async () => {
    const { stdout, code } = await capacity("uuid-v7", "--rate", "1e6");
    expect(code).toBe(0);
    expect(stdout).toContain("a probability of 1 in 120,000 of any, by 1.89e22 random values in each of ");
  });

  it.each([
    { args: ["sonyflake", "--rate", "25601"], verdict: "too many IDs a second" },
    { args: ["snowflake", "--rate", "1", "--minters", "1025"], verdict: "too many minters" },
    { args: ["sharding-id", "--rate", "1", "--years", "100"], verdict: "does not last that long" },
    { args: ["luuid", "--rate", "1e6", "--years", "10"], verdict: "does not last that long" },
    { args: ["uuid-v4", "--rate", "1e12", "--years", "100"], verdict: "equal IDs are expected" },
    { args: ["cuid", "--rate", "1e6", "--minters", "100"], verdict: "equal IDs are expected" },
    {
      args: ["uuid-v7", "--rate", "1.2e7", "--minters", "2"],
      verdict: "equal IDs are too likely: 1 in 1,000 or more",
    },
    {
      args: ["xid", "--rate", "1e6", "--minters", "50000"],
      verdict: "sufficient only if machine and process are assigned",
    },
    {
      args: ["hotguid", "--rate", "16777216", "--minters", "2378620", "--years", "1"],
      verdict: "sufficient only if machine and process are assigned",
    },
  ])("$args is more than the layout bears", async ({ args, verdict: result }) => {
    const { stdout, stderr, code } = await capacity(...args);
    expect({ stderr, code }).toEqual({ stderr: "", code: 1 });
    expect(stdout).toMatch(new RegExp(`^  verdict +${result}$`, "m"));
  });

  it("does not bear a load with random values far below their bits, and says so in JSON", async () => {
    const rows = [
      { field: "mintedAt", bits: 42, role: "time", unit: "ms", epoch: "2020-01-01T00:00:00Z" },
      { field: "random", bits: 22, role: "random", max: 9 },
    ];
    const files = tableFiles({
      ...DECLARED_TABLE,
      entities: { ...DECLARED_TABLE.entities, box: { path: "/boxes/:id", ids: [{ layout: "tight" }] } },
      layouts: { tight: { rows, text: "decimal" } },
    });
    const ask = (...more: readonly string[]) =>
      waybill(["id", "capacity", "tight", "--rate", "3000", "--table", "routing-table.json", ...more], { files });
    const many = await ask("--minters", "1000", "--json");
    expect([many.code, objectsOf(many.stdout)]).toMatchObject([
      1,
      [{ suffices: false, collisions: { areExpected: true } }],
    ]);
    const one = await ask("--json");
    expect(objectsOf(one.stdout)).toMatchObject([{ collisions: { areExpected: false } }]);
  });

  it.each([
    { name: "lexical-uuid", line: "one minter  1,000,000 IDs a second: one a tick, 1,000,000 ticks a second" },
    { name: "xid", line: "one minter  16,777,216 IDs a second: 16,777,216 by counter each second" },
    { name: "uuid-v4", line: "one minter  unlimited: nothing is counted" },
    { name: "uuid-v4", line: "lasts       unlimited: it contains no time" },
    { name: "luuid", line: "equal IDs   none while no number is used twice" },
    { name: "flake", line: "lasts       until after the year 9999, mintedAt from 1970-01-01T00:00:00.000Z on" },
    { name: "cuid", line: "minters     unlimited: random bits distinguish them" },
  ])("says of $name: $line", async ({ name, line }) => {
    const { stdout, code } = await capacity(name, "--rate", "0.5");
    expect(code).toBe(0);
    expect(stdout).toContain(`\n  ${line}\n`);
  });

  it("says what chance two minters have to draw the same node", async () => {
    const { stdout } = await capacity("xid", "--rate", "1", "--minters", "100");
    expect(stdout).toContain(
      "none while no two minters have the same machine and process; with random fields, two do with",
    );
    expect(stdout).toContain("a probability of 1 in 222,000,000\n");
  });

  it.each([
    { minters: "140000", suffices: true },
    { minters: "160000", suffices: false },
  ])("from 1 % on, that chance is too much: $minters minters", async ({ minters, suffices }) => {
    const { stdout, code } = await capacity("hotguid", "--rate", "1", "--minters", minters, "--years", "1", "--json");
    expect(code).toBe(suffices ? 0 : 1);
    expect(objectsOf(stdout)).toMatchObject([{ suffices, sameNode: expect.closeTo(0.01, 2) }]);
  });

  it.each(["--rate", "--years"])("%s of 2^53 or more is refused", async (option) => {
    const { stderr, code } = await capacity("uuid-v7", "--rate", "1", option, "9007199254740993");
    expect(code).toBe(64);
    expect(stderr).toContain("It must be a number above 0 and below 2^53");
  });

  it("says why there is none for what is not minted", async () => {
    const { stderr, code } = await capacity("uuid-v8", "--rate", "1");
    expect(code).toBe(64);
    expect(stderr).toContain("IDs of uuid-v8 cannot be minted: they come from data of their issuer");
  });

  it("gives the reckoning as one JSON object", async () => {
    const { stdout, code } = await capacity("snowflake", "--rate", "1000", "--minters", "2", "--years", "5", "--json");
    const load = { idsPerSecond: 1000, minters: 2, years: 5 };
    const reckoned = capacityOf(twitterSnowflake, load);
    if (!reckoned.ok) throw new Error(reckoned.error.reason);
    expect(code).toBe(0);
    expect(objectsOf(stdout)).toEqual([
      JSON.parse(
        JSON.stringify({ ...reckoned.value, load, suffices: true, lasts: true, end: "2080-07-10T17:30:30.209Z" }),
      ),
    ]);
  });
});
