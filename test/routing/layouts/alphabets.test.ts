import { describe, expect, test } from "vitest";
import { everyLayout, kindOf, type Layout, startMinter, type Words } from "../../../src/ids/index.ts";
import { wordMinter } from "../../../src/ids/mint/create-minter.ts";
import { findAmbiguities, resolveAny, resolvePath } from "../../../src/routing/index.ts";
import type { DeclaredLayout, DeclaredTable } from "../../../src/routing/schema/table.ts";
import type { CompiledTable } from "../../../src/routing/table.ts";
import { faultsOf, load, NOW_MS } from "../tables.ts";

/** Declared alphabets in a table: which ID a text is, what is canonical, and what could be mistaken. */

type Layouts = Readonly<Record<string, DeclaredLayout>>;

/** An entity for each layout, and one for all that `shared` names. */
const tableOf = (layouts: Layouts, shared: readonly string[] = []): DeclaredTable => ({
  regions: {
    eu: { origins: [{ url: "https://eu.example.com" }] },
    us: { origins: [{ url: "https://us.example.com" }] },
  },
  entities: {
    ...Object.fromEntries(
      Object.keys(layouts)
        .filter((layout) => !shared.includes(layout))
        .map((layout) => [layout, { path: `/${layout}/:id`, ids: [{ layout }] }]),
    ),
    ...(shared.length > 0 && { both: { path: "/both/:id", ids: shared.map((layout) => ({ layout })) } }),
  },
  layouts,
  routes: [],
  default: "eu",
});

const layoutIn = (declared: DeclaredTable, name: string): Layout => {
  const layout = load(declared).layouts.get(name)?.layout;
  if (layout === undefined) throw new Error(`no layout ${name}`);
  return layout;
};

const typeId = (prefix: string): DeclaredLayout => ({
  like: "uuid-v7",
  text: [{ alphabet: "crockford-lower", prefix, name: "typeid" }, "uuid"],
});

const onPath = (table: CompiledTable, path: string) => {
  const match = table.paths.match(path);
  if (match === undefined) throw new Error(`no entity at ${path}`);
  return resolvePath(table, match, path, NOW_MS);
};

const TYPE_ID = "user_01h455vb4pex5vsknk084sn02q";
const ITS_UUID = "01890a5d-ac96-774b-bcce-b302099a8057";

/** TSIDs: 42 bits of time since 2020, then node and counter. */
const TSID: DeclaredLayout = {
  rows: [
    { field: "mintedAt", bits: 42, role: "time", unit: "ms", epoch: "2020-01-01T00:00:00Z" },
    { field: "node", bits: 10, role: "node" },
    { field: "counter", bits: 12, role: "counter" },
  ],
  text: [{ alphabet: "crockford", case: "ignored" }, "decimal"],
};

const TID: DeclaredLayout = {
  rows: [
    { field: "sign", bits: 1, role: "fixed", value: 0 },
    { field: "mintedAt", bits: 53, role: "time", unit: "us", epoch: "1970-01-01T00:00:00Z" },
    { field: "clock", bits: 10, role: "node" },
  ],
  text: { alphabet: "base32-sortable" },
};

describe("several texts of one layout", () => {
  const table = load({ ...tableOf({ user: typeId("user_") }), moved: { [TYPE_ID]: "us" } });

  test.each([TYPE_ID, ITS_UUID, ITS_UUID.toUpperCase()])("%s is one ID: moved, with one canonical text", (text) => {
    const found = resolveAny(table, text, NOW_MS);
    expect(found).toMatchObject({
      ok: true,
      value: { entity: { name: "user" }, canonical: TYPE_ID, target: { region: { name: "us" } } },
    });
    expect(onPath(table, `/user/${text}`)).toMatchObject({ ok: true, value: { canonical: TYPE_ID } });
  });

  test.each([TYPE_ID.toUpperCase(), TYPE_ID.replace("01h4", "01H4"), TYPE_ID.replace("user_", "team_"), "user_"])(
    "%s is none",
    (text) => {
      expect(onPath(table, `/user/${text}`)).toMatchObject({
        ok: false,
        error: { reason: "malformed-id" },
      });
    },
  );

  test("`moved` wants the canonical text, and says which", () => {
    const faults = faultsOf({ ...tableOf({ user: typeId("user_") }), moved: { [ITS_UUID]: "us" } });
    expect(faults).toMatchObject([{ kind: "moved-id", pointer: `/moved/${ITS_UUID}` }]);
    expect(faults[0]?.message).toContain(`write ${JSON.stringify(TYPE_ID)}`);
  });

  test("TSIDs in 13 digits and in decimal are of one entity", () => {
    const declared = { ...tableOf({ tsid: TSID }), moved: { "0C9W0F2J40ABC": "us" } } as const;
    const table = load(declared);
    const layout = layoutIn(declared, "tsid");
    const words = layout.parse("0C9W0F2J40ABC");
    expect(words.ok).toBe(true);
    const decimal = words.ok ? (layout.texts[1]?.format(words.value) ?? "") : "";
    expect(decimal).toMatch(/^[0-9]{18}$/);
    for (const text of ["0C9W0F2J40ABC", "0c9w0f2j40abc", decimal]) {
      const found = resolveAny(table, text, NOW_MS);
      expect(found).toMatchObject({
        ok: true,
        value: { canonical: "0C9W0F2J40ABC", target: { region: { name: "us" } } },
      });
    }
  });
});

