import type { FaultCase } from "./fault-cases.ts";

/** Faults of requests without an ID: each case changes the sample table in one way. */

type Table = Parameters<FaultCase[1]>[0];

const SOURCES = [{ header: "x-home-region" }];

const withEntry = (table: Table, entry: object, name = "login") => ({
  ...table,
  withoutId: { [name]: { path: "/login", sources: SOURCES, ...entry } },
});

const withPaths = (table: Table, ...paths: readonly (string | readonly string[])[]) => ({
  ...table,
  sources: SOURCES,
  withoutId: Object.fromEntries(paths.map((path, at) => [`w${at}`, { path }])),
});

const withSources = (table: Table, sources: readonly object[], others: object = {}) =>
  withEntry(table, { sources, ...others });

export const NAME_CLASH_CASES: readonly FaultCase[] = [
  ["a name that an entity has too", (t) => withEntry(t, {}, "order"), ["name-clash /withoutId/order"]],
  ["a region's name is another matter", (t) => withEntry(t, {}, "eu"), []],
];

export const UNREACHABLE_SOURCE_CASES: readonly FaultCase[] = [
  [
    "after the last resort",
    (t) => withSources(t, [{ region: "eu" }, { cookie: "home" }]),
    ["unreachable-source /withoutId/login/sources/1"],
  ],
  [
    "one header twice, in another case and with other values",
    (t) => withSources(t, [{ header: "X-Home" }, { header: "x-home", values: { a: "eu" } }]),
    ["unreachable-source /withoutId/login/sources/1"],
  ],
  [
    "one claim twice",
    (t) => withSources(t, [{ jwtClaim: "region" }, { jwtClaim: "region", values: { a: "eu" } }]),
    ["unreachable-source /withoutId/login/sources/1"],
  ],
  [
    "in the list for all",
    (t) => ({ ...withEntry(t, {}), sources: [{ cookie: "a" }, { cookie: "a" }] }),
    ["unreachable-source /sources/1"],
  ],
  [
    "a cookie that is never set",
    (t) => withEntry(t, { sticky: { cookie: "r", maxAgeSeconds: 60 } }),
    ["unreachable-source /withoutId/login/sticky"],
  ],
  [
    "two cookies, two claims, a header that is no token, and one that is, are none",
    (t) =>
      withSources(
        t,
        [
          { cookie: "a" },
          { cookie: "a", values: { b: "eu" } },
          { jwtClaim: "a" },
          { jwtClaim: "a", header: "x-token" },
          { header: "x-token" },
          { clientCountry: { KZ: "ap", XK: "eu", T1: "us" } },
          { clientContinent: { EU: "eu" } },
          { region: "us" },
        ],
        { sticky: { cookie: "r", maxAgeSeconds: 60 }, methods: "GET", deadlines: { totalMs: 5 }, replayBytesMax: 9 },
      ),
    [],
  ],
];

