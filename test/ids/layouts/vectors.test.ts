import { describe, expect, test } from "vitest";
import {
  type FieldValue,
  formatShortKey,
  fromSql,
  groupOfClass,
  hotguid,
  isoTime,
  iuid,
  type Layout,
  luuid,
  mintHotguid,
  mintIuid,
  mintLuuid,
  parseShortKey,
  parseUuid,
  startHotguid,
  startIuid,
  toSql,
  type Words,
} from "../../../src/ids/index.ts";
import { readCases, textOf, unhandled, type VectorCase } from "./vector-file.ts";

/** All cases of the vector files. A case without a handler for its operation fails. */

const NO_ENTROPY = { word: () => 0 };

/** Reasons that the vectors name differently from `ParseError`. */
const REASONS: Readonly<Record<string, string>> = {
  version: "fixed-bits",
  variant: "fixed-bits",
  "reserved-bits": "fixed-bits",
};

const hex = (value: FieldValue, digits: number): string => value.toString(16).padStart(digits, "0");
const hexOf = (words: Words): string => words.map((word) => hex(word, 8)).join("");

interface Format {
  readonly layout: Layout;
  /** The decoded fields by their names in the vector file. */
  readonly fields: (values: Readonly<Record<string, FieldValue>>, words: Words) => VectorCase["fields"];
  /** The field values in a case's input. */
  readonly values: (input: NonNullable<VectorCase["input"]>) => Record<string, FieldValue>;
  /** Whether a minter also rejects the input. */
  readonly minterRefuses: (input: NonNullable<VectorCase["input"]>) => boolean;
}

const formats: Readonly<Record<string, Format>> = {
  iuid: {
    layout: iuid,
    fields: (values, words) => ({
      unixMs: values["mintedAt"] as number,
      time: isoTime(iuid.mintedAtMs?.(words) ?? Number.NaN) ?? null,
      version: values["version"] as number,
      ver1: values["formatVersion"] as number,
      country: values["country"] as number,
      serviceEntity: values["service"] as number,
      randA: String(values["random"]),
    }),
    values: ({ unixMs, country, serviceEntity, randA }) => ({
      mintedAt: Number(unixMs),
      country: Number(country),
      service: Number(serviceEntity),
      random: BigInt(randA as string),
    }),
    minterRefuses: ({ unixMs, country, serviceEntity }) => {
      const minter = startIuid({ country: Number(country), service: Number(serviceEntity) });
      return !minter.ok || !mintIuid(minter.value, Number(unixMs), NO_ENTROPY).ok;
    },
  },
  hotguid: {
    layout: hotguid,
    fields: (values, words) => {
      const machinePid = hex(values["machine"] as number, 6) + hex(values["process"] as number, 4);
      const bytes = hexOf(words).match(/../g) ?? [];
      const dotnet = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map((byte) => bytes[byte]).join("");
      return {
        timestamp: values["mintedAt"] as number,
        time: isoTime(hotguid.mintedAtMs?.(words) ?? Number.NaN) ?? null,
        machinePidHex: machinePid,
        machineHashHex: machinePid.slice(0, 6),
        processId16: values["process"] as number,
        counter: values["counter"] as number,
        shardKey: values["shardKey"] as number,
        dotnetBytesHex: dotnet,
      };
    },
    values: ({ unixSeconds, machinePidHex, counter, shardKey }) => ({
      mintedAt: Number(unixSeconds),
      machine: Number.parseInt(String(machinePidHex).slice(0, 6), 16),
      process: Number.parseInt(String(machinePidHex).slice(6), 16),
      counter: Number(counter),
      shardKey: Number(shardKey),
    }),
    minterRefuses: ({ unixSeconds, counter, shardKey }) => {
      const minter = startHotguid({ machine: 1, process: 1 }, { shardKey: Number(shardKey) });
      // A minter has its own counter, so a counter out of range is not an input.
      return (
        Number(counter) > 0xffffff ||
        !minter.ok ||
        !mintHotguid(minter.value, Number(unixSeconds) * 1000, NO_ENTROPY).ok
      );
    },
  },
  luuid: {
    layout: luuid,
    fields: (values) => ({
      primaryKey: String(values["primaryKey"]),
      primaryKeyHex: formatShortKey(values["primaryKey"] as number),
      groupId: values["group"] as number,
      groupHex: hex(values["group"] as number, 3),
      randomHex: hex(values["random"] as bigint, 15),
    }),
    values: ({ groupId, id, randomHex }) => ({
      group: Number(groupId),
      primaryKey: BigInt(id as string),
      random: BigInt(`0x${randomHex}`),
    }),
    minterRefuses: ({ groupId, id }) => !mintLuuid({ group: Number(groupId), primaryKey: Number(id) }, NO_ENTROPY).ok,
  },
};

