/** Which paths are the gateway's, whatever a table says: for whoever dispatches requests, checks tables or replays logs. */

/** First segments that no table can give away: `/any/:id`, `/mint` and everything under `/-/`. */
export const GATEWAY_SEGMENTS: ReadonlySet<string> = new Set(["any", "mint", "-"]);

/** What leads to an origin by the ID alone. */
export const ANY_PREFIX = "/any/";

/** Whether the gateway answers the raw path itself, and no origin is asked. */
export const isGatewayPath = (path: string): boolean => path === "/mint" || path === "/-" || path.startsWith("/-/");

/** Whether a reader who decodes escapes or merges slashes would take the path for the gateway's own. No origin gets it. */
export const isEncodedGatewayPath = (path: string): boolean => {
  const read = path.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const [first = ""] = read.replace(/^[/\\]+/, "").split(/[/\\]/, 1);
  return GATEWAY_SEGMENTS.has(first);
};

/** `.` and `..` as segments, plain or encoded (WHATWG URL, "single-dot" and "double-dot URL path segment"). */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=\/|$)/i;

/**
 * Whether the runtime would resolve the path to another one when it is sent on: after the decision, so that an order's ID
 * would open the way to somebody else's path.
 */
export const isNotNormalized = (path: string): boolean => {
  if (path.includes("\\")) return true;
  return (path.includes("/.") || path.includes("/%2")) && DOT_SEGMENT.test(path);
};
