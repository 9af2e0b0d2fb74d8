/** A table with a directory of texts and one of IDs. */
export const TABLE = {
  regions: {
    eu: { origins: [{ url: "http://eu.test" }] },
    us: { origins: [{ url: "http://us.test" }] },
  },
  entities: {
    shop: { path: "/shops/:id", directory: "slug" },
    order: { path: "/orders/:id", ids: [{ layout: "uuid-v4" }, { layout: "uuid-v7" }] },
  },
  directory: {
    slug: { key: { text: "lower" } },
    email: { key: { text: "email" } },
    old: { key: { layout: "uuid-v4" } },
  },
  routes: [
    { when: { layout: "uuid-v4" }, directory: "old" },
    { when: {}, region: "us" },
  ],
};

export const UUID = "919108f7-52d1-4320-9bac-f847db4148a8";
