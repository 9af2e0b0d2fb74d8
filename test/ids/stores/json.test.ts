import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JSON_DEPTH_MAX, parseExactJson, stringifyExactJson } from "../../../src/ids/index.ts";

const parsed = (text: string): unknown => {
  const result = parseExactJson(text);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

describe("a number of JSON", () => {
  it.each<readonly [source: string, value: unknown]>([
    ["0", 0],
    ["-0", -0],
    ["1", 1],
    ["12.50", 12.5],
    ["0.1", 0.1],
    ["1e3", 1000],
    ["1.5E+2", 150],
    ["1e-7", 1e-7],
    ["123.456e5", 12_345_600],
    ["9007199254740991", 9_007_199_254_740_991],
    ["-9007199254740991", -9_007_199_254_740_991],
    // Even where a double has the value: an ID is not sometimes a number and sometimes a text.
    ["9007199254740992", "9007199254740992"],
    ["-9007199254740992", "-9007199254740992"],
    ["9007199254740993", "9007199254740993"],
    ["1152921504606846976", "1152921504606846976"],
    ["1541815603606036480", "1541815603606036480"],
    ["18446744073709551615", "18446744073709551615"],
    ["1088824355131185736905670087", "1088824355131185736905670087"],
    ["1088824355131185736905670087.00", "1088824355131185736905670087.00"],
    ["12345678901234567.25", "12345678901234567.25"],
    ["0.12345678901234567890123456789", "0.12345678901234567890123456789"],
    ["1.1192048553552626e+27", "1.1192048553552626e+27"],
    ["1e400", "1e400"],
    ["1e-400", "1e-400"],
  ])("%s is %j", (source, value) => {
    expect(parsed(source)).toEqual(value);
    expect(parsed(` { "id" : ${source} , "all":[${source}\n,${source}]}`)).toEqual({ id: value, all: [value, value] });
  });

  it("is none within a text or a name", () => {
    const text =
      '{"1541815603606036480":"1541815603606036480","a\\"1541815603606036480":"\\\\","b":[1541815603606036480]}';
    expect(parsed(text)).toEqual({
      "1541815603606036480": "1541815603606036480",
      'a"1541815603606036480': "\\",
      b: ["1541815603606036480"],
    });
  });

  it("of any size is a safe number with its value, or its source", () => {
    const numbers = fc.oneof(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
      fc.tuple(fc.maxSafeInteger(), fc.nat()).map(([whole, part]) => `${whole}.${part}`),
    );
    fc.assert(
      fc.property(numbers, (source) => {
        const value = parsed(source);
        expect(value).toBe(typeof value === "string" ? source : Number(source));
        if (typeof value === "number" && /^-?\d+$/.test(source)) expect(BigInt(value)).toBe(BigInt(source));
      }),
    );
  });

  // Quadratic work would take minutes.
  it("costs time in its length", () => {
    const long = `1.${"0".repeat(300_000)}1`;
    expect(parsed(`[${long}]`)).toEqual([long]);
  });

  it("that is no JSON is refused, even if quotes would make it JSON", () => {
    for (const text of [
      "",
      "{12345678901234567890:1}",
      "01234567890123456789",
      "[1,]",
      "12345678901234567890 1",
      "1.e5",
    ]) {
      expect(parseExactJson(text)).toMatchObject({ ok: false, error: { reason: "syntax" } });
    }
  });
});

it("all other JSON is parsed as JSON.parse does", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const safe = text.replace(/-?\d[\d.eE+-]*/g, "7");
      expect(parsed(safe)).toEqual(JSON.parse(safe));
    }),
  );
  expect(Object.keys(parsed('{"__proto__":12345678901234567890}') as object)).toEqual(["__proto__"]);
});

