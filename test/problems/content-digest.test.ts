import { describe, expect, it } from "vitest";
import { digestText, isImpossible, readContentDigest } from "../../src/features/create/serve/content-digest.ts";

/** RFC 9530 §2 and §5 in the grammar of RFC 9651. */

const A = `sha-256=:${btoa("a".repeat(32))}:`;
const B = `sha-256=:${btoa("b".repeat(32))}:`;
const L = `sha-512=:${btoa("c".repeat(64))}:`;

it.each<[string, string, readonly string[]]>([
  ["one", A, [A]],
  ["the longer one", L, [L]],
  ["both, in one order", `${L}, ${A}`, [A, L]],
  ["both without a space, or with a tab (§4.2)", `${A}\t,${L}`, [A, L]],
  ["spaces around", `  ${A}  `, [A]],
  ["the last one of a key (§4.2.2)", `${A}, ${B}`, [B]],
  ["beside algorithms that are insecure or unknown (§5)", `md5=:AAAA:, x-own.2*_-=:AAAA:, ${A}`, [A]],
  ["with parameters (§3.1.2)", `${A};q=1;a="x,\\"y";b;c=?1;d=@17;e=1.5;f=*t/k:;g=:AA==:`, [A]],
  ["without its padding (§4.2.7)", A.replace("=:", "#").replaceAll("=", "").replace("#", "=:"), [A]],
])("reads %s", (_, field, texts) => {
  expect(readContentDigest(field).map(digestText)).toEqual(texts);
});

it.each([
  ["none", null],
  ["an empty field", ""],
  ["unknown algorithms alone", "md5=:AAAA:, unixsum=:AAAA:"],
  ["a name in capitals (§3.1.2)", A.replace("sha", "SHA")],
  ["a token", "sha-256=abc"],
  ["a string", 'sha-256="abc"'],
  ["a boolean", "sha-256"],
  ["a list", "sha-256=(:AAAA: :AAAA:)"],
  ["a number", "sha-256=5"],
  ["a good one beside a value of another type", `${A}, sha-512=abc`],
  ["a good one beside an unknown algorithm of another type", `md5=abc, ${A}`],
  ["a comma at the end (§4.2.2)", `${A},`],
  ["an empty member", `${A},, ${L}`],
  ["no comma", `${A} ${L}`],
  ["a byte sequence without its end", A.slice(0, -1)],
  ["characters that base64 does not have", "sha-256=:AA-_:"],
  ["base64 of one character", "sha-256=:A:"],
  ["the older field's form (RFC 3230)", `sha-256=${btoa("a".repeat(32))}`],
  ["spaces around the equals sign", A.replace("=:", " = :")],
  ["a parameter without a name", `${A};=1`],
])("ignores %s as a whole", (_, field) => {
  expect(readContentDigest(field)).toEqual([]);
});

describe("a digest", () => {
  it.each<[string, boolean]>([
    [A, false],
    [L, false],
    ["sha-256=::", true],
    [L.replace("512", "256"), true],
    [A.replace("256", "512"), true],
  ])("%s that no body has: %s", (field, isWrong) => {
    expect(readContentDigest(field).map(isImpossible)).toEqual([isWrong]);
  });
});

it("reads a long field in a moment", () => {
  const long = `a=(${":AA==: ".repeat(10_000)}), ${'b="\\\\'.repeat(10_000)}`;
  expect(readContentDigest(long)).toEqual([]);
});
