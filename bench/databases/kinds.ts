import {
  combPrefix,
  combSuffix,
  hotguid,
  hotguidSql,
  iuid,
  type Layout,
  luuid,
  shortPrefixComb,
  shortSuffixComb,
  uuidV4,
  uuidV7,
} from "../../src/ids/index.ts";
import { SQL_ORDER } from "../../src/ids/layout/words.ts";
import { wordMinter } from "../../src/ids/mint/create-minter.ts";
import { needed, seededWords } from "../lib/random.ts";

/** The IDs that fill an index: of one layout, in the order of their bytes or in SQL Server's order of uniqueidentifiers. */
export interface Kind {
  readonly layout: Layout;
  readonly keys?: Readonly<Record<string, number>>;
  readonly order: "bytes" | "uniqueidentifier";
  /** Each ID of a minter is greater than the one before. */
  readonly rises: boolean;
}

const inBytes = (layout: Layout, rises: boolean, keys = {}): Kind => ({ layout, keys, order: "bytes", rises });
const inSqlServer = (layout: Layout, rises: boolean, keys = {}): Kind => ({
  ...inBytes(layout, rises, keys),
  order: "uniqueidentifier",
});

export const KINDS: readonly Kind[] = [
  inBytes(uuidV4, false),
  inBytes(uuidV7, true),
  inBytes(iuid, true, { country: 5, service: 1 }),
  inBytes(hotguid, true, { shardKey: 1 }),
  inBytes(hotguidSql, false, { shardKey: 1 }),
  inSqlServer(hotguidSql, true, { shardKey: 1 }),
  inBytes(combPrefix, true),
  inBytes(combSuffix, false),
  inSqlServer(combSuffix, true),
  inBytes(shortPrefixComb, false),
  inSqlServer(shortSuffixComb, false),
  inBytes(luuid, true, { group: 1, primaryKey: 1 }),
];

const START_MS = Date.UTC(2026, 10, 21, 12);
const MINTERS = 4;

export const BATCH_IDS = 1000;
/** A batch is what arrives in this time. */
const BATCH_MS = 1000;

/** Batches of IDs as 32 hexadecimal digits: four minters take turns, a batch each second. */
export function* batchesOf({ layout, keys = {}, order }: Kind, count: number): Generator<readonly string[]> {
  // An LUUID's primary keys come from one sequence.
  const minters = Array.from({ length: layout === luuid ? 1 : MINTERS }, (_, seed) =>
    needed(wordMinter(layout, keys, seededWords(seed + 1))),
  );
  for (let done = 0; done < count; done += BATCH_IDS) {
    const nowMs = START_MS + (done / BATCH_IDS) * BATCH_MS;
    yield Array.from({ length: Math.min(BATCH_IDS, count - done) }, (_, at) => {
      const mint = minters[at % minters.length] as (typeof minters)[number];
      const words = needed(mint(nowMs + Math.floor((at * BATCH_MS) / BATCH_IDS)));
      const bytes = words.flatMap((word) => [24, 16, 8, 0].map((shift) => (word >>> shift) & 0xff));
      return Buffer.from(order === "bytes" ? bytes : SQL_ORDER.map((byte) => bytes[byte] as number)).toString("hex");
    });
  }
}
