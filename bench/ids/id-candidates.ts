import type { pooledEntropy } from "../../src/edge/platform.ts";
import type * as Ids from "../../src/ids/index.ts";
import type { DeclaredText, Layout, LayoutDeclaration } from "../../src/ids/index.ts";
import { needed, randomFields } from "../lib/random.ts";
import type { Candidate } from "../lib/sample.ts";

/** Runs in Node and in workerd, so it imports neither. */

const BY_HAND_IUID = "iUID, regex + parseInt by hand";
const BY_HAND_HOTGUID = "HotGuid, regex + parseInt by hand";
const BY_HAND_LUUID = "LUUID, regex + parseInt by hand";
const RANDOM_UUID = "crypto.randomUUID()";

/** A power of two: the next index is one AND. Too many for a branch predictor to memorise. */
const TEXTS = 4096;

const COUNTRIES = 250;
const SERVICES = 16;

/** The modules that are measured: this checkout's, or another one's. */
export interface IdModules {
  readonly ids: typeof Ids;
  readonly pooledEntropy: typeof pooledEntropy;
}

/** Created on first use: a Worker has no entropy during its start. */
export function idCandidates(modules: IdModules): readonly SyncCandidate[] {
  return [...decoders(modules), ...textReaders(modules), ...minters(modules)];
}

export interface SyncCandidate extends Candidate {
  readonly run: (times: number) => number;
}

function decoders({ ids: { fieldOf, hotguid, iuid, luuid }, pooledEntropy }: IdModules): SyncCandidate[] {
  const entropy = pooledEntropy();
  const texts = (layout: Layout, fixed: (at: number) => Readonly<Record<string, number>>) =>
    Array.from({ length: TEXTS }, (_, at) => {
      const fields = { ...randomFields(layout, entropy.word), ...fixed(at) };
      return layout.format(needed(layout.encode(fields)));
    });
  const country = fieldOf(iuid, "country").read;
  const service = fieldOf(iuid, "service").read;
  const shardKey = fieldOf(hotguid, "shardKey").read;
  const group = fieldOf(luuid, "group").read;
  const primaryKey = fieldOf(luuid, "primaryKey").read;
  const mintedAtMs = iuid.mintedAtMs ?? missing("mintedAtMs of an iUID");
  const iuids = texts(iuid, (at) => ({ mintedAt: 1.7e12 + at * 1e6, country: at % COUNTRIES, service: at % SERVICES }));
  const hotguids = texts(hotguid, () => ({}));
  const luuids = texts(luuid, () => ({}));
  return [
    overTexts("iUID: parse, country, service, time", BY_HAND_IUID, iuids, (text) => {
      const words = iuid.parse(text);
      return words.ok
        ? country(words.value) + service(words.value) + (mintedAtMs(words.value) ?? Number.NaN)
        : Number.NaN;
    }),
    overTexts(BY_HAND_IUID, undefined, iuids, iuidByHand),
    overTexts("HotGuid: parse, shard key", BY_HAND_HOTGUID, hotguids, (text) => {
      const words = hotguid.parse(text);
      return words.ok ? shardKey(words.value) : Number.NaN;
    }),
    overTexts(BY_HAND_HOTGUID, undefined, hotguids, hotguidByHand),
    overTexts("LUUID: parse, group, primary key", BY_HAND_LUUID, luuids, (text) => {
      const words = luuid.parse(text);
      return words.ok ? group(words.value) + primaryKey(words.value) : Number.NaN;
    }),
    overTexts(BY_HAND_LUUID, undefined, luuids, luuidByHand),
  ];
}

/** One built-in layout of each kind of text. */
const BUILT_IN = ["ulid", "ksuid", "xid", "push-id", "object-id", "snowflake", "lexical-uuid", "uuid-v7"];

const BASE62 = "base62 of 22 digits: parse, time, text";

/** Declared texts of a UUIDv7, each of the same IDs. A checkout that cannot declare one has no such candidate. */
const DECLARED: readonly (readonly [name: string, text: DeclaredText])[] = [
  [BASE62, "base62"],
  ["base62, small letters first: parse, time, text", { alphabet: "base62-lower-first" }],
  ["base58 of 22 digits: parse, time, text", { alphabet: "base58" }],
  ["base58, as few digits as needed: parse, time, text", { alphabet: "base58", padded: false }],
  ["base36 of 25 digits in any case: parse, time, text", { alphabet: "base36", case: "ignored" }],
  ["TypeID: parse, time, text", { alphabet: "crockford-lower", prefix: "user_" }],
  ["base64url with padding: parse, time, text", { alphabet: "base64url", fill: "end", suffix: "==" }],
  ["groups of 7 digits: parse, time, text", { alphabet: "crockford", width: 28, groups: [7, 7, 7, 7], separator: "-" }],
];

