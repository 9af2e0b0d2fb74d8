import type { RunningHash } from "../../../ports/gateway.ts";
import type { BodyCheck, BodyEnd } from "../../../proxy/pump.ts";
import { withoutSpace } from "../../../routing/lookup/values.ts";

/** `content-digest` of a request (RFC 9530 §2), and bodies that are held to it while they stream. */

export interface Digest {
  /** As the field names it. */
  readonly algorithm: "sha-256" | "sha-512";
  readonly bytes: Uint8Array;
}

/** Algorithms that RFC 9530 §5 has as active. All others are ignored, the insecure ones too. */
const HASHES = {
  "sha-256": { name: "SHA-256", bytes: 32 },
  "sha-512": { name: "SHA-512", bytes: 64 },
} as const;

const KEY = "[a-z*][a-z0-9_.*-]*";
const BYTES = ":([A-Za-z0-9+/=]*):";
const BARE = [
  String.raw`-?\d{1,12}\.\d{1,3}`,
  String.raw`[-@]?-?\d{1,15}`,
  String.raw`%?"(?:[ !#-[\]-~]|\\["\\])*"`,
  String.raw`[A-Za-z*][!#$%&'*+.^_\x60|~0-9A-Za-z:/-]*`,
  ":[A-Za-z0-9+/=]*:",
  String.raw`\?[01]`,
].join("|");
const PARAMETERS = `(?:; *${KEY}(?:=(?:${BARE}))?)*`;

/** One member of a Dictionary (RFC 9651 §3.2) of Byte Sequences (RFC 9530 §2): its key and its value. */
const MEMBER = new RegExp(`(${KEY})=${BYTES}${PARAMETERS}`, "y");
const COMMA = /[ \t]*,[ \t]*/y;

/**
 * The digests of a body by algorithms that can be computed here; none for a field that is malformed, which is ignored as a whole
 * (RFC 9651 §4.2).
 */
export function readContentDigest(field: string | null): readonly Digest[] {
  const text = withoutSpace(field ?? "");
  const found = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    MEMBER.lastIndex = at;
    const [member, key = "", base64] = MEMBER.exec(text) ?? [];
    if (member === undefined || base64 === undefined) return [];
    // The last one of a key counts (RFC 9651 §4.2.2).
    found.set(key, base64);
    at += member.length;
    if (at === text.length) break;
    COMMA.lastIndex = at;
    const comma = COMMA.exec(text)?.[0];
    // A comma at the end is malformed.
    if (comma === undefined || at + comma.length === text.length) return [];
    at += comma.length;
  }
  const digests: Digest[] = [];
  for (const algorithm of ["sha-256", "sha-512"] as const) {
    const base64 = found.get(algorithm);
    const bytes = base64 === undefined ? undefined : decode(base64);
    if (base64 !== undefined && bytes === undefined) return [];
    if (bytes !== undefined) digests.push({ algorithm, bytes });
  }
  return digests;
}

/** Without padding too (RFC 9651 §4.2.7). */
function decode(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** A digest that no body can have. */
export const isImpossible = ({ algorithm, bytes }: Digest): boolean => bytes.length !== HASHES[algorithm].bytes;

/** As the field would have it alone: what stands for a body that streams. */
export const digestText = ({ algorithm, bytes }: Digest): string =>
  `${algorithm}=:${btoa(String.fromCharCode(...bytes))}:`;

/** The digests that a body is held to. */
export class DigestCheck implements BodyCheck {
  isFalse = false;
  /** How the body ended, once it has. */
  end: BodyEnd | undefined;
  readonly ended: Promise<BodyEnd>;
  #resolve: (end: BodyEnd) => void = () => undefined;
  readonly #hashes: readonly { readonly digest: Digest; readonly hash: RunningHash }[];

  constructor(digests: readonly Digest[], hashOf: (name: "SHA-256" | "SHA-512") => RunningHash) {
    this.#hashes = digests.map((digest) => ({ digest, hash: hashOf(HASHES[digest.algorithm].name) }));
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  settle(end: BodyEnd): void {
    this.end = end;
    this.#resolve(end);
  }

  async update(bytes: Uint8Array): Promise<void> {
    for (const { hash } of this.#hashes) await hash.update(bytes);
  }

  /** Whether the body that was given has all of the digests. */
  async isTrue(): Promise<boolean> {
    for (const { digest, hash } of this.#hashes) {
      const own = new Uint8Array(await hash.digest());
      if (own.length !== digest.bytes.length || own.some((byte, at) => byte !== digest.bytes[at])) {
        this.isFalse = true;
        return false;
      }
    }
    return true;
  }
}
