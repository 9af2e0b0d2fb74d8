import type { Words } from "../layout/layout.ts";
import { fieldOf, maskOf } from "../layout/words.ts";
import { luuid } from "../layouts/builtin.ts";
import { err, ok, type Result } from "../result.ts";
import { checkKey, type MintError, type RandomWords } from "./mint.ts";

const primaryKey = /* @__PURE__ */ fieldOf(luuid, "primaryKey");
const group = /* @__PURE__ */ fieldOf(luuid, "group");

/** The random field is the low bits of the third word and all of the fourth. */
const HEAD = 2;
const TAIL = 3;
const RANDOM_HEAD_MASK = /* @__PURE__ */ maskOf(luuid, "random", HEAD);

/** The primary key comes from a sequence that never repeats. It orders the IDs, so the minter has no state. */
export interface LuuidKeys {
  readonly group: number;
  readonly primaryKey: number;
}

/** An ID of a group and a primary key, with 60 random bits. Error: `key-out-of-range`. */
export const mintLuuid = (keys: LuuidKeys, entropy: RandomWords): Result<Words, MintError> => {
  const fault = checkKey(primaryKey, keys.primaryKey) ?? checkKey(group, keys.group);
  if (fault !== undefined) return err(fault);
  const words = luuid.fixed.value.slice();
  words[HEAD] = ((words[HEAD] as number) | (entropy.word() & RANDOM_HEAD_MASK)) >>> 0;
  words[TAIL] = entropy.word() >>> 0;
  primaryKey.write(words, keys.primaryKey);
  group.write(words, keys.group);
  return ok(words);
};

/** CRC-12 as LUUID computes it: polynomial 0x80F reflected, initial value and final XOR all ones. */

const REVERSED_POLYNOMIAL = 0xf01;
const ALL_ONES = 0xfff;
const QUESTION_MARK = 0x3f;

/**
 * Group number of an LUUID, 0 to 4095: the CRC-12 of the class name, a string in UTF-8. Java before version 18 used the
 * encoding of its platform: pass such a name's bytes.
 */
export const groupOfClass = (className: string | Uint8Array): number => {
  let crc = ALL_ONES;
  for (const byte of typeof className === "string" ? utf8Bytes(className) : className) {
    crc ^= byte;
    for (let round = 0; round < 8; round++) crc = (crc >>> 1) ^ (crc & 1 ? REVERSED_POLYNOMIAL : 0);
  }
  return crc ^ ALL_ONES;
};

/**
 * UTF-8, RFC 3629. A lone surrogate becomes `?`, as in Java's `String.getBytes`, which produced the published groups.
 */
function* utf8Bytes(text: string): Generator<number> {
  for (const character of text) {
    const point = character.codePointAt(0) as number;
    if (point < 0x80) yield point;
    else if (point < 0x800) yield* [0xc0 | (point >> 6), continuation(point)];
    else if (point >= 0xd800 && point <= 0xdfff) yield QUESTION_MARK;
    else if (point < 0x10000) yield* [0xe0 | (point >> 12), continuation(point >> 6), continuation(point)];
    else yield* [0xf0 | (point >> 18), continuation(point >> 12), continuation(point >> 6), continuation(point)];
  }
}

const continuation = (bits: number): number => 0x80 | (bits & 0x3f);

/** A group as it stands in the text of its LUUIDs: three hex digits. */
export const groupText = (group: number | string): string => Number(group).toString(16).padStart(3, "0");
