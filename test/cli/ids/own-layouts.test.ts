import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

/** A layout of a user's own, and a Snowflake with another epoch. */
const files = tableFiles({
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    ticket: { path: "/tickets/:id", ids: [{ layout: "ticket" }] },
    note: { path: "/notes/:id", ids: [{ layout: "note-snowflake" }] },
    stamp: { path: "/stamps/:id", ids: [{ layout: "stamp" }] },
  },
  layouts: {
    ...DECLARED_TABLE.layouts,
    ticket: {
      rows: [
        { field: "mintedAt", bits: 40, role: "time", unit: "ms", epoch: "2020-01-01T00:00:00Z" },
        { field: "shop", bits: 12, role: "key" },
        { field: "random", bits: 44, role: "random" },
      ],
      text: "base62",
      prefix: "tkt_",
    },
    stamp: {
      rows: [
        { field: "shop", bits: 12, role: "key" },
        { field: "random", bits: 40, role: "random", max: 1 },
      ],
      text: "hex",
    },
    "note-snowflake": { like: "snowflake", epoch: "2020-01-01T00:00:00Z" },
  },
  routes: [...DECLARED_TABLE.routes, { when: { entity: ["ticket", "note", "stamp"] }, region: "eu" }],
});
const TABLE = ["--table", "routing-table.json"];
const AT = "2026-06-01T00:00:00Z";

describe.concurrent("layouts that a table declares", () => {
  it("are minted, explained and converted by their names", async () => {
    const minted = await waybill(["mint", "ticket", "--field", "shop=7", "--at", AT, ...TABLE], { files });
    expect(minted).toMatchObject({ stderr: "", code: 0 });
    expect(minted.stdout).toMatch(/^tkt_[0-9A-Za-z]{17}\n$/);
    const explained = await waybill(["explain", "--json", ...TABLE], { files, stdin: minted.stdout });
    expect(objectsOf(explained.stdout)).toMatchObject([
      { decision: { entity: "ticket", layout: "ticket", region: "eu" } },
    ]);
    const hinted = await waybill(["explain", "--json", "--layout", "ticket", ...TABLE], {
      files,
      stdin: minted.stdout,
    });
    expect(objectsOf(hinted.stdout)).toMatchObject([
      { candidates: [{ layout: "ticket", fields: { shop: "7" }, mintedAt: "2026-06-01T00:00:00.000Z" }] },
    ]);
    const converted = await waybill(["id", "convert", "--to", "ticket", ...TABLE], { files, stdin: minted.stdout });
    expect(converted.stdout).toBe(minted.stdout);
  });

  it("are minted for an entity by the fields that it leaves open", async () => {
    const minted = await waybill(["mint", "--entity", "ticket", "--field", "shop=4095", "--json", ...TABLE], { files });
    expect(objectsOf(minted.stdout)).toMatchObject([{ entity: "ticket", layout: "ticket", region: "eu" }]);
    const { stdout, stderr, code } = await waybill(["mint", "--entity", "note", "--field", "worker=1", ...TABLE], {
      files,
    });
    expect({ stdout, code }).toEqual({ stdout: "", code: 64 });
    expect(stderr).toContain("datacenter");
  });

  it.each([["stamp"], ["--layout", "stamp"], ["--entity", "stamp"]])(
    "are not minted by %j %j where chance would make one twice",
    async (...name) => {
      const { stdout, stderr, code } = await waybill(["mint", ...name, "--field", "shop=7", ...TABLE], { files });
      expect({ stdout, code }).toEqual({ stdout: "", code: 64 });
      expect(stderr).toMatch(/cannot be minted|not minted/);
    },
  );

  it("count their time from an epoch of their own", async () => {
    const fields = ["--field", "datacenter=1", "--field", "worker=2"];
    const { stdout } = await waybill(["mint", "note-snowflake", "--at", AT, ...fields, ...TABLE], { files });
    const sinceEpoch = BigInt(Date.parse(AT) - Date.UTC(2020, 0, 1));
    expect(BigInt(stdout.trim()) >> 22n).toBe(sinceEpoch);
  });

  it("have bounds, a capacity and a drawing", async () => {
    const period = ["--from", AT, "--to", "2026-07-01T00:00:00Z"];
    const bounds = await waybill(["id", "range", "ticket", ...period, ...TABLE], { files });
    expect(bounds).toMatchObject({ stderr: "order: text, character by character, by code\n", code: 0 });
    expect(bounds.stdout).toMatch(/^(tkt_[0-9A-Za-z]{17}\n){2}$/);
    const capacity = await waybill(["id", "capacity", "ticket", "--rate", "1000", "--json", ...TABLE], { files });
    expect(objectsOf(capacity.stdout)).toMatchObject([
      { layout: "ticket", end: "2054-11-03T19:53:47.776Z", suffices: true },
    ]);
    const random = await waybill(["layout", "ticket", ...TABLE], { files });
    expect(random.stdout).toContain("texts: tkt_ base62\n");
    expect(random.stdout).toMatch(/^shop +12 +key$/m);
  });

  it("are unknown without their table", async () => {
    const { stderr, code } = await waybill(["id", "capacity", "ticket", "--rate", "1"]);
    expect(code).toBe(64);
    expect(stderr).toContain('There is no layout "ticket"');
  });
});
