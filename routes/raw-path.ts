/** `http://` and `https://` both end before this index, and a host has at least one character. */
const AUTHORITY_INDEX_MIN = 8;

/**
 * The path as it was sent, for the router: what it would decode by itself must not lead to a page. In `/-/%6detrics` there is none,
 * and `/%2d/metrics` is not the gateway's.
 */
export function rawPath({ url }: Request): string {
  const start = url.indexOf("/", AUTHORITY_INDEX_MIN);
  const query = url.indexOf("?", start);
  return query === -1 ? url.slice(start) : url.slice(start, query);
}

/** First segments that no table can give away: `/any/:id`, `/mint` and everything under `/-/`. */
const OWN_SEGMENTS: ReadonlySet<string> = new Set(["any", "mint", "-"]);

/** Whether a reader who decodes escapes or merges slashes would take the path for the gateway's own. No origin gets it. */
export function isOwnInDisguise(path: string): boolean {
  const read = path.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const [first = ""] = read.replace(/^[/\\]+/, "").split(/[/\\]/, 1);
  return OWN_SEGMENTS.has(first);
}
