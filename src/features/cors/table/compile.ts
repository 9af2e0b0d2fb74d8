import type { TableFeature } from "../../../routing/feature.ts";
import type { DeclaredCors } from "./schema.ts";

/** Web pages that may read the gateway's own answers (Fetch standard, "CORS protocol"). */

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
  "accept",
  "authorization",
  "cache-control",
  "content-digest",
  "content-encoding",
  "content-type",
  "id-layout",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "traceparent",
  "tracestate",
  "waybill-debug",
  "waybill-read",
];

/** As an origin: all. */
export const ANY = "*";

const DEFAULT_MAX_AGE_SECONDS = 600;

/** `read`: request headers that the gateway reads by the rest of the table. */
const compileCors = (
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

export const corsTable: TableFeature = {
  name: "cors",
  compile: ({ draft: { table }, headersRead }) => ({
    table: (compiled) => ({ cors: table.cors && compileCors(table.cors, headersRead(compiled)) }),
  }),
};

declare module "../../../routing/table.ts" {
  interface CompiledTable {
    /** `undefined`: no web page of another origin reads what the gateway answers. */
    readonly cors?: Cors | undefined;
  }
}
