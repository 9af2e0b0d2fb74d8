import {
  decodePublic,
  keyRing,
  openId,
  PUBLIC_ID_MAX,
  type PublicKind,
  RING_KEYS_MAX,
  sealId,
  sealRing,
} from "../../src/ids/public/index.ts";
import { idOfBlock } from "../../src/ids/public/public-id.ts";
import { needed } from "../lib/random.ts";
import type { Cell, Section } from "../lib/report.ts";

/** How many forged texts each public form accepts, against the odds in docs/guides/public-ids.md. */

const TEXTS = 1_000_000;
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** A correct count exceeds this many standard deviations once in two million. */
const DEVIATIONS_MAX = 5;
/** Odds at which no acceptance is expected. */
const NEVER = 1e-3 / TEXTS;

interface Form {
  readonly name: string;
  readonly odds: number;
  readonly accepts: (random: RandomWords) => boolean;
}

type RandomWords = (count: number) => number[];

export function acceptance(progress: (line: string) => void): Section {
  const rows = forms().map(({ name, odds, accepts }): Cell[] => {
    let accepted = 0;
    const random = pooledWords();
    for (let text = 0; text < TEXTS; text++) if (accepts(random)) accepted++;
    const expected = odds * TEXTS;
    const deviations = Math.abs(accepted - expected) / Math.sqrt(Math.max(expected * (1 - odds), Number.MIN_VALUE));
    const fair = odds < NEVER ? accepted === 0 : accepted === expected || deviations <= DEVIATIONS_MAX;
    if (!fair) throw new Error(`"${name}" accepted ${accepted} of ${TEXTS} texts, expected ${expected}`);
    progress(`Public IDs: ${name}: ${accepted} of ${TEXTS} accepted`);
    return [
      name,
      `${TEXTS}`,
      `${accepted}`,
      expected.toPrecision(3),
      odds === 1 ? "1" : `2^${Math.log2(odds).toFixed(1)}`,
    ];
  });
  return {
    title: "Public IDs: forged texts",
    note: "Random texts and how many were accepted. A count outside the odds stops the benchmark.",
    columns: ["form", "texts", "accepted", "expected", "odds"],
    rows,
  };
}

const key = (id: string, fill: number, bytes = 32) => ({ id, key: new Uint8Array(bytes).fill(fill) });
const rate = (values: bigint, bits: number): number => Number(values) / 2 ** bits;

function forms(): readonly Form[] {
  const ring = needed(keyRing([key("one", 1)]));
  const rings = needed(keyRing(Array.from({ length: RING_KEYS_MAX }, (_, index) => key(`k${index}`, index))));
  const decodes =
    (kind: PublicKind, keys = ring) =>
    (random: RandomWords) =>
      decodePublic(keys, hex(random(4)), { ...kind, form: "hex" }).ok;
  const { ulong, long, decimal } = PUBLIC_ID_MAX;
  // The share of base62 texts whose two blocks are below 2^64.
  const blockOdds = 2 ** 64 / 62 ** 11;
  return [
    { name: "ulong", odds: rate(ulong, 128), accepts: decodes({ type: "ulong", form: "hex" }) },
    { name: "long", odds: rate(long, 128), accepts: decodes({ type: "long", form: "hex" }) },
    { name: "decimal", odds: rate(decimal, 128), accepts: decodes({ type: "decimal", form: "hex" }) },
    {
      name: `decimal, ring of ${RING_KEYS_MAX} keys`,
      odds: RING_KEYS_MAX * rate(decimal, 128),
      accepts: decodes({ type: "decimal", form: "hex" }, rings),
    },
    {
      name: "decimal, flags word 0 by chance",
      odds: rate(decimal, 96),
      accepts: (random) => idOfBlock([0, ...random(3)], "decimal") !== undefined,
    },
    { name: "guid", odds: 1, accepts: decodes({ type: "guid", form: "hex" }) },
    {
      name: "guid, 22 random characters",
      odds: blockOdds ** 2,
      accepts: (random) => decodePublic(ring, base62(random, 22), { type: "guid", form: "base62" }).ok,
    },
    ...sealedForms(),
  ];
}

function sealedForms(): readonly Form[] {
  const one = needed(sealRing([key("one", 1)], "order"));
  const many = needed(
    sealRing(
      Array.from({ length: RING_KEYS_MAX }, (_, index) => key(`k${index}`, index, 64)),
      "order",
    ),
  );
  const elsewhere = needed(sealRing([key("one", 1)], "person"));
  const opens = (ring: typeof one) => (random: RandomWords) =>
    ring.keys.some(({ open }) => open(random(8)) !== undefined);
  return [
    { name: "sealed, 256 random bits", odds: 2 ** -128, accepts: opens(one) },
    { name: `sealed, 256 random bits, ${RING_KEYS_MAX} keys`, odds: 2 ** -125, accepts: opens(many) },
    { name: "sealed, 44 random characters", odds: 2 ** -128, accepts: (random) => openId(one, base62(random, 44)).ok },
    {
      name: "sealed, one character changed",
      odds: 2 ** -128,
      accepts: (random) => openId(one, changed(needed(sealId(one, random(4))), random)).ok,
    },
    {
      name: "sealed in another context",
      odds: 2 ** -128,
      accepts: (random) => openId(one, needed(sealId(elsewhere, random(4)))).ok,
    },
  ];
}

/** Replaces one character by another. */
function changed(text: string, random: RandomWords): string {
  const [place = 0, digit = 0] = random(2);
  const at = place % text.length;
  const other = (DIGITS.indexOf(text.charAt(at)) + 1 + (digit % (DIGITS.length - 1))) % DIGITS.length;
  return text.slice(0, at) + DIGITS.charAt(other) + text.slice(at + 1);
}

const hex = (words: readonly number[]): string => words.map((word) => word.toString(16).padStart(8, "0")).join("");

/** Modulo bias: the first digits are likelier by 2^-26, invisible in a million texts. */
const base62 = (random: RandomWords, length: number): string =>
  random(length)
    .map((word) => DIGITS.charAt(word % DIGITS.length))
    .join("");

function pooledWords(): RandomWords {
  const pool = new Uint32Array(16_384);
  let at = pool.length;
  return (count) => {
    if (at + count > pool.length) {
      crypto.getRandomValues(pool);
      at = 0;
    }
    at += count;
    return [...pool.subarray(at - count, at)];
  };
}
