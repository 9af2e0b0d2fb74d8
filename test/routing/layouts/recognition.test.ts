import { describe, expect, test } from "vitest";
import { everyLayout, type FieldValue, type Layout, textsOf, type Words } from "../../../src/ids/index.ts";
import { explain, hintNamed, resolveAny, resolvePath } from "../../../src/routing/index.ts";
import type { CompiledTable } from "../../../src/routing/table.ts";
import { processorMs } from "../../fixtures/processor-ms.ts";
import { manyLayoutsTable } from "../many-layouts.ts";
import { load, NOW_MS } from "../tables.ts";

const table = load(manyLayoutsTable());

const layoutOf = (name: string, within = table): Layout => {
  const layout = within.layouts.get(name)?.layout ?? everyLayout.find((each) => each.name === name);
  if (layout === undefined) throw new Error(`no layout ${name}`);
  return layout;
};

/** Bits of a layout with the given fields; the others are 0, the fixed ones what they must be. */
const wordsOf = (layout: Layout, values: Readonly<Record<string, FieldValue>>): Words => {
  const open = layout.fields.filter(({ role }) => role !== "fixed");
  const words = layout.encode({ ...Object.fromEntries(open.map(({ name }) => [name, 0])), ...values });
  if (!words.ok) throw new Error(JSON.stringify(words.error));
  return words.value;
};

/** Ticks of a layout's time. */
const ticksAt = ({ table: { rows } }: Layout, iso: string): FieldValue => {
  const row = rows.find(({ role }) => role === "time");
  if (row?.role !== "time") throw new Error("no time");
  const ms = Date.parse(iso) - row.epochMs;
  return row.unit === "s" ? Math.floor(ms / 1000) : ms;
};

const text = (name: string, values: Readonly<Record<string, FieldValue>>, at = "2026-03-01T00:00:00Z"): string => {
  const layout = layoutOf(name);
  return layout.format(wordsOf(layout, { mintedAt: ticksAt(layout, at), ...values }));
};

const goes = (within: CompiledTable, path: string, hint?: string): string => {
  const match = within.paths.match(path);
  const named = hintNamed(within, hint);
  if (!named.ok) return named.error.reason;
  if (match === undefined) return "unrouted-path";
  const resolved = resolvePath(within, match, path, NOW_MS, named.value);
  return resolved.ok ? `${resolved.value.layout} ${resolved.value.target.region.name}` : resolved.error.reason;
};

const goesAny = (within: CompiledTable, id: string, hint?: string): string => {
  const named = hintNamed(within, hint);
  if (!named.ok) return named.error.reason;
  const resolved = resolveAny(within, id, NOW_MS, named.value);
  if (!resolved.ok) return resolved.error.reason;
  const { entity, layout, target } = resolved.value;
  return `${entity.name} ${layout} ${target.region.name}`;
};

