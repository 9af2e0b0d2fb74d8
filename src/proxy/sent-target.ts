/**
 * Path and query as an origin gets them. `fetch` parses the URL again (WHATWG URL §4.1): it encodes `"`, `^`, `{` and `}` in
 * a path and `'` in a query, and cuts off what follows `#`. What is signed must be what arrives.
 */
export function sentTarget(url: string): string {
  const sent = CHANGED.test(url) ? withoutFragment(new URL(url).href) : url;
  return sent.slice(sent.indexOf("/", AUTHORITY_INDEX_MIN));
}

/** Visible characters that `fetch` may change; the gateway's runtime lets no others into a target. */
const CHANGED = /["'<>\\^`{|}#]/;

/** `http://` and `https://` both end before this index, and a host has at least one character. */
const AUTHORITY_INDEX_MIN = 8;

function withoutFragment(href: string): string {
  const at = href.indexOf("#");
  return at === -1 ? href : href.slice(0, at);
}
