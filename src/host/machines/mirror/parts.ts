import { createHash } from "node:crypto";
import * as copies from "../../../features/directory/table/copy-format.ts";
import type { PackHeader, PageInfo } from "../../../features/packs/table/decode.ts";
import { formatPackFault, HEADER_BYTES_MAX } from "../../../features/packs/table/format.ts";
import { entryFault, formatEntryFault, packKey, pageKey, readHeader } from "../../../features/packs/table/pack.ts";
import type { DeclaredPack } from "../../../features/packs/table/schema.ts";
import { bodyKey, DIGEST, FORM_BYTES_MAX, formKey } from "../../../formats/kv.ts";
import { TABLE_BYTES_MAX } from "../../../routing/index.ts";
import { type Part, sha256Hex } from "./folder.ts";

/** A signature, and the length of the text after it. */
const FORM_HEAD_BYTES = 36;

const sha256 = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());

const digestPart = (key: string, digest: string, bytesMax: number): Part => ({
  key,
  digest,
  bytesMax,
  faultOf: (bytes) => {
    const actual = sha256Hex(bytes);
    return actual === digest ? undefined : `it has the SHA-256 ${actual}, not ${digest}`;
  },
});

export const bodyPart = (digest: string): Part => digestPart(bodyKey(digest), digest, TABLE_BYTES_MAX);

/** Only the Workers have the key of its signature, and each opens it: what can be seen is whether it is cut off. */
export const formPart = (digest: string, version: string): Part => ({
  key: formKey(digest, version),
  bytesMax: FORM_BYTES_MAX,
  faultOf(bytes) {
    // A form without contents is its signature alone.
    if (bytes.length === FORM_HEAD_BYTES - 4) return undefined;
    if (bytes.length < FORM_HEAD_BYTES) return `it has ${bytes.length} bytes`;
    const textBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(FORM_HEAD_BYTES - 4);
    return FORM_HEAD_BYTES + textBytes > bytes.length ? "it is cut off" : undefined;
  },
});

/** `hold` gets the header that was read. */
export const packHeaderPart = (declared: DeclaredPack, hold: (header: PackHeader) => void): Part => ({
  key: packKey(declared.sha256),
  bytesMax: HEADER_BYTES_MAX,
  async faultOf(bytes) {
    const header = await readHeader(bytes, sha256, declared.sha256);
    if (!header.ok) return formatPackFault(header.error);
    if (bytes.length !== header.value.headerBytes) return "it is longer than a header";
    const entry = entryFault(declared, header.value);
    if (entry !== undefined) return formatEntryFault(entry);
    hold(header.value);
    return undefined;
  },
});

export const packPagePart = (pack: string, { number, bytes, sha256: digest }: PageInfo): Part =>
  digestPart(pageKey(pack, number), digest, bytes);

export const copyPointerPart = (directory: string): Part => ({
  key: copies.copyPointerKey(directory),
  bytesMax: 64,
  faultOf: (bytes) => (DIGEST.test(Buffer.from(bytes).toString("latin1")) ? undefined : "it is not a digest"),
});

export const copyHeaderPart = (directory: string, digest: string, hold: (header: copies.CopyHeader) => void): Part => ({
  key: copies.copyKey(digest),
  digest,
  bytesMax: copies.COPY_HEADER_BYTES_MAX,
  async faultOf(bytes) {
    const header = await copies.readCopyHeader(bytes, sha256, digest);
    if (!header.ok) return copies.formatCopyFault(header.error);
    if (header.value.directory !== directory) return `it is a copy of ${header.value.directory}`;
    hold(header.value);
    return undefined;
  },
});

export const copyPageParts = (copy: string, { digests, pageBits }: copies.CopyHeader): readonly Part[] =>
  Array.from({ length: 2 ** pageBits }, (_, page) =>
    digestPart(copies.copyPageKey(copy, page), digests.slice(page * 64, page * 64 + 64), copies.COPY_PAGE_BYTES_MAX),
  );
