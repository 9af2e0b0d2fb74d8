import type { MovedPart, MovedValues } from "../../../ports/moving.ts";
import { parseJson } from "../../../routing/schema/json-scanner.ts";
import { isRecord } from "../../../routing/schema/records.ts";
import * as format from "../table/copy-format.ts";
import { DIRECTORY_SHARDS } from "../table/shard.ts";

/** The objects of keys, and one more with the changed keys: as `edge/keys.ts` names them. */
export const movedDirectory: MovedPart = {
  part: "directory",
  binding: "DIRECTORY",
  // Behind idempotency: a key whose create is not known is taken, and never another's.
  order: 3,
  rows: { derived: ["totals"], aside: ["self"] },
  objects: Array.from({ length: DIRECTORY_SHARDS + 1 }, (_, shard) => `keys-${shard}`),
};

const POINTER = /^directory\.([^.]+)\.current$/;
const PART = /^directory-copy\.([0-9a-f]{64})(?:\.(?:0|[1-9][0-9]{0,3}))?$/;
const DIGEST = /^[0-9a-f]{64}$/;

/** The published copies of directories. */
export const movedCopies: MovedValues = {
  async keysOf(text, { read, sha256 }) {
    const declared = parseJson(text);
    const directories = isRecord(declared) && isRecord(declared["directory"]) ? declared["directory"] : {};
    const keys: string[] = [];
    for (const name of Object.keys(directories)) {
      const pointer = await read(format.copyPointerKey(name));
      const digest = pointer && new TextDecoder().decode(pointer);
      if (digest === undefined || !DIGEST.test(digest)) continue;
      const bytes = await read(format.copyKey(digest));
      const header = bytes && (await format.readCopyHeader(bytes, sha256, digest));
      if (!header?.ok) continue;
      for (let page = 0; page < 2 ** header.value.pageBits; page++) keys.push(format.copyPageKey(digest, page));
      keys.push(format.copyKey(digest), format.copyPointerKey(name));
    }
    return keys;
  },
  async faultOf(key, bytes, { sha256 }) {
    if (POINTER.test(key))
      return DIGEST.test(new TextDecoder().decode(bytes)) ? undefined : "it is no digest of a copy";
    const digest = PART.exec(key)?.[1];
    if (digest === undefined) return false;
    if (key !== format.copyKey(digest)) return bytes.length > format.COPY_PAGE_BYTES_MAX ? "it is too long" : undefined;
    return (await format.readCopyHeader(bytes, sha256, digest)).ok ? undefined : "it is no header of that copy";
  },
};