const UNLIKE = ["luuid", "hotguid", "hotguid-sql"];
const LIKES = everyLayout.filter(({ name }) => !UNLIKE.includes(name));

describe.each(LIKES.map((layout) => [layout.name, layout] as const))("like %s", (like, base) => {
  const entity = layoutNeeds(base);
  const declared = {
    ...tableOf({}),
    entities: { own: { path: "/own/:id", ids: [{ layout: "own", ...entity }] } },
    layouts: { own: { like, text: [{ alphabet: "base58", prefix: "id_" }, base.table.text.name] } },
  } as unknown as DeclaredTable;

  test("has its bits, fields and texts", () => {
    const layout = layoutIn(declared, "own");
    expect(kindOf(layout)).toBe(like);
    const words = sampleOf(base);
    const text = layout.format(words);
    expect(text).toMatch(/^id_[1-9A-HJ-NP-Za-km-z]+$/);
    expect(layout.parse(text)).toEqual({ ok: true, value: words });
    expect(layout.texts.map(({ name }) => name)).toEqual(["base58", base.table.text.name]);
    expect(layout.texts[1]?.parse(base.format(words))).toEqual({ ok: true, value: words });
    expect(layout.decode(words)).toEqual(base.decode(words));
    expect(layout.mintedAtMs?.(words)).toEqual(base.mintedAtMs?.(words));
  });

  test("is minted like it", () => {
    const layout = layoutIn(declared, "own");
    const keys = Object.fromEntries(
      base.fields
        .filter(({ role }) => role === "key" || role === "node")
        .map(({ name, bits }) => [name, bits > 53 ? 1n : 1]),
    );
    const entropy = () => ({ word: () => 0x1234_5678 });
    const [own, theirs] = [layout, base].map((each) => wordMinter(each, keys, entropy()));
    expect(own?.ok).toBe(theirs?.ok);
    if (!own?.ok || !theirs?.ok) return;
    const a = own.value(NOW_MS);
    const b = theirs.value(NOW_MS);
    expect(a).toEqual(b);
    if (a.ok) expect(layout.parse(layout.format(a.value))).toEqual(a);
  });
});

/** IDs of the layout with all bits that may be 0. */
function sampleOf(layout: Layout): Words {
  if (layout.table.least !== undefined) {
    const words = layout.table.text.parse(
      layout.table.text.name === "decimal" ? layout.table.least : "10000000-0000-7000-0000-000000000000",
    );
    if (words.ok) return words.value;
  }
  return layout.fixed.value;
}

function layoutNeeds({ fields }: Layout): object {
  return fields.some(({ name }) => name === "service") ? { service: 1 } : {};
}

test("an order of bytes of one's own, as of base64url of a .NET Guid's bytes", () => {
  const declared = tableOf({
    guid: {
      like: "uuid-v4",
      text: { alphabet: "base64url", fill: "end" },
      octetOrder: [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15],
    },
  });
  const bytes = [0xd0, 0x21, 0x45, 0xa4, 0xb8, 0x0f, 0xde, 0x4a, 0x80, 0x02, 0x33, 0x85, 0x54, 0x5c, 0x33, 0x18];
  const text = Buffer.from(bytes).toString("base64url");
  const layout = layoutIn(declared, "guid");
  const words = layout.parse(text);
  expect(words.ok && layout.decode(words.value)).toMatchObject({ version: 4, variant: 2 });
  expect(words.ok && layout.format(words.value)).toBe(text);
  expect(startMinter(layout, {}).ok).toBe(true);
});

