import type { FaultCase } from "./fault-cases.ts";

type Table = Parameters<FaultCase[1]>[0];

const SNOWFLAKES = [{ layout: "snowflake" }, { layout: "sonyflake" }];

const PERSONS = [{ layout: "luuid", class: "com.example.Person" }];

const withEntity =
  (path: unknown, ids: readonly object[] = SNOWFLAKES, rest: object = {}) =>
  (table: Table) => ({
    ...table,
    entities: { box: { path, ids, ...rest } },
    layouts: {},
    routes: [],
    moved: {},
    default: "eu",
  });

const OF_SNOWFLAKE = { path: "/old/:id", layout: "snowflake" };
const OF_SONYFLAKE = { path: "/new/:id", layout: "sonyflake" };

export const PATH_LAYOUT_CASES: readonly FaultCase[] = [
  ["a pattern for each layout", withEntity([OF_SNOWFLAKE, OF_SONYFLAKE]), []],
  ["one that names none, behind one that does", withEntity([OF_SNOWFLAKE, "/boxes/:id"]), []],
  ["a pattern by itself", withEntity(OF_SNOWFLAKE, [{ layout: "snowflake" }]), []],
  [
    "a layout that the entity has not",
    withEntity(["/boxes/:id", { path: "/a/:id", layout: "ulid" }]),
    ["path-layout /entities/box/path/1/layout"],
  ],
  ["the same by itself", withEntity({ path: "/a/:id", layout: "ulid" }), ["path-layout /entities/box/path/layout"]],
  [
    "short keys where there are no LUUIDs",
    withEntity(["/boxes/:id", { path: "/a/:id", layout: "luuid-short" }]),
    ["path-layout /entities/box/path/1/layout"],
  ],
  ["no pattern for one of the layouts", withEntity([OF_SNOWFLAKE]), ["path-layout /entities/box/path"]],
  [
    "one with an open segment alone",
    withEntity([OF_SNOWFLAKE, { path: "/x/*/:id", layout: "sonyflake" }]),
    ["path-layout /entities/box/path"],
  ],
  ["short keys beside LUUIDs", withEntity(["/people/:id", { path: "/p/:id", layout: "luuid-short" }], PERSONS), []],
  [
    "short keys and nothing else",
    withEntity({ path: "/p/:id", layout: "luuid-short" }, PERSONS),
    ["path-layout /entities/box/path"],
  ],
  [
    "short keys of a public entity",
    withEntity(["/people/:id", { path: "/p/:id", layout: "luuid-short" }], PERSONS, { public: true }),
    ["path-layout /entities/box/path/1/layout"],
  ],
  [
    "literal text that could be a short key where there are none",
    withEntity(
      [
        { path: "/p/:id", layout: "luuid" },
        { path: "/p/cafe/:id", layout: "luuid" },
      ],
      PERSONS,
    ),
    [],
  ],
  [
    "the same where there are",
    withEntity(["/people/:id", { path: "/p/:id", layout: "luuid-short" }, "/p/cafe/:id"], PERSONS),
    ["path-collision /entities/box/path/2"],
  ],
  [
    "one path with two layouts",
    withEntity([OF_SNOWFLAKE, { ...OF_SONYFLAKE, path: "/old/:id" }]),
    ["path-collision /entities/box/path/1"],
  ],
  ["a pattern without its text", withEntity([{ layout: "snowflake" }]), ["schema /entities/box/path/0/path"]],
  ["a pattern without its layout", withEntity({ path: "/a/:id" }), ["schema /entities/box/path/layout"]],
  [
    "text that is no pattern, in an object",
    withEntity([{ path: "/a", layout: "snowflake" }]),
    ["schema /entities/box/path/0/path"],
  ],
];
