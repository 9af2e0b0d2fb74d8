import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rawRequest, type Stack, startRecordingOrigins, startStack } from "../stack.ts";

let origins: Awaited<ReturnType<typeof startRecordingOrigins>>;
let stack: Stack;
beforeAll(async () => {
  origins = await startRecordingOrigins();
  stack = await startStack(origins.declared);
});
afterAll(async () => {
  await stack?.stop();
  await origins?.stop();
});

const ORDER_DE = "01990f04-d900-8009-8040-000000000001";
const RIDE_DE = "01990f04-d900-8009-8080-000000000001";
const PARCEL_EU = "6347eb00-bbaa-01cc-0201-0203d0000000";
const PERSON = "00000023-122e-6d0b-a789-28ef27ab7c62";

/** Mulberry32: the same 10,000 texts in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(20261121);
const below = (end: number): number => Math.floor(random() * end);
const pick = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value;

const insertAt = (text: string, at: number, what: string): string => text.slice(0, at) + what + text.slice(at);
const replaceAt = (text: string, at: number, what: string): string => text.slice(0, at) + what + text.slice(at + 1);

/** Bytes of a character in UTF-8, percent-encoded, as browsers send them. */
const NOT_HEX = [
  "g",
  "z",
  "G",
  "O",
  "l",
  "_",
  ".",
  "~",
  "!",
  "*",
  "'",
  "(",
  ")",
  ",",
  ";",
  ":",
  "@",
  "&",
  "=",
  "+",
  "$",
];
const UNICODE = ["０", "ａ", "Ａ", "٠", "é", "ı", "ſ", "\u200b", "\ufeff", "\u0000", "‐", "−", "𝟎", "\u00ad"];
const ENCODED = [
  "%2F",
  "%2f",
  "%5C",
  "%2e",
  "%2E%2E%2F",
  "%252F",
  "%00",
  "%0a",
  "%0D%0A",
  "%20",
  "%09",
  "%zz",
  "%",
  "%u0030",
  "%c0%af",
];

/** Each makes one text that is an ID of no layout, whatever it is made from. */
const SPOILERS: readonly ((id: string) => string)[] = [
  (id) => id.slice(0, below(id.length)),
  (id) => id + id.slice(0, 1 + below(id.length)),
  (id) => insertAt(id, below(id.length + 1), pick(["0", "a", "-", "F"])),
  (id) => replaceAt(id, below(id.length), pick(NOT_HEX)),
  (id) => replaceAt(id, below(id.length), encodeURIComponent(pick(UNICODE))),
  (id) => insertAt(id, below(id.length + 1), pick(ENCODED)),
  (id) => id.replaceAll("-", ""),
  (id) => id.replace("-", ""),
  (id) => `{${id}}`,
  (id) => `urn:uuid:${id}`,
  (id) => `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`,
  (id) => id.repeat(2 + below(200)),
  (id) => id + "0".repeat(1 + below(8000)),
  (id) => [...id].map((character) => (character === "-" ? pick(["_", "–", ".", ""]) : character)).join(""),
  () =>
    Array.from({ length: 1 + below(200) }, () => String.fromCharCode(0x21 + below(94)))
      .join("")
      .replace(/[/?#\\]/g, "-"),
  () => encodeURIComponent(String.fromCodePoint(0x80 + below(0xd000)).repeat(1 + below(40))),
  () =>
    pick([
      "null",
      "undefined",
      "NaN",
      "true",
      "__proto__",
      "constructor",
      "toString",
      "-1",
      "1e9",
      "0x10",
      "*",
      ":id",
      "$ref",
    ]),
];

interface Hostile {
  readonly target: string;
  readonly id: string;
}

function hostile(): Hostile {
  const id = pick(SPOILERS)(pick([ORDER_DE, RIDE_DE, PARCEL_EU, PERSON]));
  const prefix = pick(["/orders/", "/rides/", "/parcels/", "/any/"]);
  return { id, target: prefix + id + pick(["", "", "/", "/events?limit=20", "?x=1"]) };
}

/** Characters that the runtime's parser may refuse in a target; every other byte must reach the gateway. */
const LATIN1_ONLY = /^[\x21-\x7e]*$/;

describe("10,000 malformed IDs", () => {
  it("get a problem each: never a 5xx, never a region, and no origin hears of them", { timeout: 240_000 }, async () => {
    const cases = Array.from({ length: 10_000 }, hostile).filter(({ target }) => LATIN1_ONLY.test(target));
    expect(cases.length).toBeGreaterThan(9_000);
    const wrong: string[] = [];
    const slugs = new Map<string, number>();
    const next = cases[Symbol.iterator]();
    const worker = async () => {
      for (const { target } of { [Symbol.iterator]: () => next }) {
        const answer = await rawRequest(stack.gateway.port, "GET", target);
        const slug = /"type":"\/-\/problems\/([a-z-]+)"/.exec(answer.body)?.[1] ?? `none (${answer.status})`;
        slugs.set(slug, (slugs.get(slug) ?? 0) + 1);
        const isRefused = answer.status >= 400 && answer.status < 500;
        const namesRegion = /^waybill-region:/im.test(answer.head);
        if (!isRefused || namesRegion) wrong.push(`${answer.status} ${target.slice(0, 200)}`);
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    expect(wrong).toEqual([]);
    expect(origins.recorded).toEqual([]);
    expect(slugs.get("malformed-id")).toBeGreaterThan(8_000);
    // The runtime's own parser refuses raw quotes, braces and pipes: they never reach the gateway, and get a bare 400.
    expect([...slugs.keys()].filter((slug) => slug.startsWith("none"))).toEqual(["none (400)"]);
  });

  it("and the good ones still route, in any case of their hex digits", async () => {
    const answers = await Promise.all([
      rawRequest(stack.gateway.port, "GET", `/orders/${ORDER_DE}`),
      rawRequest(stack.gateway.port, "GET", `/orders/${ORDER_DE.toUpperCase()}`),
      rawRequest(stack.gateway.port, "GET", `/any/${PARCEL_EU.replace("bbaa", "bBAa")}`),
    ]);
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, "eu"],
      [200, "eu"],
      [200, "eu"],
    ]);
  });
});

describe("what the table does not know", () => {
  it.each([
    ["an unknown country", "/orders/01990f04-d900-80fe-8040-000000000001", 404, "unassigned-key"],
    ["an unknown service", "/any/01990f04-d900-8009-bfc0-000000000001", 404, "unknown-id"],
    ["an unknown service on an entity path", "/orders/01990f04-d900-8009-bfc0-000000000001", 422, "wrong-entity"],
    ["an unassigned shard key", "/parcels/6347eb00-bbaa-01cc-0201-0203ffffffff", 404, "unassigned-key"],
    ["an unknown group", "/any/00000023-122e-6fff-a789-28ef27ab7c62", 404, "unknown-id"],
    ["an order path with a ride's ID", `/orders/${RIDE_DE}`, 422, "wrong-entity"],
    ["a ride path with an order's ID", `/rides/${ORDER_DE}`, 422, "wrong-entity"],
    ["a parcel path with an order's ID", `/parcels/${ORDER_DE}`, 422, "wrong-entity"],
    ["an unknown path", `/invoices/${ORDER_DE}`, 404, "unrouted-path"],
    ["a random UUID", "/any/919108f7-52d1-4320-9bac-f847db4148a8", 404, "unknown-id"],
  ])("%s", async (_, target, status, slug) => {
    const answer = await rawRequest(stack.gateway.port, "GET", target);
    expect([answer.status, JSON.parse(answer.body).type]).toEqual([status, `/-/problems/${slug}`]);
  });
});
