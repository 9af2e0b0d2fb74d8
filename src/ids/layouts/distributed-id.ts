import { layoutOf } from "../layout/compile.ts";
import type { LayoutTable, Words } from "../layout/layout.ts";
import { bigToWords, wordsToBig } from "../layout/words.ts";
import { err, ok, type Result } from "../result.ts";
import { DECIMAL, UPPER_HEX } from "../text/alphabets.ts";
import { base62Of16Bytes } from "../text/architect.ts";
import { pairText } from "../text/pair.ts";
import { radixText } from "../text/radix.ts";
import { uuidText } from "../text/uuid.ts";

/** The two IDs of Architect.Identities. */

const SOURCE = "TheArchitectDev/Architect.Identities 2.1.1, commit 5a55744";

const EPOCH_1900_MS = -2_208_988_800_000;
const EPOCH_1700_MS = -8_520_336_000_000;

/** 93 bits, zero-padded if the text is a UUID. Values below 10^27 (July 2012) have too few digits and are invalid. */
export const distributedIdTable: LayoutTable = {
  name: "distributed-id",
  title: "DistributedId: 45 bits of time since 1900 and 48 random bits, as 28 digits",
  source: SOURCE,
  text: /* @__PURE__ */ radixText({ alphabet: DECIMAL, bits: 128, digitsMin: 28, digitsMax: 28 }),
  least: "1000000000000000000000000000",
  minter: "own",
  rows: [
    { field: "zero", bits: 35, role: "fixed", value: 0 },
    { field: "mintedAt", bits: 45, role: "time", unit: "ms", epochMs: EPOCH_1900_MS },
    { field: "random", bits: 48, role: "random" },
  ],
};
export const distributedId = /* @__PURE__ */ layoutOf<never>(distributedIdTable, [
  // The six leading zeros are omitted.
  /* @__PURE__ */ base62Of16Bytes(5),
  /* @__PURE__ */ radixText({ alphabet: UPPER_HEX, bits: 128, width: 26 }),
  uuidText,
]);

/** Both halves as decimal integers, separated by a comma. */
const longsText = /* @__PURE__ */ pairText({
  name: "longs",
  high: /* @__PURE__ */ radixText({ alphabet: DECIMAL, bits: 63 }),
  low: /* @__PURE__ */ radixText({ alphabet: DECIMAL, bits: 63 }),
  separator: ",",
});

/** Version 7 with a variant bit that RFC 9562 does not use. Values below 10^37 (February 1962) have too few digits. */
export const distributedId128Table: LayoutTable = {
  name: "distributed-id-128",
  title: "DistributedId128: time since 1700 and 75 random bits",
  source: SOURCE,
  text: uuidText,
  least: "10000000000000000000000000000000000000",
  minter: "own",
  rows: [
    { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: EPOCH_1700_MS },
    { field: "version", bits: 4, role: "fixed", value: 7 },
    { field: "random", bits: 12, role: "random" },
    { field: "signBit", bits: 1, role: "fixed", value: 0 },
    { field: "random", bits: 63, role: "random" },
  ],
};
export const distributedId128 = /* @__PURE__ */ layoutOf<never>(distributedId128Table, [
  /* @__PURE__ */ radixText({ alphabet: UPPER_HEX, bits: 128, width: 32 }),
  /* @__PURE__ */ base62Of16Bytes(11),
  /* @__PURE__ */ radixText({ alphabet: DECIMAL, bits: 128, digitsMin: 38 }),
  longsText,
]);

/** 128 bits as two non-negative signed 64-bit integers, for stores without a wider type. */
export type LongPair = { readonly upper: bigint; readonly lower: bigint };

/** A half is negative or exceeds 63 bits. */
export interface LongPairError {
  readonly reason: "half-out-of-range";
  readonly half: "upper" | "lower";
  readonly value: string;
}

/** Like `DistributedId128.Split`. Works for that layout until the year 6159, when bit 0 is set. */
export const splitLongs = (words: Words): Result<LongPair, LongPairError> =>
  checkPair({ upper: wordsToBig(words.slice(0, 2)), lower: wordsToBig(words.slice(2)) });

/** Like `DistributedId128.Join`. */
export const joinLongs = (pair: LongPair): Result<Words, LongPairError> => {
  const checked = checkPair(pair);
  return checked.ok ? ok([...bigToWords(pair.upper, 2), ...bigToWords(pair.lower, 2)]) : checked;
};

const checkPair = (pair: LongPair): Result<LongPair, LongPairError> => {
  for (const half of ["upper", "lower"] as const) {
    if (pair[half] >> 63n !== 0n) {
      return err({ reason: "half-out-of-range", half, value: pair[half].toString() });
    }
  }
  return ok(pair);
};
