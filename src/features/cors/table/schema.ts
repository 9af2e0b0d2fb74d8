import * as v from "valibot";
import * as limits from "../../../routing/limits.ts";
import { described, integer, list, matching, optional } from "../../../routing/schema/parts.ts";

/** Web pages that may read the gateway's own answers, as declared. */

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

export type DeclaredCors = v.InferOutput<typeof corsSchema>;

declare module "../../../routing/schema/table.ts" {
  interface DeclaredTable {
    cors?: DeclaredCors;
  }
}
