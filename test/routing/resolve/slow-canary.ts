import { hotguid, hotguidSql, type Layout, luuid, type Words } from "../../../src/ids/index.ts";

/** The slow, obvious share of an ID: what names the entity, in bytes, through the textbook's MurmurHash3. */

/** Where the ID stands, from 0 to below 1; a canary takes those below its percent / 100. */
export const slowPlace = (layout: Layout, words: Words): number =>
  slowMurmur3(bytesOf(entityOf(layout, words)), 0x9747b28cn) / 2 ** 32;

/** The part of a split that the ID is in: an equal stretch of the same line of places, by another seed. */
export const slowPart = (layout: Layout, words: Words, parts: number): number =>
  Number((BigInt(slowMurmur3(bytesOf(entityOf(layout, words)), 0x3c6ef372n)) * BigInt(parts)) / 2n ** 32n);

/** An ID that all texts of one entity have in common: by way of the fields. */
const entityOf = (layout: Layout, words: Words): Words => {
  if (layout.name !== luuid.name && layout.name !== hotguidSql.name) return words;
  const common = layout.name === luuid.name ? luuid : hotguid;
  const { version, variant, ...fields } = layout.decode(words);
  const named = layout.name === luuid.name ? { ...fields, random: 0n } : fields;
  const encoded = common.encode(named);
  if (!encoded.ok) throw new Error(`${layout.name} ${version} ${variant}: ${JSON.stringify(encoded.error)}`);
  return encoded.value;
};

const bytesOf = (words: Words): readonly bigint[] =>
  words.flatMap((word) => [0n, 8n, 16n, 24n].map((shift) => (BigInt(word) >> shift) & 0xffn));

/** After the description of MurmurHash3_x86_32, for whole blocks of four bytes. */
export const slowMurmur3 = (bytes: readonly bigint[], seed: bigint): number => {
  const cut = (value: bigint): bigint => value % 2n ** 32n;
  const turn = (value: bigint, by: bigint): bigint => cut(value * 2n ** by) + value / 2n ** (32n - by);
  let hash = seed;
  for (let at = 0; at < bytes.length; at += 4) {
    const block = bytes.slice(at, at + 4).reduceRight((value, byte) => value * 256n + byte, 0n);
    hash = hash ^ cut(turn(cut(block * 0xcc9e2d51n), 15n) * 0x1b873593n);
    hash = cut(turn(hash, 13n) * 5n + 0xe6546b64n);
  }
  hash = hash ^ BigInt(bytes.length);
  hash = cut((hash ^ (hash / 2n ** 16n)) * 0x85ebca6bn);
  hash = cut((hash ^ (hash / 2n ** 13n)) * 0xc2b2ae35n);
  return Number(hash ^ (hash / 2n ** 16n));
};