/** Reads texts, and writes them again as the canonical text of a decision. */
function textReaders({ ids, pooledEntropy }: IdModules): SyncCandidate[] {
  const entropy = pooledEntropy();
  const words = (layout: Layout) =>
    Array.from({ length: TEXTS }, (_, at) => {
      const fields = randomFields(layout, entropy.word);
      const time = ids.everyLayout.includes(layout) ? {} : { mintedAt: 1.7e12 + at * 1e6 };
      return needed(layout.encode({ ...fields, ...time }));
    });
  const candidateOf = (name: string, layout: Layout, texts: readonly string[], against?: string) =>
    overTexts(name, against, texts, (text) => {
      const parsed = layout.parse(text);
      if (!parsed.ok) return Number.NaN;
      return (layout.mintedAtMs?.(parsed.value) ?? 0) + Number(layout.format(parsed.value) === text);
    });
  const builtIn = ids.everyLayout
    .filter(({ name }) => BUILT_IN.includes(name))
    .map((layout) => candidateOf(`${layout.name}: parse, time, text`, layout, words(layout).map(layout.format)));
  const { rows } = ids.uuidV7Table;
  const own = needed(ids.declareLayout({ name: "own", rows, text: "base62" }));
  const same = words(own);
  const declared = DECLARED.flatMap(([name, text]) => {
    const layout = ids.declareLayout({ name: "own", rows, text } as LayoutDeclaration);
    if (!layout.ok) return [];
    const against = name === BASE62 ? undefined : BASE62;
    return [candidateOf(name, layout.value, same.map(layout.value.format), against)];
  });
  return [...builtIn, ...declared];
}

/** Each call reads the clock and formats the ID. */
function minters({ ids, pooledEntropy }: IdModules): SyncCandidate[] {
  const { hotguid, hotguidIdentity, iuid, luuid, mintHotguid, mintIuid, mintLuuid, startHotguid, startIuid } = ids;
  const entropy = pooledEntropy();
  let iuidState = needed(startIuid({ country: 5, service: 1 }));
  let hotguidState = needed(startHotguid(needed(hotguidIdentity(entropy, [iuid, luuid])), { shardKey: 840 }));
  let lastPrimaryKey = 0;
  return [
    repeated("iUID: mint and text", RANDOM_UUID, () => {
      const { state, words } = needed(mintIuid(iuidState, Date.now(), entropy));
      iuidState = state;
      return iuid.format(words);
    }),
    repeated("HotGuid: mint and text", RANDOM_UUID, () => {
      const { state, words } = needed(mintHotguid(hotguidState, Date.now(), entropy));
      hotguidState = state;
      return hotguid.format(words);
    }),
    repeated("LUUID: mint and text", RANDOM_UUID, () => {
      lastPrimaryKey++;
      return luuid.format(needed(mintLuuid({ group: 2047, primaryKey: lastPrimaryKey }, entropy)));
    }),
    repeated(RANDOM_UUID, undefined, () => crypto.randomUUID()),
  ];
}

function overTexts(
  name: string,
  against: string | undefined,
  texts: readonly string[],
  read: (text: string) => number,
): SyncCandidate {
  const run = (times: number) => {
    let sum = 0;
    for (let at = 0; at < times; at++) sum += read(texts[at & (TEXTS - 1)] ?? "");
    return sum;
  };
  return { name, run, ...(against === undefined ? {} : { against }) };
}

function repeated(name: string, against: string | undefined, mint: () => string): SyncCandidate {
  const run = (times: number) => {
    let sum = 0;
    for (let at = 0; at < times; at++) sum += mint().charCodeAt(35);
    return sum;
  };
  return { name, run, ...(against === undefined ? {} : { against }) };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An application's own code that knows one layout: check the shape, slice the digits. */
function iuidByHand(text: string): number {
  if (!UUID.test(text)) return Number.NaN;
  const mintedAtMs = Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
  const service = (Number.parseInt(text.slice(19, 23), 16) >>> 6) & 0xff;
  return Number.parseInt(text.slice(16, 18), 16) + service + mintedAtMs;
}

function hotguidByHand(text: string): number {
  if (!UUID.test(text)) return Number.NaN;
  const reversed = text.slice(34, 36) + text.slice(32, 34) + text.slice(30, 32) + text.slice(28, 30);
  return Number.parseInt(reversed, 16);
}

function luuidByHand(text: string): number {
  if (!UUID.test(text)) return Number.NaN;
  return Number.parseInt(text.slice(15, 18), 16) + Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
}

function missing(what: string): never {
  throw new Error(`${what} is missing`);
}
