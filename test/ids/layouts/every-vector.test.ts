import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type ArchitectEncoding,
  type ArchitectType,
  architectText,
  architectValue,
  checkShortComb,
  compareSqlServer,
  compareWords,
  formatAs,
  formatUuid,
  isoTime,
  parseAs,
  parseLenientUuid,
  parseUuid,
  type Result,
  shortPrefixComb,
  shortSuffixComb,
  splitLongs,
  swapComb,
  swapShortComb,
  uuidMax,
  uuidNil,
  uuidV1,
  uuidV2,
  uuidV3,
  uuidV4,
  uuidV5,
  uuidV6,
  uuidV7,
  uuidV8,
  type Words,
} from "../../../src/ids/index.ts";
import { DECIMAL } from "../../../src/ids/text/alphabets.ts";
import { radixText } from "../../../src/ids/text/radix.ts";
import { readCases, textOf, unhandled, type VectorCase } from "./vector-file.ts";
import { vectorLayouts } from "./vector-layouts.ts";

/** All cases of the files that `vectors.test.ts` does not cover. A case without a handler for its operation fails. */

/** Reasons that the vectors name differently. Absent ones have the same name. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  version: ["fixed-bits"],
  variant: ["fixed-bits"],
  sign: ["alphabet"],
  case: ["alphabet"],
  "leading-zero": ["shape"],
  padding: ["shape"],
  alphabet: ["alphabet", "shape"],
  range: ["range", "fixed-bits", "length"],
  length: ["length", "shape"],
};

const unwrap = <Value>(result: Result<Value, unknown>): Value => {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
};

const hexOf = (words: Words, digits: number): string =>
  words
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("")
    .slice(-digits);

const refused = (vector: VectorCase, error: { readonly reason: string }): void => {
  expect(vector.valid).toBe(false);
  expect(REASONS[vector.error ?? ""] ?? [vector.error]).toContain(error.reason);
};

const checkParse = (name: string, vector: VectorCase): void => {
  const described = vectorLayouts[name] ?? unhandled(vector);
  const input = vector.input ?? {};
  const text = textOf(vector);
  const layout = described.layout(input);
  const form = described.form?.(input, text) ?? layout.table.text.name;
  const words = parseAs(layout, form, text);
  if (!words.ok) {
    refused(vector, words.error);
    return;
  }
  expect(vector.valid).toBe(true);
  const fields = described.fields(layout.decode(words.value), words.value, layout);
  expect(name === "sid" ? { form, ...fields } : fields).toEqual(vector.fields);
  if (vector.bytesHex !== undefined) expect(hexOf(words.value, vector.bytesHex.length)).toBe(vector.bytesHex);
  // Files without a canonical text list the texts of all forms among their fields.
  const printed = vector.canonical ?? vector.fields[String(input["encoding"])];
  expect(formatAs(layout, form, words.value)).toEqual({ ok: true, value: printed });
};

const checkShortCombCase = (vector: VectorCase): void => {
  const { input = {} } = vector;
  const layout = input["kind"] === "suffix" ? shortSuffixComb : shortPrefixComb;
  const words = unwrap(layout.parse(textOf(vector)));
  const place = checkShortComb(layout, words, Number(input["nowMs"]), {
    intervalMs: Number(input["intervalMs"]),
    pastIntervals: Number(input["pastIntervals"]),
    futureIntervals: Number(input["futureIntervals"]),
  });
  expect(place.ok).toBe(vector.valid);
  if (!place.ok) {
    expect(place.error.reason).toBe("outside-window");
    return;
  }
  const { interval: counter, nowInterval: nowCounter, delta } = place.value;
  expect({ counter, nowCounter, delta }).toEqual(vector.fields);
};

/** The input's random bits are in the same places as the ID's. */
const checkShortCombMint = (vector: VectorCase): void => {
  const { input = {} } = vector;
  const layout = input["kind"] === "suffix" ? shortSuffixComb : shortPrefixComb;
  const randomWord = (String(input["randomHex"]).match(/.{8}/g) ?? []).map((word) => Number.parseInt(word, 16));
  const random = layout.field("random")?.readBig(randomWord) as bigint;
  const interval = Math.floor(Number(input["unixMs"]) / Number(input["intervalMs"])) % 65_536;
  const words = unwrap(layout.encode({ interval, random }));
  expect(layout.format(words)).toBe(vector.text);
  expect({ counter: interval }).toEqual(vector.fields);
};

const checkConvert = (vector: VectorCase): void => {
  const swap = { "16-bit": swapShortComb, "48-bit": swapComb }[String(vector.input?.["swap"])] ?? unhandled(vector);
  const words = unwrap(parseUuid(textOf(vector)));
  expect(formatUuid(swap(words))).toBe(vector.fields["result"]);
  expect(swap(swap(words))).toEqual(words);
};

const checkSplit = (vector: VectorCase): void => {
  const words = unwrap(radixText({ alphabet: DECIMAL, bits: 128 }).parse(textOf(vector)));
  const pair = splitLongs(words);
  expect(pair.ok).toBe(vector.valid);
  if (pair.ok) expect({ upper: `${pair.value.upper}`, lower: `${pair.value.lower}` }).toEqual(vector.fields);
  else expect(pair.error.reason).toBe("half-out-of-range");
};

