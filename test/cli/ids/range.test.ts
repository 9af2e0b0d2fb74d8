import { describe, expect, it } from "vitest";
import { objectsOf, waybill } from "../fake-runtime.ts";

const JUNE = ["--from", "2026-06-01T00:00:00Z", "--to", "2026-07-01T00:00:00Z"];

describe.concurrent("waybill id range", () => {
  it.each([
    {
      args: ["uuid-v7"],
      bounds: ["019e807a-ec00-7000-8000-000000000000", "019f1af9-b3ff-7fff-bfff-ffffffffffff"],
      order: "order: text, character by character, by code\n",
    },
    {
      args: ["comb-suffix"],
      bounds: ["00000000-0000-4000-8000-019e807aec00", "ffffffff-ffff-4fff-bfff-019f1af9b3ff"],
      order: "order: sqlserver, as a uniqueidentifier of SQL Server\n",
    },
    {
      args: ["snowflake"],
      bounds: ["2061236281144246272", "2072107917112246271"],
      order: "order: number, as numbers, not as text\n",
    },
    {
      args: ["ulid", "--text", "uuid"],
      bounds: ["019e807a-ec00-0000-0000-000000000000", "019f1af9-b3ff-ffff-ffff-ffffffffffff"],
      order: "order: text, character by character, by code\n",
    },
  ])("prints both bounds of $args on stdout, and their order on stderr", async ({ args, bounds, order }) => {
    const printed = await waybill(["id", "range", ...args, ...JUNE]);
    expect(printed).toEqual({ stdout: `${bounds.join("\n")}\n`, stderr: order, code: 0 });
  });

  it("gives one JSON object, its times in UTC", async () => {
    const period = ["--from", "2026-06-01T02:00:00+02:00", "--to", "2026-07-01T00:00:00Z"];
    const { stdout, stderr, code } = await waybill(["id", "range", "distributed-id", "--json", ...period]);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(objectsOf(stdout)).toEqual([
      {
        layout: "distributed-id",
        text: "decimal",
        order: "text",
        from: "2026-06-01T00:00:00.000Z",
        to: "2026-07-01T00:00:00.000Z",
        least: "1122877090772732923084800000",
        greatest: "1123606673912366943436799999",
      },
    ]);
  });

  it.each([
    { args: ["luuid", ...JUNE], error: "An ID of luuid contains no time, so", code: 1 },
    { args: ["short-suffix-comb", ...JUNE], error: "contains no time: its interval is one of many", code: 1 },
    { args: ["uuid-v1", ...JUNE], error: "do not sort by time, neither as text nor in SQL Server", code: 1 },
    {
      args: ["elasticflake", ...JUNE],
      error: "Texts of elasticflake in base64url do not sort by time: its digits are not in code order.\n",
      code: 1,
    },
    {
      args: ["ksuid", "--from", "2001-01-01T00:00:00Z", "--to", "2002-01-01T00:00:00Z"],
      error: "from 2014-05-13T16:53:20.000Z to 2150-06-19T23:21:35.000Z, in units of s.",
      code: 1,
    },
    { args: ["ulid", "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-01T00:00:00Z"], error: "later than --from" },
    { args: ["ulidd", ...JUNE], error: 'There is no layout "ulidd"; did you mean ulid' },
    { args: ["ulid", "--text", "base62", ...JUNE], error: 'A ulid has no text "base62"; it has base32, uuid, hex.' },
  ])("$args has no bounds", async ({ args, error, code: fault = 64 }) => {
    const { stdout, stderr, code } = await waybill(["id", "range", ...args]);
    expect({ stdout, code }).toEqual({ stdout: "", code: fault });
    expect(stderr).toContain(error);
  });
});
