import { createHash } from "node:crypto";
import { encodePack, formatPackFault } from "../../../../src/features/packs/table/format.ts";
import { askOneOf, type Target } from "./load/ask.ts";
import { regionOfKey } from "./table.ts";

/** A pack of single keys, each a range of its own: the keys 0, 1, 2, …; every hundredth moves with the round. */
export async function packOfKeys(count: number, round: number) {
  const encoded = await encodePack(ranges(count, round), { fieldBits: KEY_BITS, sha256 });
  if (!encoded.ok) throw new Error(formatPackFault(encoded.error));
  const { header, pages, bytes, regions, sha256: digest, ranges: written } = encoded.value;
  return { header, pages, digest, declared: { sha256: digest, bytes, ranges: written, bits: KEY_BITS, regions } };
}

export type KeyPack = Awaited<ReturnType<typeof packOfKeys>>;

const KEY_BITS = 32;
const UPLOAD_DEADLINE_MS = 60_000;
const sha256 = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());

function* ranges(count: number, round: number) {
  for (let key = 0; key < count; key++) yield { from: key, to: key, region: regionOfKey(key, round) };
}

/** Resolves when the gateway has all its parts. */
export async function uploadPack(targets: readonly Target[], { header, pages, digest }: KeyPack, token: string) {
  const paths = [`/-/table/packs/${digest}`, ...pages.map((_, page) => `/-/table/packs/${digest}/${page}`)];
  for (const [at, part] of [header, ...pages].entries()) {
    const path = paths[at] as string;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" };
    const asking = { method: "PUT", path, headers, body: Buffer.from(part), deadlineMs: UPLOAD_DEADLINE_MS };
    const { outcome, body } = await askOneOf(targets, at, asking);
    if (!/^20[01]$/.test(outcome)) throw new Error(`PUT ${path}: ${outcome} ${body}`);
  }
}
