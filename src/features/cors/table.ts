import * as v from "valibot";
import * as limits from "../../routing/limits.ts";
import type { Report } from "../../routing/schema/faults.ts";
import { described, integer, list, matching, optional } from "../../routing/schema/parts.ts";

/** Web pages that may read the gateway's own answers (Fetch standard, "CORS protocol"). */

const header = matching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, "Write the name of a header, such as x-app-version.");

export const corsSchema = v.strictObject({
  origins: described(
    list(v.pipe(v.string(), v.minLength(1), v.maxLength(limits.PATTERN_LENGTH_MAX)), limits.CORS_ORIGINS_MAX),
    'Origins of pages: "https://app.example.com", "https://*.example.com" for all hosts below, "null", or "*" for all.',
  ),
  credentials: optional(v.boolean(), "Whether these pages may send cookies and other credentials; default false."),
  maxAgeSeconds: optional(
    integer(0, limits.CORS_SECONDS_MAX),
    "How long a browser may keep the answer to a preflight; default 600.",
  ),
  headers: optional(
    v.pipe(v.array(header), v.maxLength(limits.CORS_HEADERS_MAX)),
    "Request headers of the pages' own that the gateway allows beside those that it reads.",
  ),
});

type DeclaredCors = v.InferOutput<typeof corsSchema>;

export interface Cors {
  /** The value of `access-control-allow-origin` for a page; `undefined` where it may not read. */
  readonly allowed: (origin: string) => string | undefined;
  /** Whether the answer depends on who asks. */
  readonly isVaried: boolean;
  readonly credentials: boolean;
  /** Values of header fields. */
  readonly maxAge: string;
  readonly headers: string;
}

/** Fields that the gateway itself reads with any table. The Fetch standard lets pages send a few others without a preflight. */
const READ_HEADERS = [
  ...["accept", "authorization", "cache-control", "content-digest", "content-encoding", "content-type", "id-layout"],
  ...["idempotency-key", "if-match", "if-none-match", "traceparent", "tracestate", "waybill-debug", "waybill-read"],
];

const ANY = "*";
const DEFAULT_MAX_AGE_SECONDS = 600;

/** An origin as browsers write it: lower case, and no default port. A `*` may stand for the first labels of a web host. */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/(\*\.)?((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:]+\])(?::([1-9]\d{0,4}))?$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: "80", https: "443" };

export const checkCors = ({ origins, credentials = false }: DeclaredCors, report: Report): void => {
  const seen = new Set<string>();
  for (const [index, origin] of origins.entries()) {
    const place = ["cors", "origins", index];
    if (seen.has(origin)) report("schema", place, `${JSON.stringify(origin)} is duplicated; remove one of them.`);
    seen.add(origin);
    if (origin === ANY || origin === "null") {
      if (credentials) {
        const who = origin === ANY ? "every page of the web" : "every sandboxed frame and local file";
        report("schema", place, `With credentials, ${JSON.stringify(origin)} would trust ${who}; list the origins.`);
      }
      continue;
    }
    const fault = faultOf(origin);
    if (fault !== undefined) report("schema", place, `${JSON.stringify(origin)} ${fault}`);
  }
  if (seen.has(ANY) && seen.size > 1)
    report("schema", ["cors", "origins"], '"*" allows every origin; remove the others.');
};

const faultOf = (origin: string): string | undefined => {
  const [, scheme = "", wildcard, host = "", port] = ORIGIN.exec(origin) ?? [];
  if (scheme === "") {
    return "is no origin; write scheme, host and port in lower case without a path, such as https://app.example.com.";
  }
  if (port !== undefined && (port === DEFAULT_PORTS[scheme] || Number(port) > 65_535)) {
    return `has a port that no browser sends with ${scheme}; remove it.`;
  }
  if (wildcard === undefined) return undefined;
  if (DEFAULT_PORTS[scheme] === undefined) return "has a `*` in a scheme without a domain; write the whole origin.";
  // Such a domain is not one company's.
  return host.includes(".") ? undefined : "would allow a whole top-level domain; name at least two labels.";
};

/** `read`: request headers that the gateway reads by the rest of the table. */
export const compileCors = (
  { origins, credentials = false, maxAgeSeconds, headers = [] }: DeclaredCors,
  read: readonly string[],
): Cors => {
  const isVaried = !origins.includes(ANY);
  const exact = new Set(origins.filter((origin) => !origin.includes("*")));
  const wildcards = origins.flatMap((origin) => {
    const [scheme, domain] = origin.split("://*");
    return domain === undefined ? [] : [{ start: `${scheme}://`, end: domain }];
  });
  const isBelow = (origin: string): boolean =>
    wildcards.some(
      ({ start, end }) =>
        origin.startsWith(start) && origin.endsWith(end) && LABELS.test(origin.slice(start.length, -end.length)),
    );
  return Object.freeze({
    allowed: (origin: string) => (isVaried ? (exact.has(origin) || isBelow(origin) ? origin : undefined) : ANY),
    isVaried,
    credentials,
    maxAge: String(maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS),
    headers: [...new Set([...READ_HEADERS, ...[...read, ...headers].map((name) => name.toLowerCase())])].join(", "),
  });
};

/** The host labels that a `*` stands for, at least one, and as long as a host may be. */
const LABELS = /^(?=.{1,253}$)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
