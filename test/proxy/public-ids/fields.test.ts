import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BUFFER_BYTES_MAX, ID_UNITS_MAX } from "../../../src/features/public-ids/serve/fields.ts";
import { DEPTH_MAX } from "../../../src/proxy/json-bytes.ts";
import { runs } from "../../setup/property-runs.ts";
import {
  anyPath,
  anyTree,
  bytes,
  cutAt,
  entityFields,
  matches,
  print,
  rewriterOf,
  runThrough,
  shout,
} from "./documents.ts";

const anyCuts = fc.array(fc.nat(), { maxLength: 12 });
const whole = (text: string, ...paths: readonly string[]) =>
  runThrough(rewriterOf(entityFields(...paths)), [bytes(text)]);
const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("any document in any pieces", () => {
  it("comes out with the IDs at the declared places replaced, and every other octet as it was", () => {
    fc.assert(
      fc.property(anyTree, fc.array(anyPath, { minLength: 1, maxLength: 4 }), anyCuts, (tree, paths, cuts) => {
        const expected = print(tree, (names, text) =>
          paths.some((path) => matches(path, names)) && text.length <= ID_UNITS_MAX
            ? (shout("order", text) ?? undefined)
            : undefined,
        );
        const body = bytes(print(tree, () => undefined));
        expect(runThrough(rewriterOf(entityFields(...paths)), cutAt(body, cuts))).toEqual({ text: expected });
      }),
      { numRuns: runs(200) },
    );
  });

  it("means what JSON.parse and a map over the values give", () => {
    const map = (value: unknown): unknown => {
      if (typeof value === "string") return shout("order", value) ?? value;
      // Whole numbers that start with 1 and a digit are IDs here too.
      if (typeof value === "number" && /^\d+$/.test(`${value}`)) return shout("order", `${value}`) ?? value;
      if (Array.isArray(value)) return value.map(map);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member)]));
    };
    const anyValue = fc.jsonValue().map((value) => JSON.stringify([value, "id-7", { "id-8": ["id-9"] }]));
    fc.assert(
      fc.property(anyValue, anyCuts, (text, cuts) => {
        const out = runThrough(rewriterOf(entityFields("/**")), cutAt(bytes(text), cuts));
        if (!("text" in out)) throw new Error(JSON.stringify(out.error));
        expect(JSON.parse(out.text)).toEqual(map(JSON.parse(text)));
      }),
    );
  });

  it("is taken just when JSON.parse takes it, with any octet damaged", () => {
    const anyByte = fc.oneof(fc.nat(0x7f), fc.constantFrom(...bytes('{}[],:"\\u-+.eE019tfn \n\u0000')));
    let malformed = 0;
    fc.assert(
      fc.property(
        anyTree,
        fc.array(fc.tuple(fc.nat(), anyByte, fc.nat(2)), { maxLength: 3 }),
        anyCuts,
        (tree, damages, cuts) => {
          let body = [...bytes(print(tree, () => undefined))];
          for (const [place, byte, removed] of damages) body = body.toSpliced(place % (body.length + 1), removed, byte);
          const text = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(Uint8Array.from(body));
          // White space alone is no JSON text, and nothing to hide either.
          if (/^[ \t\r\n]*$/.test(text)) return;
          const out = runThrough(rewriterOf(entityFields("/none")), cutAt(bytes(text), cuts));
          expect("text" in out).toBe(parses(text));
          if ("text" in out) expect(out.text).toBe(text);
          else malformed++;
        },
      ),
      { numRuns: runs(300) },
    );
    expect(malformed).toBeGreaterThan(runs(40));
  });

  it("fails in the same way however it is cut", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[],:"\\u-.e01truefalsn \n\u0001') }),
        anyCuts,
        (text, cuts) => {
          const rewriter = () => rewriterOf(entityFields("/**"));
          expect(runThrough(rewriter(), cutAt(bytes(text), cuts))).toEqual(runThrough(rewriter(), [bytes(text)]));
        },
      ),
    );
  });
});

