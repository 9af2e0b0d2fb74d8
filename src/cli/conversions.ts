import {
  combPrefix,
  combSuffix,
  fromSql,
  hotguid,
  hotguidSql,
  type Layout,
  objectId,
  shortPrefixComb,
  shortSuffixComb,
  swapComb,
  swapShortComb,
  toSql,
  uuidV1,
  uuidV6,
  type Words,
  xid,
} from "../ids/index.ts";

/** An ID of one layout as an ID of another one, and back, without the loss of a bit. */
export interface Conversion {
  readonly from: Layout;
  readonly to: Layout;
  readonly move: (words: Words) => Words;
}

/** The same fields in other places: both layouts have them under the same names, with the same bits. */
const byFields =
  (from: Layout, to: Layout) =>
  (words: Words): Words => {
    const fields = from.fields.filter(({ role }) => role !== "fixed");
    const moved = to.encode(Object.fromEntries(fields.map(({ name, readBig }) => [name, readBig(words)])));
    if (!moved.ok) throw new Error(`${from.name} has a field that ${to.name} has not: ${moved.error.field}`);
    return moved.value;
  };

const same = (words: Words): Words => words;

const pair = (
  a: Layout,
  b: Layout,
  there: Conversion["move"],
  back: Conversion["move"] = there,
): readonly Conversion[] => [
  { from: a, to: b, move: there },
  { from: b, to: a, move: back },
];

const CONVERSIONS: readonly Conversion[] = [
  ...pair(hotguid, hotguidSql, toSql, fromSql),
  ...pair(combPrefix, combSuffix, swapComb),
  ...pair(shortPrefixComb, shortSuffixComb, swapShortComb),
  // RFC 9562 section 5.6: version 6 is version 1 with its time in order.
  ...pair(uuidV1, uuidV6, byFields(uuidV1, uuidV6), byFields(uuidV6, uuidV1)),
  // The same 96 bits in other digits: what one calls machine and process is the process of the other.
  ...pair(objectId, xid, same),
];

/** The conversions of a layout, by its name. */
export const conversionsFrom = (layout: string): readonly Conversion[] =>
  CONVERSIONS.filter(({ from }) => from.name === layout);
