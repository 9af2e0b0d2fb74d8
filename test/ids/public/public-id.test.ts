import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wordsToBig } from "../../../src/ids/layout/words.ts";
import {
  decodePublic,
  encodePublic,
  type KeyRing,
  keyRing,
  PUBLIC_ID_MAX,
  type PublicForm,
  type PublicType,
} from "../../../src/ids/public/index.ts";
import { blockOfId, swapGuid } from "../../../src/ids/public/public-id.ts";
import { formatPublicText, parsePublicText } from "../../../src/ids/public/public-text.ts";
import { anyDamage, anyWords } from "../arbitraries.ts";
import { readCases, textOf, unhandled, type VectorCase } from "../layouts/vector-file.ts";
import { anyBytes, bytesOf, hexOf, nodeDecrypt, unwrap, wordsOfBytes } from "./bytes.ts";

const TYPES: readonly PublicType[] = ["ulong", "long", "decimal", "guid", "uint128"];
const FORMS: readonly PublicForm[] = ["uuid", "base62", "hex"];
/** Reasons that the vectors name differently. */
const REASONS: Readonly<Record<string, string>> = { range: "out-of-range", sign: "out-of-range" };
const FORM_NAMES: Readonly<Record<string, PublicForm>> = { alphanumeric: "base62", hexadecimal: "hex" };

const bytesOfBase64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "base64"));
const ringOf = (...keys: readonly Uint8Array[]): KeyRing =>
  unwrap(keyRing(keys.map((key, index) => ({ id: `k${index}`, key }))));
const inputOf = ({ input = {} }: VectorCase) => ({
  ring: ringOf(bytesOfBase64(String(input["key"]))),
  type: String(input["type"]) as PublicType,
  form: input["encoding"] === undefined ? "uuid" : (FORM_NAMES[String(input["encoding"])] as PublicForm),
});
const idOf = (text: string, type: PublicType): bigint =>
  type === "guid" ? BigInt(`0x${text.replaceAll("-", "")}`) : BigInt(text);

const checkMint = (vector: VectorCase): void => {
  const { ring, type } = inputOf(vector);
  const id = idOf(String(vector.input?.["id"]), type);
  const text = encodePublic(ring, id, { type, form: "uuid" });
  expect(text.ok).toBe(vector.valid);
  if (!text.ok) {
    expect(text.error.reason).toBe(REASONS[vector.error ?? ""]);
    return;
  }
  const words = unwrap(parsePublicText(text.value, "uuid"));
  expect(text.value).toBe(textOf(vector));
  expect(hexOf(bytesOf(words))).toBe(vector.bytesHex);
  expect({
    alphanumeric: unwrap(encodePublic(ring, id, { type, form: "base62" })),
    plaintextHex: hexOf(bytesOf(blockOfId(id, type))),
    ciphertextHex: hexOf(bytesOf(swapGuid(words))),
  }).toEqual(vector.fields);
  expect(unwrap(encodePublic(ring, id, { type, form: "hex" }))).toBe(vector.bytesHex?.toUpperCase());
};

const checkParse = (vector: VectorCase): void => {
  const { ring, type, form } = inputOf(vector);
  const decoded = decodePublic(ring, textOf(vector), { type, form });
  expect(decoded.ok).toBe(vector.valid);
  if (decoded.ok) {
    expect(decoded.value.id).toBe(idOf(String(vector.fields["id"]), type));
    expect(decoded.value.canonical).toBe(vector.text);
    expect(hexOf(bytesOf(unwrap(parsePublicText(textOf(vector), form))))).toBe(vector.bytesHex);
  } else expect(decoded.error.reason).toBe(vector.error);
};

test.each(readCases("public-identity"))("$id $op", (vector) => {
  if (vector.op === "mint") checkMint(vector);
  else if (vector.op === "parse") checkParse(vector);
  else unhandled(vector);
});

test("the file holds what it held when it was copied", () => expect(readCases("public-identity")).toHaveLength(96));

describe("properties", () => {
  const anyKey = anyBytes(16, 24, 32);
  const anyType = fc.constantFrom(...TYPES);
  const anyForm = fc.constantFrom(...FORMS);
  const anyIdOf = (type: PublicType) =>
    fc.oneof(fc.bigInt(0n, PUBLIC_ID_MAX[type]), fc.constantFrom(0n, PUBLIC_ID_MAX[type]));
  const anyCase = fc
    .record({ key: anyKey, type: anyType, form: anyForm })
    .chain((given) => anyIdOf(given.type).map((id) => ({ ...given, id })));

  test("decode gives back what encode took", () => {
    fc.assert(
      fc.property(anyCase, ({ key, type, form, id }) => {
        const ring = ringOf(key);
        const text = unwrap(encodePublic(ring, id, { type, form }));
        expect(decodePublic(ring, text, { type, form })).toEqual({
          ok: true,
          value: { id, key: "k0", canonical: text },
        });
      }),
    );
  });

  test("a value out of range has no public ID", () => {
    fc.assert(
      fc.property(anyType, anyForm, fc.bigInt(1n, 2n ** 130n), (type, form, excess) => {
        const ring = ringOf(new Uint8Array(16));
        for (const id of [-excess, PUBLIC_ID_MAX[type] + excess])
          expect(encodePublic(ring, id, { type, form })).toMatchObject({
            ok: false,
            error: { reason: "out-of-range" },
          });
      }),
    );
  });

  test("only hexadecimal case is free, and the canonical text is given", () => {
    fc.assert(
      fc.property(anyCase, fc.nat(), ({ key, form, id }, seed) => {
        const ring = ringOf(key);
        const kind = { type: "uint128", form } as const;
        const text = unwrap(encodePublic(ring, id, kind));
        fc.assert(
          fc.property(anyDamage(text), (damaged) => {
            const decoded = decodePublic(ring, damaged, kind);
            if (!decoded.ok) return;
            expect(decoded.value.canonical).toBe(unwrap(encodePublic(ring, decoded.value.id, kind)));
            if (form === "base62") expect(decoded.value.canonical).toBe(damaged);
            else expect(decoded.value.canonical.toLowerCase()).toBe(damaged.toLowerCase());
          }),
          { numRuns: 20, seed },
        );
      }),
    );
  });

  test("a random text is accepted just when Node's AES finds a value in it", () => {
    fc.assert(
      fc.property(anyKey, anyType, anyWords(), (key, type, words) => {
        const plaintext = wordsOfBytes(nodeDecrypt(key, bytesOf(swapGuid(words))));
        const text = formatPublicText(words, "uuid");
        const decoded = decodePublic(ringOf(key), text, { type, form: "uuid" });
        if (type === "guid" || type === "uint128") expect(unwrap(decoded).id).toBe(wordsToBig(plaintext));
        // The probability is at most 2^-35, so these inputs never hit it.
        else expect(decoded).toEqual({ ok: false, error: { reason: "forged" } });
      }),
    );
  });

  test("ulong and decimal of one value share their public ID, as in the .NET library", () => {
    fc.assert(
      fc.property(anyIdOf("ulong"), (id) => {
        const ring = ringOf(new Uint8Array(32));
        const [ulong, decimal] = (["ulong", "decimal"] as const).map((type) =>
          encodePublic(ring, id, { type, form: "uuid" }),
        );
        expect(ulong).toEqual(decimal);
      }),
    );
  });
});
