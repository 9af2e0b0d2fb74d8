import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonPointer, type JsonReading, readJsonIds } from "../../../src/features/places/serve/json-ids.ts";
import { runs } from "../../setup/property-runs.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const at = (pointer: string, isList = false): Omit<JsonPointer, "place"> => ({
  path: pointer.split("/").slice(1),
  isList,
});

const read = (
  text: string | Uint8Array,
  pointers: readonly Omit<JsonPointer, "place">[],
  isWhole = true,
): JsonReading =>
  readJsonIds(
    typeof text === "string" ? bytesOf(text) : text,
    isWhole,
    pointers.map((pointer, place) => ({ ...pointer, place })),
  );

const shown = (reading: JsonReading): string => {
  if (reading.kind === "values") return reading.values.map(({ place, text }) => `${place}:${text}`).join(" ");
  if (reading.kind === "fault") return `fault ${reading.fault.place} ${reading.fault.detail}`;
  return reading.kind === "late" ? `late ${reading.place}` : reading.detail;
};

const ID = at("/order/id");

describe("a member of a whole body", () => {
  test.each([
    ['{"order":{"id":"a"}}', "0:a"],
    ['\ufeff {"order" : {"x":[{"id":1}],"id" : "a" } }\n', "0:a"],
    ['{"\\u006frder":{"\\u0069d":"\\u0061\\n"}}', "0:a\n"],
    ['{"order":{"id":"é𝄞"}}', "0:é𝄞"],
    ['{"order":{"id":12345678901234567890123}}', "0:12345678901234567890123"],
    ['{"order":{"id":0}}', "0:0"],
    ['{"order":{"id":null}}', ""],
    ['{"order":{"id":-1}}', "fault 0 is no whole number"],
    ['{"order":{"id":1.0}}', "fault 0 is no whole number"],
    ['{"order":{"id":1e3}}', "fault 0 is no whole number"],
    ['{"order":{"id":true}}', "fault 0 is true"],
    ['{"order":{"id":{"id":"a"}}}', "fault 0 is an object"],
    ['{"order":{"id":["a"]}}', "fault 0 is a list"],
    ['{"order":{"id":""}}', "0:"],
    ['{"order":"a"}', ""],
    ['{"order":[{"id":"a"}]}', ""],
    ['{"id":"a"}', ""],
    ['{"x":{"order":{"id":"a"}}}', ""],
    ["[]", ""],
    ["", ""],
    ["12", ""],
    ['{"order":{"id":"a","id":"a"}}', 'The body has the key "id" twice.'],
    ['{"order":{"id":"a","\\u0069d":"b"}}', 'The body has the key "id" twice.'],
    ['{"order":{"id":"a"},"order":{}}', 'The body has the key "order" twice.'],
    ['{"order":{"x":1,"x":2,"id":"a"}}', "0:a"],
    ['{"order":{"id":"a"}', "The body is not JSON."],
    ['{"order":{"id":"a"}} x', "The body is not JSON."],
    ["{'order':1}", "The body is not JSON."],
    ['{"order":{"id":"a",}}', "The body is not JSON."],
  ])("%s", (text, expected) => {
    expect(shown(read(text, [ID]))).toBe(expected);
  });

  test("a body that is too deep", () => {
    expect(shown(read(`${'{"x":'.repeat(256)}1`, [ID]))).toBe("The body is not JSON.");
    expect(shown(read(`${'{"x":'.repeat(257)}1`, [ID]))).toBe("The body is deeper than 256 levels.");
  });

  test("bytes that are not UTF-8", () => {
    const bytes = bytesOf('{"order":{"id":"?"}}');
    bytes[16] = 0xff;
    expect(shown(read(bytes, [ID]))).toBe("The body is not UTF-8.");
  });

  test.each([
    ['{"ids":["a","b",3]}', "0:a 0:b 0:3"],
    ['{"ids":[]}', ""],
    ['{"ids":"a"}', "0:a"],
    ['{"ids":["a",null]}', "fault 0 is null"],
    ['{"ids":["a",["b"]]}', "fault 0 has an element that is no text"],
    ['{"ids":[{"id":"b"}]}', "fault 0 has an element that is no text"],
    ['{"ids":{"0":"b"}}', "fault 0 is an object"],
  ])("a list %s", (text, expected) => {
    expect(shown(read(text, [at("/ids", true)]))).toBe(expected);
  });

  test("the root, elements by their number, and several members at once", () => {
    expect(shown(read('["a","b"]', [at("", true)]))).toBe("0:a 0:b");
    expect(shown(read("123", [at("")]))).toBe("0:123");
    expect(shown(read('[{"id":"a"},{"id":"b"}]', [at("/1/id"), at("/01/id"), at("/0/id")]))).toBe("2:a 0:b");
    expect(shown(read('{"1":{"id":"a"}}', [at("/1/id")]))).toBe("0:a");
    expect(shown(read('{"a":{"b":"x","c":"y"},"d":"z"}', [at("/a/b"), at("/d"), at("/a/c"), at("/a/b")]))).toBe(
      "0:x 3:x 2:y 1:z",
    );
  });
});