const checkMint = ({ layout, fields, values, minterRefuses }: Format, vector: VectorCase): void => {
  const { input = {}, valid } = vector;
  const words = layout.encode(values(input));
  expect(words.ok).toBe(valid);
  expect(minterRefuses(input)).toBe(!valid);
  if (!words.ok) {
    expect(words.error.reason).toBe("out-of-range");
    return;
  }
  expect(layout.format(words.value)).toBe(textOf(vector));
  expect(fields(layout.decode(words.value), words.value)).toEqual(vector.fields);
  expect(hexOf(words.value)).toBe(vector.bytesHex);
};

const checkParse = ({ layout, fields }: Format, vector: VectorCase): void => {
  const words = layout.parse(textOf(vector));
  if (!words.ok) {
    expect(vector.valid).toBe(false);
    expect(words.error.reason).toBe(REASONS[vector.error ?? ""] ?? vector.error);
    return;
  }
  expect(vector.valid).toBe(true);
  expect(fields(layout.decode(words.value), words.value)).toEqual(vector.fields);
  expect(hexOf(words.value)).toBe(vector.bytesHex);
  expect(layout.format(words.value)).toBe(vector.canonical);
};

const checkShortKey = (vector: VectorCase): void => {
  const key = parseShortKey(textOf(vector));
  if (!key.ok) {
    expect(vector.valid).toBe(false);
    expect(key.error.reason).toBe(vector.error);
    return;
  }
  expect({ primaryKey: String(key.value), primaryKeyHex: formatShortKey(key.value) }).toEqual(vector.fields);
  expect(formatShortKey(key.value)).toBe(vector.text);
};

describe.each(Object.entries(formats))("%s", (name, format) => {
  test.each(readCases(name))("$id $op", (vector) => {
    const short = vector.input?.["form"] === "short";
    if (vector.op === "mint") checkMint(format, vector);
    else if (vector.op === "parse" && short) checkShortKey(vector);
    else if (vector.op === "parse" && vector.input === undefined) checkParse(format, vector);
    else unhandled(vector);
  });
});

test.each(readCases("hotguid-sql"))("$id $op", (vector) => {
  if (vector.op !== "convert") unhandled(vector);
  const words = parseUuid(textOf(vector));
  const convert = { sqlguid: toSql, guid: fromSql }[String(vector.input?.["to"])];
  expect(words.ok && convert !== undefined && hotguid.format(convert(words.value))).toBe(vector.fields["result"]);
});

test.each(readCases("luuid-crc12"))("$id $op", (vector) => {
  if (vector.op !== "hash" || vector.input?.["charset"] !== "UTF-8") unhandled(vector);
  expect(groupOfClass(textOf(vector))).toBe(vector.fields["crc"]);
});

test("the files hold what they held when they were copied", () => {
  const counts = ["iuid", "hotguid", "hotguid-sql", "luuid", "luuid-crc12"].map((name) => readCases(name).length);
  expect(counts).toEqual([34, 62, 27, 36, 14]);
});
