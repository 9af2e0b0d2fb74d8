import { base64urlnopad } from "@scure/base";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { Gateway } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { parseJson } from "../../../routing/index.ts";
import { CURSOR_CHARACTERS_MAX } from "../table/limits.ts";

/** The client's cursor: where each region's list was left. Sealed, since regions' own cursors may tell something. */

export type SourceState = "open" | "done" | "missing";

/** A region's part. `page`: its own cursor of the page in use; `undefined` for its first page. */
export interface Mark {
  readonly region: string;
  readonly state: SourceState;
  readonly page: string | undefined;
  /** Items of the page that were passed. */
  readonly taken: number;
  /** The last item that the region has given, where it is not that of the whole list. */
  readonly after: LastItem | undefined;
}

/** Text of the key, and ID. */
export type LastItem = readonly [keyText: string, id: string];

export interface Cursor {
  readonly issuedSeconds: number;
  /** Digests of the list with its parameters, and of the caller. */
  readonly list: string;
  readonly caller: string;
  readonly revision: number;
  /** The last item of the whole list that was answered. */
  readonly last: LastItem | undefined;
  /** Whether it is for what regions failed to give alone. */
  readonly isGap: boolean;
  readonly marks: readonly Mark[];
}

type CursorError = Extract<GatewayError, { readonly reason: "list-cursor-invalid" | "cursors-unavailable" }>;
type Bytes = Uint8Array<ArrayBuffer>;

const VERSION = 1;
const IV_BYTES = 12;
/** A tag, an IV and an empty text with its AES tag have 39. */
const CHARACTERS_MIN = 40;
const AES = "AES-GCM";
const STATES: readonly SourceState[] = ["open", "done", "missing"];

interface SealKey {
  /** One byte that tells the keys apart. */
  readonly tag: number;
  readonly key: CryptoKey;
}

/** The first seals, all open. */
export interface CursorSeal {
  seal(cursor: Cursor): Promise<string>;
  open(text: string): Promise<Result<Cursor, CursorError>>;
}

const seals = new WeakMap<Gateway["cursorKeys"], Promise<CursorSeal>>();

/** `undefined` without a key that all instances share. A gateway that is no part of a network of them makes its own. */
export function cursorSeal(gateway: Gateway): Promise<CursorSeal> | undefined {
  const { cursorKeys, isOnEdge } = gateway;
  if (cursorKeys.length === 0 && isOnEdge) return undefined;
  const known = seals.get(cursorKeys) ?? newSeal(gateway);
  seals.set(cursorKeys, known);
  return known;
}

async function newSeal({ cursorKeys, subtle, entropy }: Gateway): Promise<CursorSeal> {
  const random = (words: number): Bytes => new Uint8Array(Uint32Array.from({ length: words }, entropy.word).buffer);
  const secrets = cursorKeys.length === 0 ? [random(8)] : cursorKeys;
  const keys = await Promise.all(secrets.map((secret) => sealKeyOf(secret, subtle)));
  const [first] = keys as [SealKey, ...SealKey[]];
  const sealed = async (cursor: Cursor): Promise<string> => {
    const iv = random(IV_BYTES / 4);
    const plain = new TextEncoder().encode(JSON.stringify(rowOf(cursor)));
    const text = new Uint8Array(await subtle.encrypt({ name: AES, iv }, first.key, plain));
    const bytes = new Uint8Array(1 + IV_BYTES + text.length);
    bytes[0] = first.tag;
    bytes.set(iv, 1);
    bytes.set(text, 1 + IV_BYTES);
    return base64urlnopad.encode(bytes);
  };
  return {
    async seal(cursor) {
      for (const one of [cursor, shortened(cursor)]) {
        const text = await sealed(one);
        if (text.length <= CURSOR_CHARACTERS_MAX) return text;
      }
      throw new Error("a cursor is too long");
    },
    async open(text) {
      const bytes = text.length > CURSOR_CHARACTERS_MAX ? undefined : bytesOf(text);
      if (bytes === undefined) return MALFORMED;
      const iv = bytes.subarray(1, 1 + IV_BYTES);
      for (const { tag, key } of keys) {
        if (tag !== bytes[0]) continue;
        const plain = await subtle.decrypt({ name: AES, iv }, key, bytes.subarray(1 + IV_BYTES)).catch(() => undefined);
        const cursor = plain && cursorOf(parseJson(new TextDecoder().decode(plain)));
        if (cursor !== undefined) return ok(cursor);
      }
      return MALFORMED;
    },
  };
}

/** The last items of many regions do not fit: then those begin again with their first page. */
const shortened = (cursor: Cursor): Cursor => ({
  ...cursor,
  marks: cursor.marks.map((mark) =>
    mark.after === undefined ? mark : { ...mark, page: undefined, taken: 0, after: undefined },
  ),
});

const MALFORMED = err({ reason: "list-cursor-invalid", why: "malformed" } as const);

/** The secret itself has another use: its digest with a name is a key of its own. */
async function sealKeyOf(secret: Uint8Array, subtle: Gateway["subtle"]): Promise<SealKey> {
  const label = new TextEncoder().encode("waybill list cursor 1\n");
  const named = new Uint8Array(label.length + secret.length);
  named.set(label);
  named.set(secret, label.length);
  const bytes = await subtle.digest("SHA-256", named);
  const [tag = 0] = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return { tag, key: await subtle.importKey("raw", bytes, AES, false, ["encrypt", "decrypt"]) };
}

/** `undefined` for a text that is no sealed cursor, or has another spelling (RFC 4648 §3.5). */
function bytesOf(text: string): Bytes | undefined {
  if (text.length < CHARACTERS_MIN) return undefined;
  try {
    return new Uint8Array(base64urlnopad.decode(text));
  } catch {
    return undefined;
  }
}

const rowOf = ({ issuedSeconds, list, caller, revision, last, isGap, marks }: Cursor): readonly unknown[] => [
  VERSION,
  issuedSeconds,
  list,
  caller,
  revision,
  last ?? 0,
  isGap ? 1 : 0,
  marks.map(({ region, state, page, taken, after }) => {
    const row = [region, STATES.indexOf(state), page ?? 0, taken, after ?? 0];
    // Zeros at the end are left out.
    return row.slice(0, row.findLastIndex((value) => value !== 0) + 1);
  }),
];

/** A cursor that was sealed here is as it was made; `undefined` for one of another version. */
function cursorOf(row: unknown): Cursor | undefined {
  if (!Array.isArray(row) || row[0] !== VERSION) return undefined;
  const [, issuedSeconds, list, caller, revision, last, isGap, rows] = row;
  const marks = (rows as readonly (readonly [string, number?, (string | 0)?, number?, (LastItem | 0)?])[]).map(
    ([region, state = 0, page = 0, taken = 0, after = 0]): Mark => ({
      region,
      state: STATES[state] ?? "open",
      page: page === 0 ? undefined : page,
      taken,
      after: after === 0 ? undefined : after,
    }),
  );
  return { issuedSeconds, list, caller, revision, last: last === 0 ? undefined : last, isGap: isGap === 1, marks };
}
