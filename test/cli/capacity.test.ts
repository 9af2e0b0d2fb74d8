import { describe, expect, it } from "vitest";
import { capacityOf, everyLayout, twitterSnowflake } from "../../src/ids/index.ts";
import { objectsOf, waybill } from "./command.ts";

const capacity = (...args: readonly string[]) => waybill(["id", "capacity", ...args]);

describe.concurrent("waybill id capacity", () => {
  it("says until when, how fast, how many minters, and that no two IDs are equal", async () => {
    const { stdout, stderr, code } = await capacity("sonyflake-v2", "--rate", "20000", "--minters", "4");
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toBe(`sonyflake-v2 at 20,000 IDs a second from 4 minters, for 10 years

  lasts       until 2199-03-19T03:28:58.880Z, mintedAt from 2025-01-01T00:00:00.000Z on
  one minter  25,600 IDs a second: 256 by sequence a tick, 100 ticks a second
  all         102,400 IDs a second
  minters     65,536 at most, told apart by machine
  equal IDs   none while no two minters have the same machine
  verdict     bears it
`);
  });

  it("gives the odds of equal IDs where chance tells them apart", async () => {
    const { stdout, code } = await capacity("uuid-v7", "--rate", "1e6");
    expect(code).toBe(0);
    expect(stdout).toContain("a chance of 1 in 120,000 that there are any, by 1.89e22 random values in each of ");
  });

  it.each([
    { args: ["sonyflake", "--rate", "25601"], verdict: "too many IDs a second" },
    { args: ["snowflake", "--rate", "1", "--minters", "1025"], verdict: "too many minters" },
    { args: ["sharding-id", "--rate", "1", "--years", "100"], verdict: "does not last so long" },
    { args: ["luuid", "--rate", "1e6", "--years", "10"], verdict: "does not last so long" },
  ])("$args is more than the layout bears", async ({ args, verdict }) => {
    const { stdout, stderr, code } = await capacity(...args);
    expect({ stderr, code }).toEqual({ stderr: "", code: 1 });
    expect(stdout).toMatch(new RegExp(`^  verdict +${verdict}$`, "m"));
  });

  it("has an answer for every layout that is minted, and says why there is none for the others", async () => {
    for (const { name, table } of everyLayout) {
      const { stdout, stderr } = await capacity(name, "--rate", "0.5");
      if (table.minter === "none") expect(stderr).toContain(`IDs of ${name} are not minted`);
      else expect(stdout).toMatch(/^ {2}verdict +bears it$/m);
    }
  });

  it("gives the reckoning as one JSON object", async () => {
    const { stdout, code } = await capacity("snowflake", "--rate", "1000", "--minters", "2", "--years", "5", "--json");
    const load = { idsPerSecond: 1000, minters: 2, years: 5 };
    const reckoned = capacityOf(twitterSnowflake, load);
    if (!reckoned.ok) throw new Error(reckoned.error.reason);
    expect(code).toBe(0);
    expect(objectsOf(stdout)).toEqual([
      JSON.parse(
        JSON.stringify({ ...reckoned.value, load, bears: true, lasts: true, end: "2080-07-10T17:30:30.209Z" }),
      ),
    ]);
  });
});