describe("the first bytes of a body that goes on", () => {
  test.each([
    ['{"order":{"id":"a"', "0:a"],
    ['{"order":{"id":"a"},"more":"', "0:a"],
    ['{"order":{"id":"a', "late 0"],
    ['{"order":{"id":12', "late 0"],
    ['{"order":{"id":12,', "0:12"],
    ['{"order":{}', "late 0"],
    ['{"order":{}}', ""],
    ["", "late 0"],
    ['{"order":{"id":"a","id":"b"', 'The body has the key "id" twice.'],
  ])("%s", (text, expected) => {
    expect(shown(read(text, [ID], false))).toBe(expected);
  });

  test("a list that is not closed", () => {
    expect(shown(read('{"ids":["a"', [at("/ids", true)], false))).toBe("late 0");
    expect(shown(read('{"ids":["a"]', [at("/ids", true)], false))).toBe("0:a");
  });
});

/** JSON as people see it; members in their order, and a name may come twice. */
type Tree =
  | string
  | number
  | boolean
  | null
  | readonly Tree[]
  | { readonly members: readonly (readonly [string, Tree])[] };

const NAMES = ["id", "order", "a", "0", "é"] as const;
const name = fc.constantFrom(...NAMES);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.oneof(fc.string({ maxLength: 4, unit: "grapheme" }), fc.nat(), fc.constantFrom(true, null, -1, 1.5)),
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie("tree")), { maxLength: 4 }).map((members) => ({ members })),
  ),
}));

const isObject = (value: Tree): value is Extract<Tree, { members: unknown }> =>
  typeof value === "object" && value !== null && "members" in value;

/** Each character of a text may be escaped; spaces may be anywhere. */
const write = (value: Tree, next: () => number): string => {
  const gap = () => " ".repeat(next() % 2);
  const quote = (text: string) => {
    const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
    const mayBePlain = (unit: number) => unit >= 0x20 && unit < 0xd800 && unit !== 0x22 && unit !== 0x5c;
    const textOf = (unit: number) => `\\u${unit.toString(16).padStart(4, "0")}`;
    return `"${units.map((unit) => (mayBePlain(unit) && next() % 4 !== 0 ? String.fromCharCode(unit) : textOf(unit))).join("")}"`;
  };
  const inside = (): string => {
    if (typeof value === "string") return quote(value);
    if (Array.isArray(value)) return `[${value.map((item: Tree) => write(item, next)).join(",")}]`;
    if (isObject(value))
      return `{${value.members.map(([key, of]) => `${gap()}${quote(key)}${gap()}:${write(of, next)}`).join(",")}}`;
    return JSON.stringify(value);
  };
  return gap() + inside() + gap();
};

/** Values at a pointer, by walking over the tree; `twice` where a name on the way comes twice. */
const lookUp = (value: Tree, path: readonly string[]): { values: Tree[]; twice: boolean } => {
  const [first, ...rest] = path;
  if (first === undefined) return { values: [value], twice: false };
  if (Array.isArray(value)) {
    const at = value.findIndex((_, index) => String(index) === first);
    return at === -1 ? { values: [], twice: false } : lookUp(value[at] as Tree, rest);
  }
  if (!isObject(value)) return { values: [], twice: false };
  const own = value.members.filter(([key]) => key === first).map(([, of]) => lookUp(of, rest));
  return { values: own.flatMap(({ values }) => values), twice: own.length > 1 || own.some(({ twice }) => twice) };
};

const expectedOf = (value: Tree, { path, isList }: Omit<JsonPointer, "place">): string[] | "refused" => {
  const { values, twice } = lookUp(value, path);
  if (twice) return "refused";
  const textOf = (one: Tree): string[] | "refused" => {
    if (typeof one === "string") return [one];
    return typeof one === "number" && Number.isInteger(one) && one >= 0 ? [String(one)] : "refused";
  };
  const all = values.flatMap((one) => {
    if (one === null) return [];
    return isList && Array.isArray(one) ? one.map(textOf) : [textOf(one)];
  });
  return all.includes("refused") ? "refused" : all.flat();
};

const pointers = fc.array(fc.record({ path: fc.array(name, { maxLength: 3 }), isList: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
});

test("equals a walk over the whole tree, however the text is written", () => {
  fc.assert(
    fc.property(tree, pointers, fc.infiniteStream(fc.nat()), (value, wanted, numbers) => {
      const text = write(value, () => numbers.next().value);
      const reading = read(text, wanted);
      const expected = wanted.map((pointer) => expectedOf(value, pointer));
      if (reading.kind !== "values") {
        expect(expected).toContain("refused");
        return;
      }
      const found = wanted.map((_, place) =>
        reading.values.filter((one) => one.place === place).map((one) => one.text),
      );
      expect(found).toEqual(expected);
    }),
    { numRuns: runs(300) },
  );
});

test("a body that is cut anywhere is late, or says what the whole one says unless that is refused", () => {
  fc.assert(
    fc.property(tree, pointers, fc.infiniteStream(fc.nat()), fc.nat(), (value, wanted, numbers, cut) => {
      const bytes = bytesOf(write(value, () => numbers.next().value));
      const whole = read(bytes, wanted);
      const part = read(bytes.subarray(0, cut % (bytes.length + 1)), wanted, false);
      if (part.kind === "late") return;
      if (part.kind === "values") expect(["malformed", "fault", "values"]).toContain(whole.kind);
      else expect(["malformed", "fault"]).toContain(whole.kind);
      if (part.kind === "values" && whole.kind === "values") expect(part.values).toEqual(whole.values);
    }),
    { numRuns: runs(300) },
  );
});