describe("written", () => {
  const order = {
    id: 1541815603606036480n,
    total: "12.50",
    items: [{ id: 7n }],
    invoices: ["1088824355131185736905670087"],
  };

  it.each([
    [
      {},
      '{"id":"1541815603606036480","total":"12.50","items":[{"id":"7"}],"invoices":["1088824355131185736905670087"]}',
    ],
    [
      { unquotedBigints: true },
      '{"id":1541815603606036480,"total":"12.50","items":[{"id":7}],"invoices":["1088824355131185736905670087"]}',
    ],
    [
      { unquoted: ["invoices", "total"] },
      '{"id":"1541815603606036480","total":12.50,"items":[{"id":"7"}],"invoices":[1088824355131185736905670087]}',
    ],
    [
      { unquoted: ["id"] },
      '{"id":1541815603606036480,"total":"12.50","items":[{"id":7}],"invoices":["1088824355131185736905670087"]}',
    ],
  ])("by %j", (options, text) => {
    expect(stringifyExactJson(order, options)).toEqual({ ok: true, value: text });
  });

  it("keeps a number that JSON.rawJSON made", () => {
    const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => object };
    const value = { id: rawJSON("1541815603606036481"), all: [rawJSON("1e400")] };
    expect(stringifyExactJson(value)).toEqual({ ok: true, value: JSON.stringify(value) });
  });

  it.each<readonly [name: string, value: unknown, error: object]>([
    [
      "a rounded ID",
      { orders: [{ id: 1.1192048553552626e27 }] },
      { reason: "rounded", path: "/orders/0/id", value: 1.1192048553552626e27 },
    ],
    ["2^53", 2 ** 53, { reason: "rounded", path: "", value: 2 ** 53 }],
    ["NaN", { "a/b~c": Number.NaN }, { reason: "not-finite", path: "/a~1b~0c" }],
    ["an infinity", [Number.POSITIVE_INFINITY], { reason: "not-finite", path: "/0" }],
    ["an exponent", { digits: ["1e27"] }, { reason: "no-number", path: "/digits/0", value: "1e27" }],
    ["no digits", { digits: "" }, { reason: "no-number", path: "/digits", value: "" }],
    ["leading zeros", { digits: "007" }, { reason: "no-number", path: "/digits", value: "007" }],
    ["undefined", undefined, { reason: "no-json" }],
    ["a function", () => 1, { reason: "no-json" }],
  ])("never: %s", (_, value, error) => {
    expect(stringifyExactJson(value, { unquoted: ["digits"] })).toEqual({ ok: false, error });
  });

  it("never: a cycle, or what is nested too deep", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(stringifyExactJson(cycle)).toMatchObject({ ok: false, error: { reason: "too-deep" } });
    const nested = (levels: number): unknown => Array.from({ length: levels }).reduce((inner) => [inner], 1);
    expect(stringifyExactJson(nested(JSON_DEPTH_MAX)).ok).toBe(true);
    expect(stringifyExactJson(nested(JSON_DEPTH_MAX + 1)).ok).toBe(false);
  });

  it("as JSON.stringify writes it where no digit is at stake", () => {
    class Point {
      at = new Date(0);
      hidden = undefined;
      toJSON(key: string) {
        return { key, at: this.at, toJSON: () => "not asked again" };
      }
    }
    const values = [
      { a: undefined, b: () => 1, c: Symbol("s"), d: [undefined, () => 1, Symbol("s")], e: null, f: true },
      [new Point(), { p: new Point() }],
      [new Map([[1, 2]]), new Set([1]), new Uint8Array(2), Buffer.from("ab"), /x/, new Error("e")],
      // biome-ignore-start lint: boxed values are what is tried
      [Object(1), Object("text"), Object(false), new Date(Number.NaN)],
      // biome-ignore-end lint: as above
      Array(3),
      '\u2028\ud800"\\',
      Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, not: { value: 2 } }),
    ];
    for (const value of values) expect(stringifyExactJson(value)).toEqual({ ok: true, value: JSON.stringify(value) });
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const written = stringifyExactJson(value);
        if (written.ok) expect(written.value).toBe(JSON.stringify(value));
        else expect(written.error.reason).toBe("rounded");
      }),
    );
  });

  it("and read again it has every digit", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 39n }), (id) => {
        for (const options of [{}, { unquotedBigints: true }, { unquoted: ["id"] }]) {
          const text = stringifyExactJson({ id }, options);
          const read = text.ok ? (parsed(text.value) as { id: string | number }) : { id: "" };
          expect(BigInt(read.id)).toBe(id);
        }
      }),
    );
  });
});
