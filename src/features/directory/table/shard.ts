import { textHash } from "../../../routing/bytes.ts";

/** Objects of all directories. Another number loses keys, so each object keeps it and refuses calls by another. */
export const DIRECTORY_SHARDS = 256;

/** The shard of a key. It never changes. */
export const shardOf = ({ directory, key }: { readonly directory: string; readonly key: string }): number =>
  textHash(`${directory}\0${key}`) % DIRECTORY_SHARDS;

/** Rows of one call: 2 MB of JSON is the most that one value of SQLite holds. */
export const PUT_ROWS_MAX = 2_000;
export const SCAN_ROWS_MAX = 2_000;
