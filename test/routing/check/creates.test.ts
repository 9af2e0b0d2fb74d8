import { describe, expect, it } from "vitest";
import { checkTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const faultsOf = (entities: object, more: object = {}) => {
  const table = { ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, ...entities }, ...more };
  const checked = checkTable(table);
  return checked.ok ? [] : checked.error.map(({ pointer, kind }) => `${kind} ${pointer}`);
};

const country = { country: { header: "x-country" } };
const { order, parcel, person } = DECLARED_TABLE.entities;
const item = (create: object) => ({ item: { path: "/items/:id", ids: [{ layout: "iuid", service: 9 }], create } });

describe("how entities are created", () => {
  it.each([
    ["the default collection", { order: { ...order, create: { key: country } } }],
    [
      "all parts of the key by slices",
      { parcel: { ...parcel, create: { key: { m49: { value: 1 }, partition: { header: "p" } } } } },
    ],
    ["a group of the entity", { person: { ...person, create: {} } }],
    [
      "a collection below an entity",
      item({ collection: "/orders/:id/items", key: { country: { parent: "country" } } }),
    ],
    ["a fixed value last", { order: { ...order, create: { key: { country: [{ member: "/c" }, { value: "DE" }] } } } }],
  ])("takes %s", (_, entities) => {
    expect(faultsOf(entities)).toEqual([]);
  });

  const at = "/entities/order/create";
  it.each([
    ["a field without a source", { order: { ...order, create: {} } }, `schema ${at}/key`],
    [
      "a field that there is not",
      { order: { ...order, create: { key: { ...country, shardKey: { value: 1 } } } } },
      `unknown-name ${at}/key/shardKey`,
    ],
    [
      "a source of two kinds",
      { order: { ...order, create: { key: { country: { header: "a", member: "/b" } } } } },
      `schema ${at}/key/country/0`,
    ],
    [
      "a source that is never asked",
      { order: { ...order, create: { key: { country: [{ value: "DE" }, { header: "a" }] } } } },
      `unreachable-source ${at}/key/country/1`,
    ],
    [
      "a country that there is not",
      { order: { ...order, create: { key: { country: { value: "XX" } } } } },
      `unknown-name ${at}/key/country/0`,
    ],
    [
      "a parent above no collection",
      { order: { ...order, create: { key: { country: { parent: "country" } } } } },
      `schema ${at}/key/country/0`,
    ],
    [
      "a field that the parent lacks",
      item({ collection: "/orders/:id/items", key: { country: { parent: "nation" } } }),
      "unknown-name /entities/item/create/key/country/0",
    ],
    [
      "a parent that there is not",
      item({ collection: "/carts/:id/items", key: country }),
      "schema /entities/item/create/collection",
    ],
    [
      "slices with a gap",
      { parcel: { ...parcel, create: { key: { m49: { value: 1 } } } } },
      "schema /entities/parcel/create/key",
    ],
    [
      "the gateway's own path",
      { order: { ...order, create: { key: country, collection: "/mint" } } },
      `reserved-path ${at}/collection`,
    ],
    [
      "a path of an entity",
      { order: { ...order, create: { key: country, collection: "/rides/new" } } },
      `path-collision ${at}/collection`,
    ],
    [
      "a collection twice",
      item({ collection: "/parcels", key: country }),
      "path-collision /entities/parcel/create/collection",
    ],
    [
      "no layout among several",
      { order: { ...order, ids: [...order.ids, { layout: "ulid" }], create: { key: country } } },
      `schema ${at}/layout`,
    ],
    [
      "another's layout",
      { order: { ...order, create: { layout: "hotguid", key: country } } },
      `unknown-name ${at}/layout`,
    ],
    [
      "layouts that nobody can mint",
      { doc: { path: "/docs/:id", ids: [{ layout: "uuid-v3" }], create: {} } },
      "schema /entities/doc/create/layout",
    ],
  ])("reports %s", (name, entities, fault) => {
    const twice =
      name === "a collection twice" ? { parcel: { ...parcel, create: { key: { shardKey: { value: 1 } } } } } : {};
    const swapped = name === "a collection twice" ? { ...entities, ...twice } : entities;
    const faults = faultsOf(swapped);
    expect(faults.map((each) => each.replace("item", "parcel"))).toContain(fault.replace("item", "parcel"));
  });

  it("reports a path without an ID that takes POST as well", () => {
    const entry = (methods?: object) => ({
      withoutId: { list: { path: "/orders", sources: [{ region: "eu" }], ...methods } },
    });
    const entities = { order: { ...order, create: { key: country } } };
    expect(faultsOf(entities, entry())).toEqual([`path-collision ${at}/collection`]);
    expect(faultsOf(entities, entry({ methods: ["GET", "POST"] }))).toEqual([`path-collision ${at}/collection`]);
    expect(faultsOf(entities, entry({ methods: "GET" }))).toEqual([]);
    expect(faultsOf(entities, { withoutId: { rest: { path: "/**", sources: [{ region: "eu" }] } } })).toEqual([]);
  });
});