describe("what is replaced", () => {
  it.each([
    ['{"id":"id-1","other":"id-1"}', "/id", String.raw`{"id":"order \"ID-1\"\\","other":"id-1"}`],
    ['{"id":"a","id":"id-2"}', "/id", String.raw`{"id":"a","id":"order \"ID-2\"\\"}`],
    [String.raw`{"\u0069d":"\u0069d-1"}`, "/id", String.raw`{"\u0069d":"order \"ID-1\"\\"}`],
    ['["id-1",["id-1"]]', "/*", String.raw`["order \"ID-1\"\\",["id-1"]]`],
    ['["id-1","id-2"]', "/1", String.raw`["id-1","order \"ID-2\"\\"]`],
    ['"id-1"', "", String.raw`"order \"ID-1\"\\"`],
    ["12345", "", String.raw`"order \"12345\"\\"`],
    ['{"id":12,"n":12}', "/id", String.raw`{"id":"order \"12\"\\","n":12}`],
    ['{"a":{"b":[{"id":"id-1"}]}}', "/**/id", String.raw`{"a":{"b":[{"id":"order \"ID-1\"\\"}]}}`],
    ['\ufeff{"id":"id-1"}', "/id", '\ufeff{"id":"order \\"ID-1\\"\\\\"}'],
  ])("%s at %s", (text, path, expected) => expect(whole(text, path)).toEqual({ text: expected }));

  it.each([
    ["no ID", '{"id":"none"}'],
    ["null", '{"id":null}'],
    ["a container", '{"id":["id-1"]}'],
    ["a name", '{"id-1":0}'],
    ["a fraction", '{"id":12.5}'],
    ["a string too long", `{"id":"id-${"x".repeat(ID_UNITS_MAX)}"}`],
    ["an empty body", ""],
    ["white space around", ' \n{"x":"id-1"}\t\r\n '],
  ])("%s stays as it is", (_, text) => expect(whole(text, "/id")).toEqual({ text }));

  it("a string of the greatest length, all of it in escapes, is still an ID", () => {
    const text = `id-${"x".repeat(ID_UNITS_MAX - 3)}`;
    const raw = [...text].map((unit) => `\\u00${unit.charCodeAt(0).toString(16)}`).join("");
    const body = bytes(`{"id":"${raw}"}`);
    const chunks = Array.from(body, (byte) => Uint8Array.of(byte));
    expect(runThrough(rewriterOf(entityFields("/id")), chunks)).toEqual({
      text: `{"id":${JSON.stringify(shout("order", text))}}`,
    });
  });

  it("each place gets the entity of its path", () => {
    const fields = [
      { path: "/id", entity: "order" },
      { path: "/customer/id", entity: "person" },
    ];
    expect(runThrough(rewriterOf(fields), [bytes('{"id":"id-1","customer":{"id":"id-1"}}')])).toEqual({
      text: String.raw`{"id":"order \"ID-1\"\\","customer":{"id":"person \"ID-1\"\\"}}`,
    });
  });
});

describe("a body that is not JSON", () => {
  it.each([
    ["{", { reason: "truncated" }],
    ['{"id":"id-1', { reason: "truncated" }],
    ["12.", { reason: "truncated" }],
    ["\ufeff", { reason: "truncated" }],
    ['{"id":"id-1"}}', { reason: "malformed", at: 13 }],
    ['{"a":1,}', { reason: "malformed", at: 7 }],
    ["[01]", { reason: "malformed", at: 2 }],
    ['{"a":1} {"a":2}', { reason: "malformed", at: 8 }],
    ['["a\nb"]', { reason: "malformed", at: 3 }],
    ["[1 2]", { reason: "malformed", at: 3 }],
    ["{'id':1}", { reason: "malformed", at: 1 }],
    ["[\ufeff1]", { reason: "malformed", at: 1 }],
    ["NaN", { reason: "malformed", at: 0 }],
  ])("%j is broken off", (text, error) => expect(whole(text, "/id")).toEqual({ error }));

  it("gives out nothing after the fault, not even what is well formed", () => {
    const rewriter = rewriterOf(entityFields("/id"));
    const error = { reason: "malformed", at: 1 };
    expect(rewriter.push(bytes("}{"))).toEqual({ ok: false, error: { reason: "malformed", at: 0 } });
    const other = rewriterOf(entityFields("/id"));
    expect(other.push(bytes("[]".slice(0, 1)))).toMatchObject({ ok: true });
    expect(other.push(bytes("}"))).toEqual({ ok: false, error });
    expect(other.push(bytes('"id-1"]'))).toEqual({ ok: false, error });
    expect(other.end()).toEqual({ ok: false, error });
  });

  it(`nests ${DEPTH_MAX} deep, and no deeper`, () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(whole(nested(DEPTH_MAX), "/**")).toEqual({ text: nested(DEPTH_MAX) });
    expect(whole(nested(DEPTH_MAX + 1), "/**")).toEqual({ error: { reason: "too-deep", max: DEPTH_MAX } });
    const objects = `${'{"a":'.repeat(DEPTH_MAX + 1)}1${"}".repeat(DEPTH_MAX + 1)}`;
    expect(whole(objects, "/a")).toEqual({ error: { reason: "too-deep", max: DEPTH_MAX } });
  });
});

