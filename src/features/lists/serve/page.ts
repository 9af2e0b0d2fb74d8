import { LONE_SURROGATE } from "../../../gateway/decide.ts";
import { isSameOrigin } from "../../../proxy/addresses/host.ts";
import { duplicateKey, parseJson } from "../../../routing/index.ts";
import { memberOf } from "../../../routing/resolve/region-sources.ts";
import { JsonScanner, tooDeepAt } from "../../../routing/schema/json-scanner.ts";
import type { NextPage } from "../table/types.ts";
import { nextOfLink } from "./link-header.ts";
import { exactText } from "./order.ts";

/** Why a region's list cannot go on: the gateway's slug for an origin's failure, `status-503`, or what is wrong with a page. */
export type RegionFault =
  | "timeout"
  | "overloaded"
  | "page-too-large"
  | "too-many-items"
  | "malformed-page"
  | "malformed-next"
  | "endless-pages"
  | "item-without-id"
  | "item-without-key"
  | "out-of-order"
  | "owner-unknown"
  | (string & {});

/** A region's page: its items as they are written, and what leads to the next one. */
export interface Page {
  readonly items: readonly string[];
  readonly next: string | undefined;
}

/** Reads a page; a fault where it is not JSON, or has no array where the table says. */
export function readPage(
  text: string,
  path: readonly string[],
): { items: readonly string[]; rest: string } | undefined {
  try {
    const found = sliceItems(text, path);
    if (found === undefined) return undefined;
    // The text around the items must be JSON too. Each item is read when its turn comes.
    const rest = `${text.slice(0, found.start)}${text.slice(found.end)}`;
    if (tooDeepAt(rest, DEPTH_MAX) !== undefined || duplicateKey(rest) !== undefined) return undefined;
    JSON.parse(rest);
    return { items: found.items, rest };
  } catch {
    return undefined;
  }
}

/** Deeper texts cost much for their length, and no list needs them. */
const DEPTH_MAX = 64;

interface Slices {
  readonly items: readonly string[];
  /** Between the brackets. */
  readonly start: number;
  readonly end: number;
}

/** The texts of an array's items. `path`: names that lead to it from the top. */
function sliceItems(text: string, path: readonly string[]): Slices | undefined {
  const scanner = new JsonScanner(text);
  let isNext = path.length === 0;
  /** Objects on the path that are open. */
  let entered = path.length === 0 ? 0 : 1;
  for (let token = scanner.next(); token !== ""; token = scanner.next()) {
    if (token === "[" && isNext && entered === path.length) return sliceArray(text, scanner);
    if (token === "{" && isNext && entered < path.length) entered++;
    // The object that should have the array has ended.
    if ((token === "}" || token === "]") && scanner.depth < entered) return undefined;
    isNext = token === ":" && scanner.depth === entered && scanner.key() === path[entered - 1];
  }
  return undefined;
}

function sliceArray(text: string, scanner: JsonScanner): Slices | undefined {
  const start = scanner.end;
  const items: string[] = [];
  let depth = 0;
  let from = start;
  for (let token = scanner.next(); token !== ""; token = scanner.next()) {
    if ((token === "{" || token === "[") && ++depth > DEPTH_MAX) return undefined;
    if (token === "}" || token === "]") depth--;
    if (depth >= 0 && (depth > 0 || token !== ",")) continue;
    items.push(text.slice(from, scanner.at).trim());
    from = scanner.end;
    if (depth >= 0) continue;
    if (items.length === 1 && items[0] === "") items.pop();
    return { items, start, end: scanner.at };
  }
  return undefined;
}

/** Where a region's next page is said, and what is allowed there. */
interface NextIn {
  readonly next: NextPage;
  /** The header `link`. */
  readonly link: string | null;
  /** Path of the list, at the origin and as clients see it. */
  readonly paths: readonly string[];
  /** Scheme and authority of the origin. */
  readonly origins: readonly string[];
  readonly charactersMax: number;
}

/**
 * The cursor of the next page, or the whole query of its URL; `undefined` at the end, `null` where it cannot be followed.
 * `rest`: the JSON text around the items.
 */
export function nextIn(rest: string, { next, link, paths, origins, charactersMax }: NextIn): string | null | undefined {
  if (next.kind === "none") return undefined;
  if (next.kind === "link") {
    const url = link === null ? undefined : nextOfLink(link);
    return url && queryOf(url, paths, origins, charactersMax);
  }
  const value = next.path.reduce(memberOf, parseJson(rest));
  if (value === undefined || value === null || value === "") return undefined;
  // A number is followed as it is written: 64 bits are more than a double holds (RFC 8259 §6).
  const text = typeof value === "string" ? value : typeof value === "number" ? exactText(rest, next.path) : undefined;
  if (text === undefined || LONE_SURROGATE.test(text)) return null;
  if (next.kind === "member") return queryOf(text, paths, origins, charactersMax);
  return JSON.stringify(encodeURIComponent(text)).length - 2 <= charactersMax ? text : null;
}

/** The query of a URL that leads to the same list. No other place is asked. */
function queryOf(url: string, paths: readonly string[], origins: readonly string[], max: number): string | null {
  const authority = /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? "";
  if (authority !== "" && !origins.some((one) => isSameOrigin(authority, one))) return null;
  const target = url.slice(authority.length);
  const at = target.indexOf("?");
  if (at === -1 || (!(at === 0 && authority === "") && !paths.includes(target.slice(0, at)))) return null;
  const query = target.slice(at + 1);
  return query.length <= max && /^[!$-;=?-[\]_a-z~]*$/.test(query) ? query : null;
}