describe("wide IDs", () => {
  test.each([168, 192, 256])("%i bits are routed, moved and told apart", (bits) => {
    const wide = (text: DeclaredLayout["text"]): DeclaredLayout => ({
      rows: [
        { field: "mintedAt", bits: 48, role: "time", unit: "ms", epoch: "1970-01-01T00:00:00Z" },
        { field: "shardKey", bits: 32, role: "key" },
        { field: "random", bits: bits - 80, role: "random", max: "1".padEnd(24, "0") },
      ],
      text: text ?? "hex",
    });
    const of = (time: string, shard: number, rest: string) =>
      time.padStart(12, "0") + shard.toString(16).padStart(8, "0") + rest.padStart((bits - 80) / 4, "0");
    const moved = of("19a00000000", 5, "abc");
    const declared: DeclaredTable = {
      ...tableOf({ wide: wide("hex") }),
      routes: [{ when: { layout: "wide", shardKey: "0-9" }, region: "us" }],
      moved: { [moved]: "eu" },
      default: "eu",
    };
    const table = load(declared);
    const regionOf = (text: string) => {
      const found = resolveAny(table, text, NOW_MS);
      return found.ok ? found.value.target.region.name : found.error.reason;
    };
    expect(regionOf(of("19a00000000", 9, "ffff"))).toBe("us");
    expect(regionOf(of("19a00000000", 10, "ffff"))).toBe("eu");
    expect(regionOf(moved)).toBe("eu");
    expect(regionOf(of("19a00000000", 5, "abd"))).toBe("us");
    expect(regionOf(of("19a00000000", 5, "f".repeat(22)))).toBe("unknown-id");
  });

  test("a greatest value of 78 digits", () => {
    const max = (2n ** 256n - 2n).toString();
    const declared = tableOf({ wide: { rows: [{ field: "random", bits: 256, role: "random", max }], text: "hex" } });
    const layout = layoutIn(declared, "wide");
    expect(layout.parse(`${"f".repeat(63)}e`).ok).toBe(true);
    expect(layout.parse("f".repeat(64)).ok).toBe(false);
  });
});

describe("told apart", () => {
  const v4 = (text: DeclaredLayout["text"]): DeclaredLayout => ({ like: "uuid-v4", text: text ?? "uuid" });
  const namesOf = (layouts: Layouts) =>
    findAmbiguities(load(tableOf(layouts))).map(({ layouts: [a, b], example }) => `${a} ${b} ${example !== undefined}`);

  test.each<readonly [string, DeclaredLayout["text"], DeclaredLayout["text"]]>([
    [
      "two prefixes",
      { alphabet: "crockford-lower", prefix: "user_" },
      { alphabet: "crockford-lower", prefix: "team_" },
    ],
    ["a prefix and none", { alphabet: "base58", prefix: "x" }, { alphabet: "base58" }],
    ["a suffix and none", { alphabet: "base64url", suffix: "==" }, { alphabet: "base64url" }],
    ["groups and none", { alphabet: "hex", groups: [16, 16], separator: "-" }, { alphabet: "hex" }],
    [
      "groups in two ways",
      { alphabet: "hex", groups: [8, 24], separator: "." },
      { alphabet: "hex", groups: [16, 16], separator: "." },
    ],
    [
      "two separators",
      { alphabet: "hex", groups: [16, 16], separator: "." },
      { alphabet: "hex", groups: [16, 16], separator: "-" },
    ],
    ["two widths", { alphabet: "base36" }, { alphabet: "base36", width: 26 }],
    [
      "small letters and capitals that begin with one",
      { alphabet: "crockford-lower", prefix: "z" },
      { alphabet: "crockford", prefix: "Z" },
    ],
  ])("by %s", (_name, a, b) => {
    expect(namesOf({ a: v4(a), b: v4(b) })).toEqual([]);
  });

  test.each<readonly [string, DeclaredLayout["text"], DeclaredLayout["text"]]>([
    ["two alphabets of the same digits", { alphabet: "base58" }, { alphabet: "base58-flickr" }],
    [
      "equal alphabets, one of them written out",
      { alphabet: "crockford-lower" },
      { alphabet: "0123456789abcdefghjkmnpqrstvwxyz" },
    ],
    [
      "an alphabet that ignores case and one that does not",
      { alphabet: "crockford-lower" },
      { alphabet: "crockford", case: "ignored" },
    ],
    ["a part of another alphabet", { alphabet: "base62" }, { alphabet: "base58" }],
    ["equal texts among several", [{ alphabet: "base36" }, "uuid"], ["hex", { alphabet: "base36" }]],
    ["digits that no built-in form has", { alphabet: "!$&'()*+:@.~=;" }, { alphabet: "!$&'()*+:@.~=," }],
  ])("not by %s", (_name, a, b) => {
    expect(namesOf({ a: v4(a), b: v4(b) })).toEqual(["a b true"]);
  });

  test("a declared ULID and the built-in one are the same, text and bits", () => {
    const declared = {
      ...tableOf({ own: { like: "ulid", text: "base32", prefix: "x" } }),
      entities: {
        a: { path: "/a/:id", ids: [{ layout: "ulid" }] },
        b: { path: "/b/:id", ids: [{ layout: "own" }] },
        c: { path: "/c/:id", ids: [{ layout: "same" }] },
      },
      layouts: {
        own: { like: "ulid", text: "base32", prefix: "x" },
        same: { like: "ulid", text: [{ alphabet: "crockford", case: "ignored", name: "base32" }] },
      },
    } as unknown as DeclaredTable;
    expect(faultsOf(declared).map(({ pointer }) => pointer)).toEqual(["/layouts/same/text/0/name"]);
  });

  test("digits that a prefix of the other is made of", () => {
    const rows = [{ field: "random", bits: 144, role: "random" }] as const;
    const longer: DeclaredLayout = { rows: [...rows], text: { alphabet: "base64url" } };
    expect(namesOf({ a: v4({ alphabet: "base64url", prefix: "a_" }), b: longer })).toEqual(["a b true"]);
  });

  test("by time, where the digits of one begin later than those of the other", () => {
    const like = { like: "uuid-v7" };
    expect(
      namesOf({ a: { ...like, text: { alphabet: "base62" } }, b: { ...like, text: { alphabet: "base58" } } }),
    ).toEqual([]);
  });

  test("TypeIDs and TIDs from all; TIDs and TSIDs share 13 digits", () => {
    expect(namesOf({ user: typeId("user_"), tid: TID, tsid: TSID })).toEqual(["tid tsid true"]);
  });
});

