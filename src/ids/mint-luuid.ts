import { luuid } from "./builtin.ts";
import { fieldOf, maskOf } from "./fields.ts";
import type { Words } from "./layout.ts";
import { checkKey, type MintError, type RandomWords } from "./mint.ts";
import { err, ok, type Result } from "./result.ts";

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
