import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { losesDigits, REFUSING_STORES, type RefusingStore, refusedBy } from "../../../src/ids/index.ts";

describe("losesDigits", () => {
  it.each([
    ["9007199254740991", false],
    ["9007199254740992", true],
    ["9007199254740993", true],
    ["2061236281144246272", true],
    ["1119204855355262683623920809", true],
    ["0", false],
    ["-5", false],
    ["1.5", false],
    ["0123", true],
    ["+5", true],
    ["1.0", true],
    ["-0", true],
    ["51e10", true],
    ["1e400", true],
    [`1${"0".repeat(400)}`, true],
    ["507f1f77bcf86cd799439011", false],
    ["", false],
    [" 5", false],
    ["0x10", false],
    ["Infinity", false],
    [9_007_199_254_740_991, false],
    [9_007_199_254_740_992, true],
    [1.5, true],
    [Number.NaN, true],
    [9_007_199_254_740_991n, false],
    [9_007_199_254_740_993n, true],
    [-9_007_199_254_740_993n, true],
    [10n ** 400n, true],
  ])("%s: %s", (value, expected) => {
    expect(losesDigits(value)).toBe(expected);
  });

  it("a text of which it says no is printed again as it was", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[+-]?\d{0,20}(\.\d{0,3})?(e[+-]?\d{1,3})?$/), (text) => {
        if (text !== "" && !Number.isNaN(Number(text)) && !losesDigits(text)) expect(`${Number(text)}`).toBe(text);
      }),
    );
  });
});

/** IDs, and why each store loses one; a store that is not named keeps all. */
const ROWS: readonly (readonly [store: RefusingStore, ids: readonly string[], lost: readonly object[]])[] = [
  // Tried on MariaDB 10.11.19.
  [
    "mariadb-uuid",
    ["0192f0c1-7a30-8005-8040-8f3b2a1c9d77"],
    [{ id: "0192f0c1-7a30-8005-8040-8f3b2a1c9d77", reason: "refused" }],
  ],
  ["mariadb-uuid", ["0192f0c1-7a30-8005-8100-8f3b2a1c9d77", "0192f0c1-7a30-8005-00ff-8f3b2a1c9d77"], []],
  [
    "mariadb-uuid",
    ["0192f0c1-7a30-f005-0100-8f3b2a1c9d77"],
    [{ id: "0192f0c1-7a30-f005-0100-8f3b2a1c9d77", reason: "refused" }],
  ],
  ["mariadb-uuid", ["0192f0c1-7a30-7005-0100-8f3b2a1c9d77", "00000000-0000-0000-0000-000000000000"], []],
  ["mariadb-uuid", ["01ARZ3NDEKTSV4RRFFQ69G5FAV"], [{ id: "01ARZ3NDEKTSV4RRFFQ69G5FAV", reason: "not-of-its-kind" }]],
  [
    "mariadb-uuid",
    ["0192f0c1-7a30-7005-8040-8f3b2a1c9d77", "0192F0C17A30700580408F3B2A1C9D77"],
    [{ id: "0192F0C17A30700580408F3B2A1C9D77", reason: "equal", like: "0192f0c1-7a30-7005-8040-8f3b2a1c9d77" }],
  ],
  ["sqlite-uuid", ["0192f0c1-7a30-8005-8040-8f3b2a1c9d77", "2061236281144246272"], []],
  [
    "sqlite-uuid",
    ["12345678901234567890123456789012"],
    [{ id: "12345678901234567890123456789012", reason: "number", as: "1.2345678901234567e+31" }],
  ],
  [
    "sqlite-uuid",
    ["507119775686e9994390110000000000"],
    [{ id: "507119775686e9994390110000000000", reason: "number", as: "Infinity" }],
  ],
  ["sqlite-uuid", ["0055"], [{ id: "0055", reason: "number", as: "55" }]],
  ["bigint", ["9223372036854775807", "-1", "0"], []],
  ["bigint", ["9223372036854775808"], [{ id: "9223372036854775808", reason: "too-great" }]],
  ["bigint", ["00123"], [{ id: "00123", reason: "number", as: "123" }]],
  [
    "bigint",
    ["01ARZ3NDEKTSV4RRFFQ69G5FAV", ""],
    [
      { id: "01ARZ3NDEKTSV4RRFFQ69G5FAV", reason: "not-of-its-kind" },
      { id: "", reason: "not-of-its-kind" },
    ],
  ],
  ["bigint-unsigned", ["18446744073709551615"], []],
  [
    "bigint-unsigned",
    ["18446744073709551616", "-1"],
    [
      { id: "18446744073709551616", reason: "too-great" },
      { id: "-1", reason: "too-great" },
    ],
  ],
  ["decimal28", ["1119204855355262683623920809"], []],
  ["decimal28", ["10000000000000000000000000000"], [{ id: "10000000000000000000000000000", reason: "too-great" }]],
  ["decimal28", ["9".repeat(5000)], [{ id: "9".repeat(5000), reason: "too-great" }]],
  ["double", ["5", "9007199254740991"], []],
  ["double", ["2061236281144246272"], [{ id: "2061236281144246272", reason: "number", as: "2061236281144246300" }]],
  ["double", ["01KDVDNA000000000000000000"], [{ id: "01KDVDNA000000000000000000", reason: "not-of-its-kind" }]],
  ["yaml", ["507f1f77bcf86cd799439011", "01KDVDNA000000000000000000", "-OhqqeV-------------"], []],
  [
    "yaml",
    ["507119775686979943901e11"],
    [{ id: "507119775686979943901e11", reason: "number", as: "5.0711977568697995e+31" }],
  ],
  [
    "yaml",
    ["1_000", "0777", "2026-01-01", "null", "@a"],
    [
      { id: "1_000", reason: "number", as: "1000" },
      { id: "0777", reason: "number", as: "777" },
      { id: "2026-01-01", reason: "not-of-its-kind" },
      { id: "null", reason: "not-of-its-kind" },
      { id: "@a", reason: "refused" },
    ],
  ],
  // Declared alphabets and groups may have `:` and `.`.
  ["yaml", ["a:b", "12:3456", "---a", "x=="], []],
  [
    "yaml",
    ["abc:", "---", "...", "12:30", "-1:00:30.5", "E83", "2001-12-14t21:59:43.10-05:00"],
    [
      { id: "abc:", reason: "refused" },
      { id: "---", reason: "refused" },
      { id: "...", reason: "refused" },
      { id: "12:30", reason: "number", as: "750" },
      { id: "-1:00:30.5", reason: "number", as: "-3630.5" },
      { id: "E83", reason: "number", as: "NaN" },
      { id: "2001-12-14t21:59:43.10-05:00", reason: "not-of-its-kind" },
    ],
  ],
  ["csv", ["507f1f77bcf86cd799439011", "123456789012345"], []],
  [
    "csv",
    ["1234567890123456", "55e3", "007"],
    [
      { id: "1234567890123456", reason: "number", as: "1234567890123456" },
      { id: "55e3", reason: "number", as: "55000" },
      { id: "007", reason: "number", as: "7" },
    ],
  ],
  ["caseless-text", ["3zfAkCP7", "3ZFAKCP7", "3zfAkCP8"], [{ id: "3ZFAKCP7", reason: "equal", like: "3zfAkCP7" }]],
  ["caseless-text", ["a", "a ", "a"], [{ id: "a ", reason: "equal", like: "a" }]],
  ["padded-text", ["a", "A", "a "], [{ id: "a ", reason: "equal", like: "a" }]],
];

