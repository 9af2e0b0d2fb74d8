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

/** The ticket without its prefix, in a declared text. */
const withText = (text: unknown) => withTicket({ rows: TICKET.rows, text });

const withAlphabet = (text: Row) => withText({ alphabet: "base58", ...text });

const LIKE_UUID = { like: "uuid-v4", text: { alphabet: "base58" } } as const;

export const LAYOUT_CASES: readonly FaultCase[] = [
  ["rows that are no UUID", withTicket({ ...TICKET, text: "uuid", prefix: "x" }), [`${AT}/rows`]],
  ["too few bits", withTicket({ ...TICKET, rows: TICKET.rows.slice(2, 3) }), [`${AT}/rows`]],
  ["too many bits", changed(3, { bits: 250 }), [`${AT}/rows`]],
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
  ["a pattern of a fixed epoch and nothing else", withTicket({ like: "ulid" }), [`${AT}/text`]],
  ["a pattern and nothing else", withTicket({ like: "snowflake" }), [`${AT}/epoch`]],
  ["a pattern that there is not", withTicket({ like: "snowfluke" }), ["unknown-name /layouts/ticket/like"]],
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
  ["a text without an alphabet", withText({ prefix: "user_" }), ["schema /layouts/ticket/text/alphabet"]],
  ["a misspelt key of a text", withAlphabet({ padding: "=" }), ["schema /layouts/ticket/text/padding"]],
  ["no text of several", withText([]), ["schema /layouts/ticket/text"]],
  ["an unknown alphabet", withText({ alphabet: "base59" }), [`${AT}/text/alphabet`]],
  ["an unknown alphabet among several", withText(["hex", { alphabet: "base59" }]), [`${AT}/text/1/alphabet`]],
  ["a digit twice", withText({ alphabet: "0123456789abcdeff" }), [`${AT}/text/alphabet`]],
  ["base64 with its slash", withText({ alphabet: "base64" }), [`${AT}/text/alphabet`]],
  ["a case that matters and is ignored", withAlphabet({ case: "ignored" }), [`${AT}/text/case`]],
  ["too few digits", withAlphabet({ width: 10 }), [`${AT}/text/width`]],
  ["a width of what is not padded", withAlphabet({ width: 17, padded: false }), [`${AT}/text/width`]],
  ["groups without a separator", withAlphabet({ groups: [8, 9] }), [`${AT}/text/groups`]],
  ["a separator without groups", withAlphabet({ separator: "-" }), [`${AT}/text/separator`]],
  ["groups that are too many digits", withAlphabet({ groups: [9, 9], separator: "-" }), [`${AT}/text/groups`]],
  ["a separator that is a digit", withAlphabet({ groups: [8, 9], separator: "A" }), [`${AT}/text/separator`]],
  ["bytes in base58", withAlphabet({ fill: "end" }), [`${AT}/text/fill`]],
  ["a suffix of digits", withAlphabet({ suffix: "AA" }), [`${AT}/text/suffix`]],
  ["a prefix of digits in a text", withAlphabet({ prefix: "1_" }), [`${AT}/text/prefix`]],
  ["two prefixes", withTicket({ ...TICKET, text: { alphabet: "base58", prefix: "a_" } }), [`${AT}/text/prefix`]],
  [
    "two texts of one name",
    withText([{ alphabet: "base58" }, { alphabet: "base58", prefix: "a_" }]),
    [`${AT}/text/1/name`],
  ],
  ["the name of another form", withAlphabet({ name: "base62" }), [`${AT}/text/name`]],
  ["a text of 129 characters", withText({ alphabet: "01", prefix: "a".repeat(33) }), [`${AT}/text`]],
  ["a text that only another layout has", withText("push-id"), [`${AT}/text`]],
  ["an alphabet for UUIDs of 96 bits", withText(["uuid"]), [`${AT}/rows`]],
  ["a UUID of 96 bits among others", withText(["hex", "uuid"]), [`${AT}/text`]],
  [
    "a text of a built-in layout",
    withTicket({ text: { alphabet: "base58" } }, "ulid"),
    ["layout-declaration /layouts/ulid/text"],
  ],
  ["rows and a pattern", withTicket({ ...TICKET, like: "ulid" }), [`${AT}/like`]],
  [
    "a pattern with an epoch that is fixed",
    withTicket({ ...LIKE_UUID, epoch: "2020-01-01T00:00:00Z" }),
    [`${AT}/epoch`],
  ],
  ["a pattern with an interval", withTicket({ ...LIKE_UUID, intervalSeconds: 5 }), [`${AT}/intervalSeconds`]],
  ["a pattern with half an order of bytes", withTicket({ ...LIKE_UUID, octetOrder: [0, 1] }), [`${AT}/octetOrder`]],
  [
    "a pattern of a least value in another order",
    withTicket({ like: "distributed-id", text: "hex", octetOrder: [0] }),
    [`${AT}/octetOrder`],
  ],
  ["LUUIDs under another name", withTicket({ like: "luuid", text: { alphabet: "base58" } }), [`${AT}/like`]],
  ["HotGuids under another name", withTicket({ like: "hotguid", text: { alphabet: "base58" } }), [`${AT}/like`]],
];