describe("one text, two IDs", () => {
  const V4 = { like: "uuid-v4" } as const;
  const ROWS: NonNullable<DeclaredLayout["rows"]> = [{ field: "value", bits: 64, role: "random" }];
  const oneFault = (layout: string, place: number) => [`indistinguishable-layouts /layouts/${layout}/text/${place}`];
  const faults = (declared: DeclaredTable) => faultsOf(declared).map(({ kind, pointer }) => `${kind} ${pointer}`);

  test.each<readonly [what: string, layout: DeclaredLayout, place: number | undefined]>([
    ["two orders of the same digits", { ...V4, text: [{ alphabet: "base58" }, { alphabet: "base58-flickr" }] }, 1],
    [
      "the second and the third",
      { ...V4, text: ["uuid", { alphabet: "base62" }, { alphabet: "base62-lower-first" }] },
      2,
    ],
    [
      "a prefix that is the beginning of another",
      {
        rows: ROWS,
        text: [
          { alphabet: "base36", padded: false, prefix: "user" },
          { alphabet: "base36", padded: false, prefix: "usera", name: "other" },
        ],
      },
      1,
    ],
    [
      "hex, and decimals of as many digits",
      { rows: ROWS, text: ["hex", { alphabet: "hex-upper", name: "octets" }] },
      undefined,
    ],
    [
      "decimals and their reverse",
      {
        rows: [{ field: "value", bits: 63, role: "random" }],
        text: [{ alphabet: "decimal" }, { alphabet: "9876543210", name: "reverse" }],
      },
      1,
    ],
    [
      "a prefix on one",
      { ...V4, text: [{ alphabet: "base58" }, { alphabet: "base58-flickr", prefix: "f_" }] },
      undefined,
    ],
    [
      "a suffix on one",
      { ...V4, text: [{ alphabet: "base58" }, { alphabet: "base58-flickr", suffix: "!" }] },
      undefined,
    ],
    ["other lengths", { ...V4, text: ["uuid", { alphabet: "base58" }, { alphabet: "base36" }] }, undefined],
    ["TSIDs in 13 digits and in decimal", TSID, undefined],
  ])("%s", (_, layout, place) => {
    expect(faults(tableOf({ it: layout }))).toEqual(place === undefined ? [] : oneFault("it", place));
  });

  test("of two layouts with other canonical texts is refused in one entity, even with one region", () => {
    const [a, b] = [
      { ...V4, text: [{ alphabet: "base58" }, "uuid"] },
      { ...V4, text: [{ alphabet: "base58-flickr" }, "uuid"] },
    ];
    expect(faults(tableOf({ a, b } as Layouts, ["a", "b"]))).toEqual([
      "indistinguishable-layouts /entities/both/ids/1",
    ]);
    expect(faults(tableOf({ a, b } as Layouts))).toEqual([]);
    expect(faults(tableOf({ a, b: a } as Layouts, ["a", "b"]))).toEqual([]);
  });

  test("is ambiguous where a text is two IDs by chance", () => {
    // In the first minutes of the epoch a decimal has 13 digits; in 13 digits of base32 it is of 2028.
    const table = load(tableOf({ tsid: TSID }));
    const text = "1000000000000";
    const laterMs = Date.UTC(2030);
    const match = table.paths.match(`/tsid/${text}`);
    const onItsPath = match && resolvePath(table, match, `/tsid/${text}`, laterMs);
    for (const found of [resolveAny(table, text, laterMs), onItsPath]) {
      expect(found).toMatchObject({ ok: false, error: { reason: "ambiguous-id" } });
    }
    expect(resolveAny(table, text, NOW_MS)).toMatchObject({ ok: true });
  });
});
