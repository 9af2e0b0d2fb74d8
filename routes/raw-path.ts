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