describe("lines of JSON", () => {
  const lines = (text: string, cuts: readonly number[] = []) =>
    runThrough(rewriterOf(entityFields("/id"), "lines"), cutAt(bytes(text), cuts));

  it("are each a document", () => {
    fc.assert(
      fc.property(anyCuts, (cuts) => {
        expect(lines('{"id":"id-1"}\n\n12 \r\n{"id":"id-2"}', cuts)).toEqual({
          text: '{"id":"order \\"ID-1\\"\\\\"}\n\n12 \r\n{"id":"order \\"ID-2\\"\\\\"}',
        });
      }),
    );
  });

  it("are parted by line feeds alone", () =>
    expect(lines('{"id":1} {"id":2}')).toEqual({ error: { reason: "malformed", at: 9 } }));
});

describe("memory", () => {
  it("holds back one value at the most, however long strings and names are", () => {
    const long = "y".repeat(100_000);
    const body = bytes(`{"${long}":"${long}","id":"${long}","id":"id-${long}","a":{"id":"id-1"}}`);
    for (const size of [1, 7, 1000, 65_536]) {
      const rewriter = rewriterOf(entityFields("/**/id"));
      // One `expect` for all pieces: it costs more than a piece.
      let passed = 0;
      let heldMost = 0;
      let strayMost = 0;
      for (let at = 0; at < body.length; at += size) {
        const pieces = rewriter.push(body.subarray(at, at + size));
        if (!pieces.ok) throw new Error(JSON.stringify(pieces.error));
        passed += pieces.value.reduce((sum, piece) => sum + piece.length, 0);
        const held = rewriter.bufferedBytes();
        heldMost = Math.max(heldMost, held);
        strayMost = Math.max(strayMost, Math.abs(Math.min(body.length, at + size) - passed - held));
      }
      expect(heldMost).toBeLessThanOrEqual(BUFFER_BYTES_MAX);
      expect(strayMost).toBeLessThanOrEqual(20);
      expect(rewriter.end()).toEqual({ ok: true, value: [] });
    }
  });

  it("streams 50 MB with 100,000 IDs", () => {
    const rewriter = rewriterOf(entityFields("/orders/*/id"));
    const text = (id: string) => `{"id":${id},"note":"${"n".repeat(480)}"},`;
    const block = bytes(text('"id-1234567890"').repeat(100));
    const written = bytes(JSON.stringify(shout("order", "id-1234567890")));
    let replaced = 0;
    let passed = 0;
    let taken = 0;
    let heldMost = 0;
    const take = (pieces: ReturnType<typeof rewriter.push>): void => {
      if (!pieces.ok) throw new Error(JSON.stringify(pieces.error));
      for (const piece of pieces.value) {
        passed += piece.length;
        if (piece.length === written.length && piece.every((byte, at) => byte === written[at])) replaced++;
      }
      heldMost = Math.max(heldMost, rewriter.bufferedBytes());
    };
    take(rewriter.push(bytes('{"orders":[')));
    for (let round = 0; round < 1000; round++) {
      // Cut at another place each time.
      const cut = (round * 7919) % block.length;
      take(rewriter.push(block.subarray(0, cut)));
      take(rewriter.push(block.subarray(cut)));
      taken += block.length;
    }
    take(rewriter.push(bytes("{}]}")));
    take(rewriter.end());
    expect(taken).toBeGreaterThan(50e6);
    expect(replaced).toBe(100_000);
    expect(passed).toBe(taken + 100_000 * 12 + 15);
    expect(heldMost).toBeLessThanOrEqual('"id-1234567890"'.length);
  });
});
