import { randomBelow, seededWords } from "../../bench/lib/random.ts";
import { type FieldValue, formatShortKey, textsOf, type Words } from "../../src/ids/index.ts";
import type { DeclaredTable } from "../../src/routing/index.ts";
import type { CompiledTable, Entity, EntityId } from "../../src/routing/table.ts";

/** Request targets for a table: good ones, odd ones and hostile ones, the same for the same seed. */
export function makeTargets(
  declared: DeclaredTable,
  table: CompiledTable,
  count: number,
  seed: number,
  nowMs: number,
): readonly string[] {
  const random = seededWords(seed);
  const below = (end: number): number => randomBelow(random, end);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const numbers = numbersIn(declared);
  const times = timesIn(declared, nowMs);
  const overrides = Object.keys({ ...declared.moved, ...declared.moves, ...declared.gone });
  // Keys of a directory are Waybill's, whatever they are.
  const entities = [...table.entities.values()].filter(({ ids }) => ids.length > 0);

  const wide = (bits: number): bigint => {
    let value = 0n;
    for (let left = bits; left > 0; left -= 32) value = (value << 32n) | BigInt(random.word());
    return BigInt.asUintN(bits, value);
  };
  const wordsFor = ({ enabled, service, group }: EntityId): Words | undefined => {
    const { layout } = enabled;
    const row = layout.table.rows.find(({ role }) => role === "time");
    const values: Record<string, FieldValue> = {};
    for (const { name, role, bits, max } of layout.fields) {
      if (role === "fixed") continue;
      let value = wide(bits);
      const mark = name === "service" ? service : name === "group" ? group : undefined;
      if (mark !== undefined && below(20) > 0) value = BigInt(mark);
      else if ((role === "key" || role === "node") && below(8) > 0) value = BigInt(pick(numbers));
      else if (role === "time" && row?.role === "time" && row.unit !== "sql-datetime" && below(10) > 0) {
        value = ticksOf(row, pick(times) + below(3) - 1);
      }
      if (value > BigInt(max)) value = BigInt(max);
      if (value < 0n) value = 0n;
      values[name] = bits <= 53 ? Number(value) : value;
    }
    const words = layout.encode(values);
    return words.ok ? words.value : undefined;
  };
  const idOf = (id: EntityId): string => {
    if (overrides.length > 0 && below(40) === 0) return pick(overrides);
    const words = wordsFor(id);
    if (words === undefined) return "0";
    const { layout } = id.enabled;
    if (layout.name === "luuid" && below(6) === 0)
      return formatShortKey(Number(layout.field("primaryKey")?.read(words) ?? 1));
    const texts = Object.values(textsOf(layout, words));
    return below(3) === 0 ? pick(texts) : (texts[0] ?? "0");
  };
  const change = (text: string): string => {
    const at = below(text.length);
    switch (below(14)) {
      case 0:
        return text.toUpperCase();
      case 1:
        return Array.from(text, (one) => (below(2) === 0 ? one.toUpperCase() : one.toLowerCase())).join("");
      case 2:
        return text.slice(0, at) + text.slice(at + 1);
      case 3:
        return text.slice(0, at) + pick([..."0123456789abcdefgzZ-_.~!$'\"<>{}|^`\\*+,;=@:"]) + text.slice(at);
      case 4:
        return text.slice(0, at) + pick([..."0123456789abcdefzAZ-"]) + text.slice(at + 1);
      case 5:
        return `${text.slice(0, at)}%${text.charCodeAt(at).toString(16)}${text.slice(at + 1)}`;
      case 6:
        return `${text}${pick(["%0a", "%00", "%20", "%2e", "%2f", ".", "é", "#x", "%zz", "%2", ":", ";a=b"])}`;
      case 7:
        return `{${text}}`;
      case 8:
        return text.replaceAll("-", "");
      case 9:
        return text + text;
      case 10:
        return "";
      case 11:
        return `${pick(["%30", "0", "00", "+", "-", "urn:uuid:"])}${text}`;
      case 12:
        return pick([
          "0",
          "1",
          "ff",
          "00000000-0000-0000-0000-000000000000",
          "ffffffff-ffff-ffff-ffff-ffffffffffff",
          "id",
          "null",
          "9".repeat(40),
          "x".repeat(200),
        ]);
      default:
        return pick([".", "..", "%2e", "%2E%2e", "...", ".well-known", "~", "*"]);
    }
  };
  const rest = (): string =>
    pick([
      "",
      "",
      "",
      "",
      "/",
      "/items",
      "/items/7",
      "/a//b",
      "//",
      "/..",
      "/../x",
      "/./y",
      "/%2e%2e/x",
      "/a%20b",
      "/a%2fb",
      "/é",
      "/.hidden",
      "/x.",
      "/a'b",
      "/a;b=c",
      "/%zz",
      "/%00",
      "/*",
      "/a\\b",
      "/^",
    ]);
  const query = (): string =>
    pick([
      "",
      "",
      "",
      "",
      "?",
      "?a=1",
      "?a=1&b=2",
      "?x=%zz",
      "?x='y'",
      "??",
      "?/../",
      "?a=/orders/1",
      "?[a]=1",
      "?#f",
      "?a#f",
      "?q=é",
      '?q="',
      "?q=a+b%20c",
      "?%2e%2e",
      "?|",
      "?a=\\",
    ]);
  const targetOf = (): string => {
    const entity = pick(entities);
    const id = pick(entity.ids);
    const other = below(12) === 0 ? pick(entities) : entity;
    let text = idOf(id);
    // Half of all are good as far as their IDs are.
    if (below(2) === 0) return pathOf(entity, text, pick) + pick(GOOD_RESTS);
    if (below(3) === 0) text = change(text);
    let path = pathOf(other, text, pick);
    switch (below(40)) {
      case 0:
        path = `/${path}`;
        break;
      case 1:
        path = path.replace(/[a-z]/, (one) => one.toUpperCase());
        break;
      case 2:
        path = path.replace(/[a-z]/, (one) => `%${one.charCodeAt(0).toString(16)}`);
        break;
      case 3:
        path = `/a/..${path}`;
        break;
      case 4:
        path = `/.${path}`;
        break;
      case 5:
        path = `/any/${text}`;
        break;
      case 6:
        path = pick([
          "/",
          "/mint",
          "/-/health",
          "/-",
          "/-/nothing",
          "/any/",
          "/nowhere",
          "/login",
          "/%2d/health",
          "/mint/x",
          "/robots.txt",
          "/../../etc/passwd",
          "/%2e%2e/%2e%2e/x",
          "/*",
        ]);
        break;
      case 7:
        path = path.replace("/", "%2f").replace(/^%2f/, "/");
        break;
      default:
    }
    const target = path + rest() + query();
    return below(60) === 0 ? `http://other.test${target}` : target;
  };
  return Array.from({ length: count }, targetOf).map((target) =>
    Buffer.from(target.replaceAll(" ", "%20"), "utf8").toString("latin1"),
  );
}

