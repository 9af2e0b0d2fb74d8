import { describe, expect, it } from "vitest";
import { consoleSessions } from "../../src/edge/console/sessions.ts";
import { parseSigningKeys } from "../../src/edge/origins/signer.ts";
import { readContentDigest } from "../../src/features/create/serve/content-digest.ts";
import { readGlobalId } from "../../src/features/graphql/document/global-id.ts";
import { cursorSeal } from "../../src/features/lists/serve/cursor.ts";
import { parsePublicKeys } from "../../src/features/public-ids/table/codec.ts";
import { checkKeys } from "../../src/origin/keys.ts";
import type { Gateway } from "../../src/ports/gateway.ts";

/** Each reader of base64 takes the spellings that its peers write, and no others. */

const BYTES = Uint8Array.from({ length: 32 }, (_, at) => 255 - at);
const PADDED = btoa(String.fromCharCode(...BYTES));
const DIGITS = PADDED.slice(0, -1);
/** The last digit holds two bits that belong to no byte. */
const LEFTOVER = `${DIGITS.slice(0, -1)}${String.fromCharCode(DIGITS.charCodeAt(DIGITS.length - 1) + 1)}`;

const SPELLINGS = {
  padded: PADDED,
  unpadded: DIGITS,
  "padding twice": `${PADDED}=`,
  "leftover bits": `${LEFTOVER}=`,
  "URL digits": PADDED.replaceAll("+", "-").replaceAll("/", "_"),
  "a line feed at the end": `${PADDED}\n`,
  "a space inside": `${PADDED.slice(0, 8)} ${PADDED.slice(8)}`,
  "a digit too few": `${DIGITS.slice(0, -2)}=`,
  "another sign": `${DIGITS.slice(0, -1)}*=`,
} as const;
type Spelling = keyof typeof SPELLINGS;

type Reader = (text: string) => Uint8Array | undefined;

const signingKey: Reader = (key) => parseSigningKeys(JSON.stringify([{ id: "a", key }]))?.[0]?.key;
const publicKey: Reader = (key) => {
  const parsed = parsePublicKeys(JSON.stringify({ compatible: [{ id: "a", key }] }));
  return parsed.ok ? parsed.value.compatible[0]?.key : undefined;
};
const originKey: Reader = (key) => {
  try {
    checkKeys([{ id: "a", key }]);
    return BYTES;
  } catch {
    return undefined;
  }
};
const contentDigest: Reader = (text) => readContentDigest(`sha-256=:${text}:`)[0]?.bytes;

describe.each<[string, Reader, readonly Spelling[]]>([
  ["a signing key", signingKey, ["padded", "leftover bits"]],
  ["a signing key at an origin", originKey, ["padded", "leftover bits"]],
  ["a key of public IDs", publicKey, ["padded", "leftover bits"]],
  // RFC 9651 §4.2.7: a parser takes both unless it cannot.
  ["content-digest", contentDigest, ["padded", "unpadded", "leftover bits"]],
])("%s", (_, read, taken) => {
  it.each(Object.entries(SPELLINGS))("%s: %s", (name, text) => {
    expect(read(text)).toEqual(taken.includes(name as Spelling) ? BYTES : undefined);
  });
});

describe("a global ID of GraphQL", () => {
  const globalIds = { form: { form: "base64" }, entities: new Map([["Ord?>", "order"]]) } as const;
  const padded = btoa("Ord?>:1~?");
  const short = btoa("Ord?>:12");
  it.each<[string, string | undefined]>([
    [padded, "1~?"],
    [padded.replaceAll("+", "-").replaceAll("/", "_"), "1~?"],
    [short, "12"],
    [short.replace("=", ""), "12"],
    [`${short}=`, undefined],
    [short.replace("I=", "J="), undefined],
    [short.replace("I=", "J"), undefined],
    [`${short}\n`, undefined],
    [` ${padded}`, undefined],
    [`${padded}A`, undefined],
    [`${padded}====`, undefined],
    ["====", undefined],
    ["", undefined],
    [btoa("Ord?>:\n"), undefined],
    [btoa("Ord?>:é"), undefined],
  ])("%j is %j", (text, id) => {
    expect(readGlobalId(globalIds, text)).toEqual(id === undefined ? undefined : { entity: "order", id });
  });
});

/** Other spellings of a sealed text: nobody but the gateway writes it, so none of them counts. */
const respelled = (text: string): readonly string[] => [
  `${text}=`,
  `${text}==`,
  `${text}\n`,
  ` ${text}`,
  `${text}A`,
  `${text.slice(0, 4)} ${text.slice(4)}`,
  ...(/[-_]/.test(text) ? [text.replaceAll("-", "+").replaceAll("_", "/")] : []),
  ...(text.length % 4 === 0 ? [] : [`${text.slice(0, -1)}${neighbourOf(text.at(-1) ?? "A")}`]),
];

/** The digit whose lowest bit differs, which is left over. */
const neighbourOf = (digit: string): string => {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return digits.charAt(digits.indexOf(digit) ^ 1);
};

let word = 0;
const entropy = { word: () => (word = (Math.imul(word, 1_664_525) + 1_013_904_223) >>> 0) };

describe("a cursor of a list", () => {
  it.each(["", "x", "xy"])("is taken as it was written alone, with %j", async (caller) => {
    const gateway = { cursorKeys: [BYTES], isOnEdge: true, subtle: crypto.subtle, entropy } as unknown as Gateway;
    const seal = await cursorSeal(gateway);
    const cursor = { issuedSeconds: 1, list: "l", caller, revision: 1, last: undefined, isGap: false, marks: [] };
    const text = (await seal?.seal(cursor)) as string;
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(await seal?.open(text)).toEqual({ ok: true, value: cursor });
    for (const other of respelled(text)) expect(await seal?.open(other)).toMatchObject({ ok: false });
  });
});

describe("a session of the console", () => {
  it.each([1_000, 10_000, 100_000])("is taken as it was written alone, at %i", async (nowMs) => {
    const sessions = consoleSessions({
      tokens: [{ name: "a", scope: "viewer", sha256: BYTES }] as never,
      host: "console.example",
      clock: { nowMs: () => nowMs } as never,
      subtle: crypto.subtle as never,
      fillRandom: (bytes) => {
        for (const at of bytes.keys()) bytes[at] = entropy.word() >>> 24;
      },
    });
    const cookie = await sessions.open({ name: "a", scope: "viewer", by: "token" } as never);
    const [pair = ""] = cookie?.split(";") ?? [];
    expect(pair).toMatch(/^__Host-waybill-session=a\.[A-Za-z0-9_-]+$/);
    expect(await sessions.read(pair)).toMatchObject({ name: "a" });
    const [start = "", text = ""] = pair.split(/(?<==a\.)/);
    for (const other of respelled(text)) {
      const read = await sessions.read(`${start}${other}`);
      // The browser's spaces around a value mean nothing.
      if (other.trim() === text) continue;
      expect([other, read]).toEqual([other, undefined]);
    }
  });
});
