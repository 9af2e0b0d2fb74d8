import { named, type Table } from "./places.ts";

/** Names of a table that have no room for markup: each entry puts texts in the place of such names. */
export const REFUSED: Readonly<Record<string, (table: Table, texts: readonly string[]) => object>> = {
  regions: ({ regions }, texts) => ({
    regions: { ...regions, ...named(texts, { origins: [{ url: "http://x.test" }] }) },
  }),
  "URLs of origins": ({ regions }, texts) => ({
    regions: { ...regions, ...ofEach(texts, (payload, at) => [`r${at}`, { origins: [{ url: payload }] }]) },
  }),
  "hosts of origins": ({ regions }, texts) => ({
    regions: {
      ...regions,
      ...ofEach(texts, (payload, at) => [`r${at}`, { origins: [{ url: `http://${payload}/` }] }]),
    },
  }),
  countries: ({ countries }, texts) => ({
    countries: { ...countries, ...ofEach(texts, (payload, at) => [payload, 500 + at]) },
  }),
  entities: ({ entities }, texts) => ({
    entities: {
      ...entities,
      ...ofEach(texts, (payload, at) => [payload, { path: `/e${at}/:id`, ids: [{ layout: "ksuid" }] }]),
    },
  }),
  "paths of entities": ({ entities }, texts) => ({
    entities: {
      ...entities,
      ...ofEach(texts, (payload, at) => [`e${at}`, { path: `${payload}/:id`, ids: [{ layout: "ksuid" }] }]),
    },
  }),
  "layouts of entities": ({ entities }, texts) => ({
    entities: { ...entities, ...ofEach(texts, (layout, at) => [`e${at}`, { path: `/e${at}/:id`, ids: [{ layout }] }]) },
  }),
  "group names of entities": ({ entities }, texts) => ({
    entities: {
      ...entities,
      ...ofEach(texts, (group, at) => [`e${at}`, { path: `/e${at}/:id`, ids: [{ layout: "luuid", group }] }]),
    },
  }),
  layouts: ({ layouts }, texts) => ({ layouts: { ...layouts, ...named(texts, { like: "snowflake" }) } }),
  "prefixes of layouts": ({ layouts }, texts) => ({
    layouts: { ...layouts, ...ofEach(texts, (prefix, at) => [`own-${at}`, { rows: ROWS, text: "base32", prefix }]) },
  }),
  "fields of layouts": ({ layouts }, texts) => ({
    layouts: {
      ...layouts,
      ...ofEach(texts, (field, at) => [
        `own-${at}`,
        { rows: [...ROWS, { field, bits: 8, role: "key" }], text: "base32" },
      ]),
    },
  }),
  slices: ({ layouts }, texts) => ({ layouts: { ...layouts, hotguid: { slices: named(texts, [0, 1]) } } }),
  "headers of slices": ({ layouts }, texts) => ({
    layouts: {
      ...layouts,
      hotguid: { slices: ofEach(texts, (header, at) => [`s${at}`, { offset: 0, bits: 1, header }]) },
    },
  }),
  "conditions of routes": ({ routes }, texts) => ({
    routes: [...texts.map((payload) => ({ when: { [payload]: 1 }, region: "eu" })), ...(routes as object[])],
  }),
  "values of conditions": ({ routes }, texts) => ({
    routes: [...texts.map((country) => ({ when: { layout: "iuid", country }, region: "eu" })), ...(routes as object[])],
  }),
  "times of routes": ({ routes }, texts) => ({
    routes: [
      ...texts.map((mintedFrom) => ({ when: { layout: "iuid", mintedFrom }, region: "eu" })),
      ...(routes as object[]),
    ],
  }),
  "regions of routes": ({ routes }, texts) => ({
    routes: [...texts.map((region) => ({ when: { layout: "iuid" }, region })), ...(routes as object[])],
  }),
  packs: (_, texts) => ({
    packs: named(texts, { sha256: "0".repeat(64), bytes: 1, ranges: 1, bits: 8, regions: ["eu"] }),
  }),
  directories: ({ directory }, texts) => ({ directory: { ...directory, ...named(texts, { key: { text: "lower" } }) } }),
  "paths without an ID": ({ withoutId }, texts) => ({
    withoutId: {
      ...withoutId,
      ...ofEach(texts, (payload, at) => [payload, { path: `/w${at}`, sources: [{ region: "eu" }] }]),
    },
  }),
  "moved entities": ({ moved }, texts) => ({ moved: { ...moved, ...named(texts, "eu") } }),
  "entities on the move": (_, texts) => ({ moves: named(texts, { from: "eu", to: "us", state: "started", epoch: 1 }) }),
};

const ROWS = [{ field: "random", bits: 64, role: "random" }];

function ofEach(
  texts: readonly string[],
  make: (payload: string, at: number) => readonly [string, unknown],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(texts.map(make));
}