describe.each(Object.keys(vectorLayouts))("%s", (name) => {
  test.each(readCases(name))("$id $op", (vector) => {
    if (vector.op === "parse") checkParse(name, vector);
    else if (vector.op === "check") checkShortCombCase(vector);
    else if (vector.op === "mint" && name === "short-comb") checkShortCombMint(vector);
    else if (vector.op === "convert") checkConvert(vector);
    else if (vector.op === "split") checkSplit(vector);
    else unhandled(vector);
  });
});

const UUIDS = [uuidNil, uuidMax, uuidV1, uuidV2, uuidV3, uuidV4, uuidV5, uuidV6, uuidV7, uuidV8];

const uuidFields = (words: Words): VectorCase["fields"] => {
  const layout = UUIDS.find(({ fits }) => fits(words));
  if (layout === uuidNil || layout === uuidMax) return { kind: layout.name.slice(5) };
  const values = layout?.decode(words) ?? {};
  const unixMs = layout?.mintedAtMs?.(words);
  const random = values["random"] as bigint;
  return {
    kind: "uuid",
    variant: "rfc9562",
    version: values["version"] as number,
    ...(unixMs === undefined ? {} : { unixMs, time: isoTime(unixMs) ?? null }),
    ...(layout === uuidV1 || layout === uuidV6
      ? {
          ticks100ns: String(values["mintedAt"]),
          clockSeq: values["clockSequence"] as number,
          nodeHex: values["node"]?.toString(16).padStart(12, "0") as string,
        }
      : {}),
    ...(layout === uuidV7 ? { randA: Number(random >> 62n), randB: String(BigInt.asUintN(62, random)) } : {}),
  };
};

test.each(readCases("uuid"))("$id $op", (vector) => {
  if (vector.op !== "parse") unhandled(vector);
  const parse = vector.input?.["mode"] === "lenient" ? parseLenientUuid : parseUuid;
  const words = parse(textOf(vector));
  if (!words.ok) {
    refused(vector, words.error);
    return;
  }
  expect(vector.valid).toBe(true);
  expect(uuidFields(words.value)).toEqual(vector.fields);
  expect(hexOf(words.value, 32)).toBe(vector.bytesHex);
  expect(formatUuid(words.value)).toBe(vector.canonical);
});

test.each(readCases("architect-codec"))("$id $op", (vector) => {
  const { type, encoding, value } = vector.input ?? {};
  const form = architectText(type as ArchitectType, encoding as ArchitectEncoding);
  const plain = architectValue(type as ArchitectType);
  if (vector.op === "encode") {
    expect(form.format(unwrap(plain.parse(String(value))))).toBe(vector.text);
    return;
  }
  if (vector.op !== "decode") unhandled(vector);
  const words = form.parse(textOf(vector));
  if (!words.ok) {
    refused(vector, words.error);
    return;
  }
  expect({ value: plain.format(words.value) }).toEqual(vector.fields);
  expect(form.format(words.value)).toBe(vector.canonical);
  expect(hexOf(words.value, vector.bytesHex?.length ?? 0)).toBe(vector.bytesHex);
});

test.each(readCases("sqlserver-order"))("$id $op", ({ id, op, input = {}, fields }) => {
  const compare = input["order"] === "sqlserver" ? compareSqlServer : compareWords;
  const wordsOf = (text: unknown): Words => unwrap(parseUuid(String(text)));
  if (op === "compare") {
    expect(compare(wordsOf(input["a"]), wordsOf(input["b"]))).toBe(fields["result"]);
    expect(compare(wordsOf(input["b"]), wordsOf(input["a"])) + compare(wordsOf(input["a"]), wordsOf(input["b"]))).toBe(
      0,
    );
  } else {
    expect([id, op]).toEqual([id, "sort"]);
    const items = (input["items"] as unknown as readonly string[]).map(wordsOf);
    expect(items.toSorted(compare).map(formatUuid)).toEqual(fields["sorted"]);
  }
});

/**
 * Covered elsewhere: `public-identity` by the public ID tests, the first five by `vectors.test.ts`, the last two by
 * their own tests.
 */
const ELSEWHERE = [
  "iuid",
  "hotguid",
  "hotguid-sql",
  "luuid",
  "luuid-crc12",
  "public-identity",
  "ambiguity",
  "distributed-id-generator",
];

/** `client-id` is our own file and has a test of its own. */
test("each of the 30 files has its test, and all 1109 cases are there", () => {
  const names = readdirSync(new URL("../../vectors", import.meta.url)).flatMap(
    (file) => file.match(/^(?!client-id)(.*)\.json$/)?.[1] ?? [],
  );
  const run = [...Object.keys(vectorLayouts), ...ELSEWHERE, "uuid", "architect-codec", "sqlserver-order"];
  expect(run.toSorted()).toEqual(names.toSorted());
  expect(names.length).toBe(30);
  expect(names.reduce((sum, name) => sum + readCases(name).length, 0)).toBe(1109);
});
