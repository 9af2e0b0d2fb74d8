import { describe, expect, it } from "vitest";
import { checkTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

/** A wrong value of a union is answered by the forms that it may have, each with an example that is right there. */

type Json = Record<string, unknown>;

const LIST = { items: "/items", order: "none" };
const { entities, regions } = DECLARED_TABLE;
const order = (more: Json) => ({ ...DECLARED_TABLE, entities: { ...entities, order: { ...entities.order, ...more } } });
const directory = (more: Json) => ({ ...DECLARED_TABLE, directory: { slug: { key: { text: "nfc" }, ...more } } });

const PLACES: readonly (readonly [pointer: string, table: (value: unknown) => object])[] = [
  [
    "/regions/eu/breaker",
    (breaker) => ({ ...DECLARED_TABLE, regions: { ...regions, eu: { ...regions.eu, breaker } } }),
  ],
  ["/entities/order/path", (path) => order({ path })],
  ["/entities/order/list/order", (value) => order({ list: { ...LIST, order: value } })],
  ["/entities/order/list/order/by", (by) => order({ list: { ...LIST, order: { by, direction: "asc" } } })],
  ["/entities/order/list/next", (next) => order({ list: { ...LIST, next } })],
  ["/entities/order/list/scope", (scope) => order({ list: { ...LIST, scope } })],
  ["/entities/order/public", (value) => order({ public: value })],
  ["/layouts/hotguid/slices/m49", (m49) => ({ ...DECLARED_TABLE, layouts: { hotguid: { slices: { m49 } } } })],
  ["/layouts/iuid/mintedWithin", (mintedWithin) => ({ ...DECLARED_TABLE, layouts: { iuid: { mintedWithin } } })],
  ["/moved/a", (a) => ({ ...DECLARED_TABLE, moved: { a } })],
  ["/directory/slug/key", (key) => directory({ key })],
  ["/directory/slug/onFailure", (onFailure) => directory({ onFailure })],
  [
    "/routes/0/when/country",
    (country) => ({ ...DECLARED_TABLE, routes: [{ when: { layout: "iuid", country }, region: "eu" }] }),
  ],
];

const faultAt = (table: object, pointer: string): string | undefined => {
  const checked = checkTable(table);
  return checked.ok
    ? undefined
    : checked.error.find((fault) => fault.kind === "schema" && fault.pointer.startsWith(pointer))?.message;
};

describe("a union", () => {
  it.each(PLACES)("%s says its forms, and takes each of its examples", (pointer, table) => {
    const said = faultAt(table(-7.5), pointer) ?? "";
    expect(said).toMatch(/^Expected .*, found -7\.5; correct the value\.$/);
    const forms = said.slice("Expected ".length, said.lastIndexOf(", found"));
    expect(forms).not.toMatch(/Object|Array|\||undefined/);
    const texts = forms.match(/\{.*?\}(?=,| or |$)|\[.*?\](?=,| or |$)|"[^"]*"|\btrue\b|\bfalse\b/g) ?? [];
    expect(texts.length).toBeGreaterThan(1);
    for (const text of texts) expect([text, faultAt(table(JSON.parse(text)), pointer)]).toEqual([text, undefined]);
  });

  it("shows the forms of the order of a list", () => {
    expect(faultAt(order({ list: { ...LIST, order: "id" } }), "/entities/order/list/order")).toBe(
      'Expected "none" or an object such as {"by":"id-time","direction":"asc"}, found "id"; correct the value.',
    );
  });
});