describe("refusedBy", () => {
  it.each(ROWS)("%s of %j", (store, ids, lost) => {
    expect(refusedBy(store, ids)).toEqual(lost);
  });

  // Quadratic work would take minutes for each.
  it.each(["1".repeat(300_000), `1${"_".repeat(300_000)}`, `a${" ".repeat(300_000)}`])(
    "takes time in the length of an ID",
    (run) => {
      expect(losesDigits(`${run}x`)).toBe(false);
      for (const store of REFUSING_STORES) expect(refusedBy(store, [`${run}x`]).length).toBeLessThan(2);
    },
  );

  it("has a row of each store that keeps IDs, and one that loses some", () => {
    const stores = (isEmpty: boolean) =>
      new Set(ROWS.filter(([, ids, lost]) => isEmpty === lost.length < ids.length).map(([store]) => store));
    expect([...stores(true)].toSorted()).toEqual(REFUSING_STORES.toSorted());
    expect(new Set(ROWS.filter(([, , lost]) => lost.length > 0).map(([store]) => store)).size).toBe(
      REFUSING_STORES.length,
    );
  });

  /** Hexadecimal without hyphens, most of whose digits are decimal, and numbers. */
  const texts = fc.oneof(
    fc.stringMatching(/^[0-9]{1,12}e[0-9]{1,3}$/),
    fc.stringMatching(/^[0-9]{0,30}[0-9a-f]{0,3}[0-9]{0,3}$/),
    fc.stringMatching(/^[ +-]?\d{0,20}\.?\d{0,4}(e[+-]?\d{0,2})?[ ]?$/),
    fc.bigInt({ min: -(1n << 64n), max: 1n << 64n }).map(String),
  );

  it("sqlite-uuid loses what SQLite prints as another text", () => {
    const database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE ids (id UUID)");
    const insert = database.prepare(
      "INSERT INTO ids VALUES (?) RETURNING CAST(id AS TEXT) AS held, typeof(id) AS type",
    );
    fc.assert(
      fc.property(texts, (text) => {
        const { held, type } = insert.get(text) as { held: string; type: string };
        const [lost] = refusedBy("sqlite-uuid", [text]);
        // A double may print as the text that it was: it is a number nevertheless.
        if (type !== "real") expect(lost === undefined).toBe(held === text);
        else expect(lost?.reason).toBe("number");
      }),
    );
    database.close();
  });

  /** Digits of declared alphabets, and separators of groups: what a segment of a path holds. */
  const marked = fc.stringMatching(/^[0-9aEeTtxy\-._~!$&'()*+,;=:@]{1,8}$/);

  it.each(["1.1", "core"] as const)("yaml loses what a reader of YAML %s prints as another text", (version) => {
    const read = (text: string): unknown => {
      try {
        return parseYaml(`id: ${text}`, version === "core" ? {} : { version: "1.1" }).id;
      } catch {
        return undefined;
      }
    };
    fc.assert(
      fc.property(
        fc.oneof(texts, fc.stringMatching(/^[0-9a-f]{24}$/), fc.stringMatching(/^[-\w~]{1,20}$/), marked),
        (text) => {
          if (refusedBy("yaml", [text]).length === 0) expect(`${read(text)}`).toBe(text);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("double keeps what JSON keeps", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(1n << 64n), max: 1n << 64n }).map(String), (text) => {
        if (refusedBy("double", [text]).length === 0) expect(JSON.stringify(JSON.parse(text))).toBe(text);
      }),
    );
  });
});
