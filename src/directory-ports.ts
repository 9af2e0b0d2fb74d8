import type { Result } from "./ids/result.ts";

/** The directory: regions of keys that carry no shard, such as slugs, e-mail addresses and random UUIDs. */

/** What a look-up found. `absent`: the truth, or a copy that is young enough, says that there is no such key. */
export type DirectoryAnswer =
  | { readonly state: "found"; readonly region: string; readonly source: DirectorySource }
  | { readonly state: "absent"; readonly source: DirectorySource };

/** The layer that answered. `pages`: a published copy of the whole directory. */
export type DirectorySource = "memory" | "cache" | "pages" | "kv" | "object";

/** No layer could say. Never taken for `absent`. */
export interface DirectoryFailure {
  readonly reason: "directory-unavailable";
  readonly directory: string;
}

/** Looks keys up, the nearest layer first. */
export interface Directory {
  /** What is in memory, without waiting; `undefined` when it must be looked up. `key`: normalised. */
  peek(directory: string, key: string): DirectoryAnswer | undefined;
  lookup(directory: string, key: string): Promise<Result<DirectoryAnswer, DirectoryFailure>>;
}