/** Kinds of fault that other parts of a table have too. */
export const WITHOUT_ID_CASES: readonly FaultCase[] = [
  [
    "no source for an entry, and none for all",
    (t) => ({ ...t, withoutId: { login: { path: "/login" } } }),
    ["schema /withoutId/login/sources"],
  ],
  [
    "sources for all that do not fit are one fault",
    (t) => ({ ...t, sources: [{ headr: "a" }], withoutId: { login: { path: "/login" } } }),
    ["schema /sources/0/headr"],
  ],
  ["an empty list", (t) => ({ ...t, sources: [], withoutId: { login: { path: "/login" } } }), ["schema /sources"]],
  ["sources for all that nothing uses", (t) => ({ ...t, sources: SOURCES }), []],
  ["a source that is none", (t) => withSources(t, [{}]), ["schema /withoutId/login/sources/0"]],
  ["only values", (t) => withSources(t, [{ values: { a: "eu" } }]), ["schema /withoutId/login/sources/0"]],
  [
    "a source that is two",
    (t) => withSources(t, [{ header: "a", cookie: "b" }]),
    ["schema /withoutId/login/sources/0"],
  ],
  [
    "values of a country",
    (t) => withSources(t, [{ clientCountry: { KZ: "ap" }, values: { a: "eu" } }]),
    ["schema /withoutId/login/sources/0/values"],
  ],
  [
    "a header's name with a colon",
    (t) => withSources(t, [{ header: "x-home:" }]),
    ["schema /withoutId/login/sources/0/header"],
  ],
  [
    "a broken JSON pointer",
    (t) => withSources(t, [{ jwtClaim: "/a~2" }]),
    ["schema /withoutId/login/sources/0/jwtClaim"],
  ],
  [
    "a continent that there is not",
    (t) => withSources(t, [{ clientContinent: { XX: "eu" } }]),
    ["schema /withoutId/login/sources/0/clientContinent/XX"],
  ],
  [
    "a country that ISO does not know",
    (t) => withSources(t, [{ clientCountry: { UK: "eu" } }]),
    ["unknown-name /withoutId/login/sources/0/clientCountry/UK"],
  ],
  ...(
    [
      [{ region: "mars" }, "region"],
      [{ clientCountry: { KZ: "mars" } }, "clientCountry/KZ"],
      [{ clientContinent: { EU: "mars" } }, "clientContinent/EU"],
      [{ header: "a", values: { "b/c": "mars" } }, "values/b~1c"],
    ] as const
  ).map(
    ([source, place]): FaultCase => [
      `the unknown region of ${place}`,
      (t) => withSources(t, [source]),
      [`unknown-name /withoutId/login/sources/0/${place}`],
    ],
  ),
  [
    "a sticky cookie for ever",
    (t) => withSources(t, [{ region: "eu" }], { sticky: { cookie: "r", maxAgeSeconds: 34_560_001 } }),
    ["schema /withoutId/login/sticky/maxAgeSeconds"],
  ],
  [
    "a sticky cookie with a name that is none",
    (t) => withSources(t, [{ region: "eu" }], { sticky: { cookie: "a;b", maxAgeSeconds: 1 } }),
    ["schema /withoutId/login/sticky/cookie"],
  ],
  [
    "a field of an entity that is not public",
    (t) => withEntry(t, { publicFields: [{ path: "/*/id", entity: "order" }] }),
    ["public-ids /withoutId/login/publicFields/0"],
  ],
  [
    "a field of no entity",
    (t) => withEntry(t, { publicFields: [{ path: "/*/id", entity: "horse" }] }),
    ["unknown-name /withoutId/login/publicFields/0/entity"],
  ],
  [
    "a field without its entity",
    (t) => withEntry(t, { publicFields: ["/*/id"] }),
    ["schema /withoutId/login/publicFields/0"],
  ],
  [
    "other bodies without fields",
    (t) => withEntry(t, { otherBodies: "refuse" }),
    ["public-ids /withoutId/login/otherBodies"],
  ],
  ["a method in small letters", (t) => withEntry(t, { methods: ["get"] }), ["schema /withoutId/login/methods/0"]],
  ["TRACE", (t) => withEntry(t, { methods: ["GET", "TRACE"] }), ["schema /withoutId/login/methods/1"]],
  ["no method", (t) => withEntry(t, { methods: [] }), ["schema /withoutId/login/methods"]],
  ["a path with an ID", (t) => withPaths(t, "/lists/:id"), ["schema /withoutId/w0/path"]],
  ["a path with all below in the middle", (t) => withPaths(t, ["/a/**/b"]), ["schema /withoutId/w0/path/0"]],
  ["a path with two slashes", (t) => withPaths(t, "/a//b"), ["schema /withoutId/w0/path"]],
  ["a path without a slash", (t) => withPaths(t, "a"), ["schema /withoutId/w0/path"]],
  ["an empty path", (t) => withPaths(t, ""), ["schema /withoutId/w0/path"]],
  ["an encoded path", (t) => withPaths(t, "/a%20b"), ["schema /withoutId/w0/path"]],
  ["a path with dot segments", (t) => withPaths(t, "/a/../b"), ["schema /withoutId/w0/path"]],
  ["one path twice", (t) => withPaths(t, "/a", ["/b", "/a"]), ["path-collision /withoutId/w1/path/1"]],
  ["one path twice in one entry", (t) => withPaths(t, ["/a/*", "/a/*"]), ["path-collision /withoutId/w0/path/1"]],
  [
    "paths of which one is narrower are none",
    (t) =>
      withPaths(t, "/a", "/a/", "/a/*", "/a/**", "/a/b", "/*/b", "/", "/**", "/orders", "/orders:batch", "/orders/"),
    [],
  ],
  ...[
    "/orders/search",
    "/orders/*",
    "/orders/**",
    "/orders/a/b/c",
    "/orders/a/**",
    "/v2/x/rides/last",
    "/v2/*/rides/*",
  ].map(
    (path): FaultCase => [
      `${path}, which an entity takes`,
      (t) => withPaths(t, path),
      ["path-collision /withoutId/w0/path"],
    ],
  ),
  ["paths that an entity takes in part", (t) => withPaths(t, "/*/*", "/v2/**", "/v2/*/rides", "/v2/*/*/last"), []],
  ...["/any", "/any/x", "/any/**", "/mint", "/-/x", "/-/**", "/-/"].map(
    (path): FaultCase => [
      `${path}, the gateway's own`,
      (t) => withPaths(t, path),
      ["reserved-path /withoutId/w0/path"],
    ],
  ),
  [
    "too many paths",
    (t) =>
      withPaths(
        t,
        ...Array.from({ length: 150 }, (_, entry) => Array.from({ length: 30 }, (_, path) => `/e${entry}/p${path}`)),
      ),
    ["size /withoutId"],
  ],
  [
    "too many entries",
    (t) => ({ ...t, withoutId: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`w${at}`, 5])) }),
    ["size /withoutId"],
  ],
];
