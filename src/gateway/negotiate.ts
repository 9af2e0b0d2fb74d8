import { splitOutsideQuotes, unescaped } from "../routing/lookup/values.ts";

/** Proactive negotiation (RFC 9110 §12.5): the one reader of `accept` and `accept-encoding`. */

/** A member of either field: a media range or a coding, in lower case, with its weight (§12.4.2). */
interface Member {
  readonly range: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly quality: number;
}

/** How a type fares with a client. `rank`: how specific the range is that decides; 0 for none. */
interface Weight {
  readonly quality: number;
  readonly rank: number;
}

/** One JSON value a line. */
export const LINES_TYPE = "application/x-ndjson";

/** Other names of what is sent. A wildcard means no name. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["application/ndjson", LINES_TYPE],
  ["application/jsonl", LINES_TYPE],
  ["application/x-jsonlines", LINES_TYPE],
  ["application/problem+json", "application/json"],
]);

/**
 * The media type of `offers` that the client prefers. Where weights are equal, the more specific range wins, then the client's
 * order, then that of the offers. A client that takes none of them gets the first (§12.4.1 allows it). An offer may have parameters.
 */
export function chooseType<Type extends string>(accept: string | null, offers: readonly [Type, ...Type[]]): Type {
  return preferred(accept, offers) ?? offers[0];
}

/** The same, and `undefined` for a client that takes none. */
export function preferred<Type extends string>(accept: string | null, offers: readonly Type[]): Type | undefined {
  if (accept === null) return offers[0];
  const members = readMembers(accept).map(
    (member): Member => ({ ...member, range: ALIASES.get(member.range) ?? member.range }),
  );
  if (members.length === 0) return offers[0];
  // A parameter that no offer has, such as a version, is ignored where nothing else fits.
  return best(members, offers) ?? best(members.map(bare), offers);
}

/** Whether the client wants one JSON value a line, and no JSON document. */
export const wantsLines = (accept: string | null): boolean =>
  chooseType(accept, ["application/json", LINES_TYPE]) === LINES_TYPE;

const bare = (member: Member): Member => ({ ...member, parameters: [] });

function best<Type extends string>(members: readonly Member[], offers: readonly Type[]): Type | undefined {
  let chosen: { readonly type: Type; readonly weight: Weight; readonly at: number } | undefined;
  for (const type of offers) {
    const [offer] = readMembers(type);
    if (offer === undefined) continue;
    const { at, ...weight } = weightOf(members, offer);
    if (weight.quality === 0) continue;
    const isBetter =
      chosen === undefined ||
      weight.quality > chosen.weight.quality ||
      (weight.quality === chosen.weight.quality &&
        (weight.rank > chosen.weight.rank || (weight.rank === chosen.weight.rank && at < chosen.at)));
    if (isBetter) chosen = { type, weight, at };
  }
  return chosen?.type;
}

/** By the most specific range that matches (§12.5.1). `at`: its place in the field. */
function weightOf(members: readonly Member[], offer: Member): Weight & { readonly at: number } {
  let weight = { quality: 0, rank: 0, at: 0 };
  for (const [at, member] of members.entries()) {
    const rank = rankOf(member, offer);
    if (rank > weight.rank) weight = { quality: member.quality, rank, at };
  }
  return weight;
}

function rankOf({ range, parameters }: Member, offer: Member): number {
  const has = ([name, value]: readonly [string, string]): boolean =>
    // Text of the gateway's own is UTF-8, whether its type says so or not.
    (name === "charset" && value.toLowerCase() === "utf-8") ||
    offer.parameters.some(([own, its]) => own === name && its === value);
  if (!parameters.every(has)) return 0;
  if (range === offer.range) return 3 + parameters.length;
  if (range === `${offer.range.slice(0, offer.range.indexOf("/"))}/*`) return 2;
  return range === "*/*" ? 1 : 0;
}

type Coding = "gzip" | "identity";

/**
 * The content coding to send of a representation that is there as `gzip` and as it is (§12.5.3). Without the field it is sent as it is;
 * so it is to a client that refuses both.
 */
export function chooseCoding(acceptEncoding: string | null): Coding {
  const { coded, identity, isNamed } = weighCoding(acceptEncoding, "gzip");
  if (coded > 0) return coded >= identity ? "gzip" : "identity";
  // A coding that is not named is all that is left.
  return identity === 0 && !isNamed ? "gzip" : "identity";
}

/** The weights that a client gives a coding and `identity`. `isNamed`: whether the coding is, or `*`. */
export function weighCoding(acceptEncoding: string | null, coding: string) {
  const members = readMembers(acceptEncoding ?? "");
  // The older name means the same (§8.4.1.3).
  const names = coding === "gzip" || coding === "x-gzip" ? ["gzip", "x-gzip"] : [coding];
  const named = (...wanted: readonly string[]) => members.find(({ range }) => wanted.includes(range))?.quality;
  const any = named("*");
  const own = named(...names) ?? any;
  // Unless it is refused, it is taken, after all that is named.
  const identity = named("identity") ?? (any === 0 ? 0 : 0.0001);
  return { coded: own ?? 0, identity, isNamed: own !== undefined };
}

/** Reads a list (§5.6.1) in one pass: commas and semicolons in quotes are part of a value. */
function readMembers(field: string): readonly Member[] {
  return splitOutsideQuotes(field, ",").flatMap((text) => {
    const [range = "", ...rest] = splitOutsideQuotes(text, ";");
    if (range === "") return [];
    const parameters: [string, string][] = [];
    let quality = 1;
    for (const parameter of rest) {
      const equals = parameter.indexOf("=");
      const name = (equals === -1 ? parameter : parameter.slice(0, equals)).trim().toLowerCase();
      const value = equals === -1 ? "" : unquoted(parameter.slice(equals + 1).trim());
      if (name === "q") quality = qualityOf(value);
      else if (name !== "") parameters.push([name, value]);
    }
    return [{ range: range.toLowerCase(), parameters, quality }];
  });
}

/** A weight that is no number is 1, as most servers take it; one out of range is the nearest in it. */
function qualityOf(text: string): number {
  const value = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 1;
}

const unquoted = (text: string): string =>
  text.length > 1 && text.startsWith('"') && text.endsWith('"') ? unescaped(text.slice(1, -1)) : text;

/**
 * The media type of a `content-type`, in lower case. A field that an origin sends twice comes as a list, and counts where
 * it says the same each time (RFC 9110 §8.3); else `undefined`.
 */
export function mediaTypeOf(field: string | null | undefined): string | undefined {
  const said = field ?? "";
  const fields = said.includes('"') ? [said] : said.split(",");
  const types = new Set(fields.map((one) => (one.split(";", 1)[0] as string).trim().toLowerCase()));
  const [type] = types;
  return types.size === 1 ? type : undefined;
}
