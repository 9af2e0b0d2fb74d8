import { createHash } from "node:crypto";
import {
  copyKey,
  copyPageKey,
  copyPointerKey,
  readCopyHeader,
} from "../../../../src/features/directory/table/copy-format.ts";
import { packKey, pageKey, readHeader } from "../../../../src/features/packs/table/pack.ts";
import { declaredPacks } from "../../../../src/features/packs/table/schema.ts";
import { bodyKey, POINTER_KEY } from "../../../../src/formats/kv.ts";
import { hexOf } from "./published.ts";

type Read = (key: string) => Uint8Array | undefined;

const sha256 = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());

const get = (read: Read, key: string): Uint8Array<ArrayBuffer> => {
  const bytes = read(key);
  if (bytes === undefined) throw new Error(`${key} is missing`);
  return new Uint8Array(bytes);
};

/**
 * The numbers of the table in a folder, by the eyes of a Worker; `undefined` without a pointer. Throws if anything that the
 * pointer leads to is missing or wrong.
 */
export async function wholeTable(read: Read): Promise<readonly [revision: number, change: number] | undefined> {
  const text = read(POINTER_KEY);
  if (text === undefined) return undefined;
  const pointer = JSON.parse(Buffer.from(text).toString());
  for (const digest of [pointer.digest, pointer.canary?.digest].filter((each) => each !== undefined)) {
    const body = get(read, bodyKey(digest));
    if (hexOf(body) !== digest) throw new Error(`${bodyKey(digest)} is torn`);
    for (const [, { sha256: pack }] of declaredPacks(Buffer.from(body).toString())) {
      const header = await readHeader(get(read, packKey(pack)), sha256, pack);
      if (!header.ok) throw new Error(`${packKey(pack)}: ${header.error.reason}`);
      for (const { number, sha256: page } of header.value.pages) {
        if (hexOf(get(read, pageKey(pack, number))) !== page) throw new Error(`${pageKey(pack, number)} is torn`);
      }
    }
  }
  return [pointer.revision, pointer.change ?? 0];
}

/** The digest of a directory's copy in a folder, as `wholeTable`. */
export async function wholeCopy(read: Read, directory: string): Promise<string | undefined> {
  const text = read(copyPointerKey(directory));
  if (text === undefined) return undefined;
  const digest = Buffer.from(text).toString();
  const header = await readCopyHeader(get(read, copyKey(digest)), sha256, digest);
  if (!header.ok) throw new Error(`${copyKey(digest)}: ${header.error.reason}`);
  for (let page = 0; page < 2 ** header.value.pageBits; page++) {
    const bytes = get(read, copyPageKey(digest, page));
    if (hexOf(bytes) !== header.value.digests.slice(page * 64, page * 64 + 64)) throw new Error(`page ${page} is torn`);
  }
  return digest;
}
