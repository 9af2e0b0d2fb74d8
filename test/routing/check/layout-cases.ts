import type { FaultCase } from "./fault-cases.ts";

/** A layout of one's own with every part. */
export const TICKET = {
  rows: [
    { field: "mintedAt", bits: 40, role: "time", unit: "ms", epoch: "2020-01-01T00:00:00Z" },
    { field: "format", bits: 4, role: "fixed", value: 5 },
    { field: "region", bits: 12, role: "key" },
    { field: "random", bits: 40, role: "random" },
  ],
  text: "base62",
  prefix: "tkt_",
} as const;

type Row = Readonly<Record<string, unknown>>;

/** The sample table with an entity whose IDs are tickets, and with this as their layout. */
export const withTicket =
  (layout: unknown, name = "ticket"): FaultCase[1] =>
  (table) => ({
    ...table,
    entities: { ...table.entities, ticket: { path: "/tickets/:id", ids: [{ layout: name }] } },
    layouts: { ...table.layouts, [name]: layout },
  });

const withRow = (at: number, row: Row) =>
  withTicket({ ...TICKET, rows: TICKET.rows.map((own, index) => (index === at ? row : own)) });

const changed = (at: number, change: Row) => withRow(at, { ...TICKET.rows[at], ...change });

const without = (at: number, key: string) =>
  withRow(at, Object.fromEntries(Object.entries(TICKET.rows[at] as Row).filter(([name]) => name !== key)));

const AT = "layout-declaration /layouts/ticket";

export const LAYOUT_CASES: readonly FaultCase[] = [
  ["rows that are no UUID", withTicket({ ...TICKET, text: "uuid", prefix: "x" }), [`${AT}/rows`]],
  ["too few bits", withTicket({ ...TICKET, rows: TICKET.rows.slice(2, 3) }), [`${AT}/rows`]],
  ["too many bits", changed(3, { bits: 150 }), [`${AT}/rows`]],
  ["a row of no bits", changed(3, { bits: 0 }), [`${AT}/rows/3/bits`]],
  ["a field's name with a hyphen", changed(3, { field: "at-random" }), [`${AT}/rows/3/field`]],
  ["a field's name that no route can ask for", changed(3, { field: "constructor" }), [`${AT}/rows/3/field`]],
  ["an unknown role", changed(3, { role: "chance" }), ["schema /layouts/ticket/rows/3/role"]],
  ["an unknown unit", changed(0, { unit: "min" }), ["schema /layouts/ticket/rows/0/unit"]],
  ["an unknown text", withTicket({ ...TICKET, text: "roman" }), ["schema /layouts/ticket/text"]],
  ["no text", withTicket({ rows: TICKET.rows }), [`${AT}/text`]],
  ["no rows", withTicket({ text: "base62" }), [`${AT}/rows`]],
  ["a fixed field without its value", without(1, "value"), [`${AT}/rows/1/value`]],
  ["a fixed value that does not fit", changed(1, { value: 16 }), [`${AT}/rows/1/value`]],
  ["a value of a random field", changed(3, { value: 1 }), [`${AT}/rows/3/value`]],
  ["a time without unit", without(0, "unit"), [`${AT}/rows/0/unit`]],
  ["a time without epoch", without(0, "epoch"), [`${AT}/rows/0/epoch`]],
  ["an epoch of a key", changed(2, { epoch: "2020-01-01T00:00:00Z" }), [`${AT}/rows/2/epoch`]],
  [
    "an epoch of the 30th of February",
    changed(0, { epoch: "2020-02-30T00:00:00Z" }),
    ["time-range /layouts/ticket/rows/0/epoch"],
  ],
  ["an epoch without offset", changed(0, { epoch: "2020-01-01T00:00:00" }), ["schema /layouts/ticket/rows/0/epoch"]],
  ["a greatest value of 0", changed(2, { max: 0 }), [`${AT}/rows/2/max`]],
  ["a greatest value of a fixed field", changed(1, { max: 5 }), [`${AT}/rows/1/max`]],
  ["two times", changed(2, { role: "time", unit: "s", epoch: "2020-01-01T00:00:00Z" }), [`${AT}/rows/2/role`]],
  ["parts of different roles", changed(3, { field: "region" }), [`${AT}/rows/3/field`]],
  ["a prefix that begins with a digit", withTicket({ ...TICKET, prefix: "1a" }), [`${AT}/prefix`]],
  ["a prefix that a path would encode", withTicket({ ...TICKET, prefix: "a/" }), [`${AT}/prefix`]],
  ["octets in no order", withTicket({ ...TICKET, octetOrder: [0, 1, 2] }), [`${AT}/octetOrder`]],
  ["an epoch beside rows", withTicket({ ...TICKET, epoch: "2020-01-01T00:00:00Z" }), [`${AT}/epoch`]],
  ["rows and a pattern", withTicket({ ...TICKET, like: "ulid" }), [`${AT}/like`]],
  ["a service that is random", changed(3, { field: "service" }), [`${AT}/rows/3/field`]],
  ["a service of too many bits", changed(3, { field: "service", role: "key", bits: 60 }), [`${AT}/rows/3/field`]],
  [
    "a service and a group",
    withTicket({
      ...TICKET,
      rows: [
        { field: "service", bits: 20, role: "key" },
        { field: "group", bits: 20, role: "key" },
      ],
    }),
    [`${AT}/rows/1/field`],
  ],
  ["capital letters", withTicket(TICKET, "Ticket"), ["layout-declaration /layouts/Ticket"]],
  ["what short keys are called", withTicket(TICKET, "luuid-short"), ["layout-declaration /layouts/luuid-short"]],
  [
    "the name of a built-in layout",
    withTicket({ rows: TICKET.rows, text: "base62" }, "ulid"),
    ["layout-declaration /layouts/ulid/rows", "layout-declaration /layouts/ulid/text"],
  ],
  [
    "an epoch that is not the issuer's to choose",
    withTicket({ epoch: "2020-01-01T00:00:00Z" }, "ulid"),
    ["layout-declaration /layouts/ulid/epoch"],
  ],
  ["a pattern of a fixed epoch", withTicket({ like: "ulid" }), [`${AT}/like`]],
  ["a pattern and nothing else", withTicket({ like: "snowflake" }), [`${AT}/epoch`]],
  ["a pattern that there is not", withTicket({ like: "snowfluke" }), ["unknown-name /layouts/ticket/like"]],
  [
    "a pattern with a text",
    withTicket({ like: "snowflake", epoch: "2020-01-01T00:00:00Z", text: "hex" }),
    [`${AT}/text`],
  ],
  [
    "a variant's epoch that does not exist",
    withTicket({ like: "snowflake", epoch: "2020-01-32T00:00:00Z" }),
    ["time-range /layouts/ticket/epoch"],
  ],
  [
    "a variant in capital letters",
    withTicket({ like: "snowflake", epoch: "2020-01-01T00:00:00Z" }, "Snow"),
    ["layout-declaration /layouts/Snow"],
  ],
];
