import { describe, expect, test } from "vitest";
import { diffTables } from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { manyLayoutsTable } from "../many-layouts.ts";
import { faultsOf, load } from "../tables.ts";

const withWhen = (when: object): unknown => ({
  ...manyLayoutsTable(),
  entities: { ...manyLayoutsTable().entities, note: { path: "/notes/:id", ids: [{ layout: "lexical-uuid" }] } },
  routes: [{ when, region: "eu" }],
});

describe("conditions on fields", () => {
  test.each([
    [{ fields: { datacenter: 1 } }],
    [{ fields: { datacenter: "0-31", worker: ["1", "7-9", 12] }, layout: "snowflake" }],
    [{ fields: { country: 5 } }],
    [{ fields: { service: 3 }, entity: "ticket" }],
    [{ fields: { country: "0-9" }, country: "KZ" }],
    [{ fields: { primaryKey: 8312 } }],
    [{ fields: { process: 65_535 }, layout: ["xid", "object-id"] }],
    [{ fields: { process: 2 ** 40 - 1 }, layout: ["xid", "object-id"] }],
  ])("%j may stand in a route", (when) => {
    expect(faultsOf(withWhen(when))).toEqual([]);
  });

  test.each([
    [{ fields: { datacentre: 1 } }, "unknown-name", "/fields/datacentre"],
    [{ fields: { toString: 1 } }, "unknown-name", "/fields/toString"],
    [{ fields: { datacenter: 1 }, layout: "xid" }, "unknown-name", "/fields/datacenter"],
    [{ fields: { machine: 1 }, entity: "tweet" }, "unknown-name", "/fields/machine"],
    [{ fields: { mintedAt: 1 } }, "unknown-name", "/fields/mintedAt"],
    [{ fields: { sequence: 1 } }, "unknown-name", "/fields/sequence"],
    [{ fields: { random: 1 } }, "unknown-name", "/fields/random"],
    [{ fields: { version: 7 } }, "unknown-name", "/fields/version"],
    [{ fields: { worker: 1 } }, "key-range", "/fields/worker"],
    [{ fields: { worker: 1 }, layout: "lexical-uuid" }, "key-range", "/fields/worker"],
    [{ fields: { datacenter: 32 } }, "key-range", "/fields/datacenter"],
    [{ fields: { datacenter: ["1", "9-5"] } }, "key-range", "/fields/datacenter/1"],
    [{ fields: { datacenter: -1 } }, "schema", "/fields/datacenter"],
    [{ fields: { datacenter: "0x1" } }, "schema", "/fields/datacenter"],
    [{ fields: { datacenter: [] } }, "schema", "/fields/datacenter"],
    [{ fields: { country: 7 }, country: "KZ", layout: "ticket" }, "unreachable-route", ""],
    [{ fields: { service: 5 }, layout: "ticket" }, "unreachable-route", ""],
    [{ fields: { datacenter: 1 }, layout: "uuid-v4" }, "unreachable-route", "/layout"],
  ])("%j is %s", (when, kind, pointer) => {
    const faults = faultsOf(withWhen(when));
    expect(faults.map((fault) => `${fault.kind} ${fault.pointer}`)).toEqual([`${kind} /routes/0/when${pointer}`]);
  });

  test("a field of too many bits is refused by a sentence that says so", () => {
    const [fault] = faultsOf(withWhen({ fields: { worker: 1 } }));
    expect(fault?.message).toBe(
      "Field worker of layout lexical-uuid has 64 bits, and routes can depend on fields of at most 53; remove it, or name other layouts with `layout`.",
    );
  });
});

describe("what differs between tables", () => {
  const routes = (when: object): DeclaredTable => ({
    ...manyLayoutsTable(),
    routes: [{ when, region: "us" }],
    default: "eu",
  });

  test("is told by the fields that routes name", () => {
    const { keys } = diffTables(
      routes({ layout: "snowflake", fields: { datacenter: 1, worker: "0-15" } }),
      routes({ layout: "snowflake", fields: { datacenter: 1, worker: "0-7" } }),
    );
    expect(keys).toMatchObject([{ where: { "fields.datacenter": "1", "fields.worker": "8-15" }, keys: "8" }]);
  });

  test("is told by nodes where a route names them", () => {
    const { keys } = diffTables(
      routes({ layout: "xid", fields: { machine: "0-9" } }),
      routes({ layout: "xid", fields: { machine: "0-8" } }),
    );
    expect(keys).toMatchObject([{ where: { "fields.machine": "9" }, keys: "1" }]);
  });

  test("is not told by keys where a layout was declared anew", () => {
    const declared = manyLayoutsTable();
    const { discord: _, ...layouts } = declared.layouts ?? {};
    const anew = {
      ...declared,
      layouts: { ...layouts, discord: { like: "snowflake", epoch: "2016-01-01T00:00:00Z" } },
    };
    const { keys, layouts: changed } = diffTables(declared, { ...anew, routes: anew.routes.slice(0, 1) });
    expect(keys.every(({ layout }) => layout !== "discord")).toBe(true);
    expect(Object.keys(changed.changed)).toEqual(["discord"]);
  });
});

test("routes by fields go on working when the table is loaded as JSON", () => {
  expect(load(JSON.parse(JSON.stringify(manyLayoutsTable()))).routeCount).toBe(manyLayoutsTable().routes.length);
});