const GOOD_RESTS = ["", "", "?a=1", "/items", "/items/7?x=%20y&z", "/", "?", "/a//b?c=[d]"];

const pathOf = ({ paths }: Entity, id: string, pick: <Item>(items: readonly Item[]) => Item): string =>
  pick(paths)
    .replace(":id", () => id)
    .replaceAll("*", () => pick(["a", "b-1", "orders", ""]));

/** All numbers of routes, with their neighbours. */
function numbersIn(declared: DeclaredTable): readonly number[] {
  const found = new Set([0, 1, 255, 1023, 4095, 65_535]);
  const add = (text: string) => {
    for (const one of text.match(/\d+/g) ?? [])
      for (const near of [-1, 0, 1]) found.add(Math.max(0, Number(one) + near));
  };
  for (const { when } of declared.routes) {
    add(JSON.stringify({ ...when, mintedBefore: "", mintedFrom: "", slices: {} }));
    for (const [name, values] of Object.entries(when.slices ?? {})) {
      for (const layout of Object.values(declared.layouts ?? {})) {
        const slice = layout.slices?.[name];
        if (slice === undefined) continue;
        const [offset, bits] = "offset" in slice ? [slice.offset, slice.bits] : slice;
        for (const one of JSON.stringify(values).match(/\d+/g) ?? []) {
          for (const width of [32, 48])
            if (width > offset + bits) found.add(Number(one) * 2 ** (width - offset - bits));
        }
      }
    }
  }
  for (const number of Object.values(declared.countries ?? {})) found.add(number);
  return [...found];
}

const DAY_MS = 86_400_000;

function timesIn(declared: DeclaredTable, nowMs: number): readonly number[] {
  const named = JSON.stringify(declared.routes).match(/\d{4}-\d{2}-\d{2}T[0-9:.]+Z/g) ?? [];
  return [
    nowMs,
    nowMs - DAY_MS,
    nowMs - 400 * DAY_MS,
    nowMs + DAY_MS / 2,
    nowMs + 3 * DAY_MS,
    946_684_800_000,
    946_684_800_000 - DAY_MS,
    ...named.map((text) => Date.parse(text)),
  ];
}

const TICKS: Readonly<Record<string, readonly [ms: bigint, ticks: bigint]>> = {
  s: [1000n, 1n],
  "10ms": [10n, 1n],
  ms: [1n, 1n],
  "10us": [1n, 100n],
  us: [1n, 1000n],
  "100ns": [1n, 10_000n],
  ns: [1n, 1_000_000n],
};

function ticksOf({ unit, epochMs }: { readonly unit: string; readonly epochMs: number }, unixMs: number): bigint {
  const [ms, ticks] = TICKS[unit] ?? [1n, 1n];
  return ((BigInt(Math.floor(unixMs)) - BigInt(epochMs)) * ticks) / ms;
}
