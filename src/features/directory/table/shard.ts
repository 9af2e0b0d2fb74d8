/** Objects of all directories. Another number loses keys, so each object keeps it and refuses calls by another. */
export const DIRECTORY_SHARDS = 256;

/**
 * The shard of a key: FNV-1a over the UTF-16 units with a last mixing (A. Appleby's `fmix32`), so that keys that look alike
 * go to different objects. Synchronous, for imports of millions. It never changes: keys would not be found again.
 */
export function shardOf({ directory, key }: { readonly directory: string; readonly key: string }): number {
  let hash = 0x811c9dc5;
  const text = `${directory}\0${key}`;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % DIRECTORY_SHARDS;
}

/** Rows of one call: 2 MB of JSON is the most that one value of SQLite holds. */
export const PUT_ROWS_MAX = 2_000;
export const SCAN_ROWS_MAX = 2_000;
