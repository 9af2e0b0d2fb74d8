import { expect, test } from "vitest";
import { compileLayout, type LayoutTable, type Row, uuidText } from "../../../src/ids/index.ts";

const table = (rows: readonly Row[], octetOrder?: readonly number[]): LayoutTable => ({
  name: "tried",
  title: "Tried",
  source: "this test",
  text: uuidText,
  rows,
  ...(octetOrder === undefined ? {} : { octetOrder }),
});

const key = (field: string, bits: number): Row => ({ field, bits, role: "key" });
const fixed = (field: string, bits: number, value: number): Row => ({ field, bits, role: "fixed", value });
const time = (field: string, bits: number, epochMs = 0): Row => ({ field, bits, role: "time", unit: "ms", epochMs });

const inOrder = Array.from({ length: 16 }, (_, byte) => byte);

test.each([
  ["no rows", table([]), { reason: "total-bits", expected: 128, actual: 0 }],
  ["a bit short", table([key("a", 127)]), { reason: "total-bits", expected: 128, actual: 127 }],
  ["a bit long", table([key("a", 128), key("b", 1)]), { reason: "total-bits", expected: 128, actual: 129 }],
  ["a row of no bits", table([key("a", 0), key("b", 128)]), { reason: "row-bits", field: "a", bits: 0, max: 256 }],
  ["half a bit", table([key("a", 0.5)]), { reason: "row-bits", field: "a", bits: 0.5, max: 256 }],
  ["NaN bits", table([key("a", Number.NaN)]), { reason: "row-bits", field: "a", bits: Number.NaN, max: 256 }],
  ["a row too wide", table([key("a", 257)]), { reason: "row-bits", field: "a", bits: 257, max: 256 }],
  ["an empty name", table([key("", 128)]), { reason: "field-name", field: "" }],
  ["a name of the language", table([key("__proto__", 128)]), { reason: "field-name", field: "__proto__" }],
  [
    "a value too great",
    table([fixed("a", 4, 16), key("b", 124)]),
    { reason: "fixed-value", field: "a", bits: 4, value: 16 },
  ],
  [
    "a value below 0",
    table([fixed("a", 4, -1), key("b", 124)]),
    { reason: "fixed-value", field: "a", bits: 4, value: -1 },
  ],
  [
    "a broken value",
    table([fixed("a", 4, 0.5), key("b", 124)]),
    { reason: "fixed-value", field: "a", bits: 4, value: 0.5 },
  ],
  [
    "wide fixed bits",
    table([fixed("a", 54, 0), key("b", 74)]),
    { reason: "fixed-bits", field: "a", bits: 54, max: 53 },
  ],
  [
    "fixed bits wide together",
    table([fixed("a", 30, 0), key("b", 68), fixed("a", 30, 0)]),
    { reason: "fixed-bits", field: "a", bits: 60, max: 53 },
  ],
  ["two times", table([time("a", 64), time("b", 64)]), { reason: "two-times", fields: ["a", "b"] }],
  ["a broken epoch", table([time("a", 128, 0.5)]), { reason: "epoch", field: "a", epochMs: 0.5 }],
  ["one name, two roles", table([key("a", 64), fixed("a", 64, 0)]), { reason: "split-field", field: "a" }],
  ["one name, two epochs", table([time("a", 64), time("a", 64, 1)]), { reason: "split-field", field: "a" }],
  [
    "one name, two units",
    table([time("a", 64), { field: "a", bits: 64, role: "time", unit: "s", epochMs: 0 }]),
    { reason: "split-field", field: "a" },
  ],
  ["too few bytes", table([key("a", 128)], inOrder.slice(1)), { reason: "octet-order", octets: 16 }],
  ["a byte twice", table([key("a", 128)], [0, 0, ...inOrder.slice(2)]), { reason: "octet-order", octets: 16 }],
  ["a byte out of range", table([key("a", 128)], [...inOrder.slice(1), 16]), { reason: "octet-order", octets: 16 }],
])("%s", (_name, tried, error) => {
  expect(compileLayout(tried)).toEqual({ ok: false, error });
});

test("a time that is split around fixed bits is one field", () => {
  const layout = compileLayout(table([time("a", 48), fixed("v", 4, 7), time("a", 12), key("k", 64)]));
  expect(layout.ok && layout.value.fields.map(({ name, bits }) => [name, bits])).toEqual([
    ["a", 60],
    ["v", 4],
    ["k", 64],
  ]);
});