describe("on its entity's path", () => {
  test.each([
    ["/tweets", text("snowflake", { datacenter: 1, worker: 15 }), "snowflake eu"],
    ["/tweets", text("snowflake", { datacenter: 1, worker: 16 }), "snowflake us"],
    ["/tweets", text("snowflake", { datacenter: 0, worker: 15 }), "snowflake us"],
    ["/messages", text("discord", { datacenter: 1, worker: 0 }), "discord eu"],
    ["/messages", text("discord", { worker: 31 }), "discord ap"],
    ["/messages", text("discord", {}, "2019-12-31T23:59:59Z"), "discord us"],
    ["/messages", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid eu"],
    ["/jobs", text("xid", { machine: 8 }), "xid ap"],
    ["/jobs", text("xid", { machine: 10 }), "xid eu"],
    ["/jobs", "507c7f79bcf86cd7994f6c0e", "object-id eu"],
    ["/jobs", "507c7f79bcf86cd7994f6c0E", "object-id eu"],
    ["/jobs", "507799779012345678901234", "object-id eu"],
    ["/jobs", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "ksuid eu"],
    ["/invoices", "1088824355131185736905670087", "distributed-id eu"],
    ["/invoices", "3zfAkCP7ZtzfeQYp", "distributed-id eu"],
    ["/invoices", "000384A786907DB2AD82883DC7", "distributed-id eu"],
    ["/invoices", "00000000-0384-a786-907d-b2ad82883dc7", "distributed-id eu"],
    ["/invoices", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "uuid-v7 eu"],
    ["/tickets", text("ticket", { country: 5, service: 3, machine: 127 }), "ticket ap"],
    ["/tickets", text("ticket", { country: 5, service: 3, machine: 128 }), "ticket us"],
    ["/tickets", text("ticket", { country: 7, service: 3 }), "ticket us"],
    ["/passes", text("ticket", { country: 7, service: 4 }), "ticket eu"],
    ["/tickets", text("ticket", { country: 7, service: 4 }), "wrong-entity"],
    ["/tickets", text("ticket", { country: 7, service: 3 }).slice(4), "malformed-id"],
    ["/tickets", text("ticket", { country: 7, service: 3 }).replace("tkt_", "TKT_"), "malformed-id"],
    ["/tweets", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "malformed-id"],
    ["/tweets", "01541815603606036480", "malformed-id"],
    ["/tweets", "9223372036854775808", "unknown-id"],
    ["/tweets", "1541815603606036480 ", "malformed-id"],
    ["/tickets", "23122e", "malformed-id"],
    ["/person", "23122e", "luuid-short eu"],
  ])("%s/%s is %s", (path, id, expected) => {
    expect(goes(table, `${path}/${id}`)).toBe(expected);
  });
});

describe("without a path", () => {
  test.each([
    ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "message ulid eu"],
    [text("xid", { machine: 8 }), "job xid ap"],
    ["507c7f79bcf86cd7994f6c0e", "job object-id eu"],
    ["3zfAkCP7ZtzfeQYp", "invoice distributed-id eu"],
    ["00000000-0384-a786-907d-b2ad82883dc7", "invoice distributed-id eu"],
    ["8HFH50J6iph0RDQHq4", "frame flake eu"],
    [text("ticket", { country: 5, service: 4, machine: 1 }), "pass ticket ap"],
    [text("ticket", { country: 5, service: 5, machine: 1 }), "unknown-id"],
    ["1541815603606036480", "ambiguous-id"],
    ["9m4e2mr0ui3e8a215n4h", "unknown-id"],
    ["8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "malformed-id"],
  ])("%s is %s", (id, expected) => {
    expect(goesAny(table, id)).toBe(expected);
  });

  test("digits alone are no base62: an old Snowflake is no Flake of 2011", () => {
    const id = "820000000000000000";
    const { candidates } = explain(table, id, NOW_MS);
    expect(candidates.filter(({ excluded }) => !excluded).map(({ layout, form }) => `${layout} ${form}`)).toEqual([
      "snowflake decimal",
      "discord decimal",
      "flake base62",
    ]);
    expect(goesAny(table, id)).toBe("ambiguous-id");
    const { message: _, ...entities } = manyLayoutsTable().entities;
    const { discord: __, ...layouts } = manyLayoutsTable().layouts ?? {};
    const routes = [{ when: { layout: "snowflake" }, region: "us" }];
    expect(goesAny(load({ ...manyLayoutsTable(), entities, layouts, routes }), id)).toBe("tweet snowflake us");
  });
});

describe("a hint", () => {
  const id = "1541815603606036480";

  test.each([
    ["snowflake", "tweet snowflake us"],
    ["discord", "message discord ap"],
    ["ulid", "malformed-id"],
    ["luuid-short", "malformed-id"],
    ["discord-snowflake", "unknown-name"],
    ["Snowflake", "unknown-name"],
    ["", "unknown-name"],
    ["snowflake, discord", "unknown-name"],
  ])("%j names the layout where there is no path", (hint, expected) => {
    expect(goesAny(table, id, hint)).toBe(expected);
  });

  test.each([
    [`/tweets/${id}`, "snowflake", "snowflake us"],
    [`/tweets/${id}`, "discord", "wrong-entity"],
    [`/tweets/${id}`, "ulid", "malformed-id"],
    ["/person/23122e", "luuid-short", "luuid-short eu"],
    ["/person/23122e", "luuid", "malformed-id"],
    ["/jobs/507799779012345678901234", "xid", "malformed-id"],
    ["/jobs/507799779012345678901234", "object-id", "object-id eu"],
  ])("%s with %j is %s", (path, hint, expected) => {
    expect(goes(table, path, hint)).toBe(expected);
  });

  test("separates layouts of one path", () => {
    const ids = [{ layout: "snowflake" }, { layout: "discord" }];
    const one = load({
      ...manyLayoutsTable(),
      entities: { ...manyLayoutsTable().entities, post: { path: "/posts/:id", ids } },
      routes: manyLayoutsTable().routes.map((route) => ({ ...route, region: "us" })),
      default: "us",
      moved: { [id]: "us" },
    });
    expect(goes(one, `/posts/${id}`)).toBe("snowflake us");
    expect(goes(one, `/posts/${id}`, "discord")).toBe("discord us");
  });
});

test("a moved ID is found in each of its texts, and equal bits of another layout are another ID", () => {
  const xid = "9m4e2mr0ui3e8a215n4g";
  const moved = { [xid]: "us", "1088824355131185736905670087": "ap" };
  const within = load({ ...manyLayoutsTable(), moved });
  expect(goes(within, `/jobs/${xid}`)).toBe("xid us");
  expect(goes(within, "/jobs/4d88e15b60f486e428412dc9")).toBe("object-id eu");
  expect(goes(within, "/invoices/3zfAkCP7ZtzfeQYp")).toBe("distributed-id ap");
});

test("everything that a layout can be written as is explained, and what is no text of a layout too", () => {
  const { forms, unreadable } = explain(table, "3zfAkCP7ZtzfeQYp", NOW_MS);
  const layout = layoutOf("distributed-id");
  const words = layout.texts[1]?.parse("3zfAkCP7ZtzfeQYp");
  const expected = textsOf(layout, words?.ok ? words.value : []);
  expect(Object.keys(expected)).toEqual(["decimal", "base62", "hex", "uuid"]);
  expect(forms).toEqual(Object.entries(expected).map(([form, own]) => ({ layout: "distributed-id", form, text: own })));
  expect(unreadable?.map(({ layout: name }) => name).toSorted()).toEqual(
    [...table.layouts.keys()].filter((name) => name !== "distributed-id" && name !== "flake").toSorted(),
  );
});

describe("hostile texts", () => {
  const every = everyLayout.filter(({ name }) => name !== "iuid" && name !== "luuid").map(({ name }) => name);
  const all = load({
    ...manyLayoutsTable(),
    entities: Object.fromEntries(every.map((layout) => [layout, { path: `/${layout}/:id`, ids: [{ layout }] }])),
    layouts: {},
    routes: [],
  });

  test.each([
    "",
    " ",
    "-",
    "__proto__",
    "constructor",
    "tkt_",
    "0".repeat(128),
    "9".repeat(128),
    "9".repeat(39),
    "z".repeat(22),
    "f".repeat(32),
    "9".repeat(100_000),
    "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669",
    "1541815603606036480\u0000",
    "１５４１８１５６０３６０６０３６４８０",
    "𝟙".repeat(19),
    "\ud800",
    "00000000-0000-0000-0000-00000000000g",
    "1541815603606036480,1541815603606036480",
  ])("%j is refused by name", (id) => {
    const { error, candidates } = explain(all, id, NOW_MS);
    expect(error?.reason).toMatch(/^(malformed|unknown|ambiguous)-id$/);
    expect(candidates.every(({ excluded }) => excluded) || error?.reason === "ambiguous-id").toBe(true);
    for (const hint of every) expect(goesAny(all, id, hint)).toMatch(/^(malformed|unknown)-id$/);
  });

  test("a text is no slower to refuse for being long", () => {
    const timed = (id: string): number =>
      processorMs(() => {
        for (let round = 0; round < 20; round++) resolveAny(all, id, NOW_MS);
      });
    timed("9".repeat(128));
    expect(timed("9".repeat(1_000_000))).toBeLessThan(10 * timed("9".repeat(128)) + 50);
  });
});
