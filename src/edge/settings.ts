import * as v from "valibot";
import { parseJson } from "../routing/schema/json-scanner.ts";
import type { RateBinding } from "./rate-limits.ts";

/** What a secret says; `undefined` when it is not as it must be, without saying how: it is secret. */
export function readSecret<const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.InferOutput<Schema> | undefined {
  const parsed = v.safeParse(schema, parseJson(text));
  return parsed.success ? parsed.output : undefined;
}

/** The Worker's settings as they come, by the platform's variables and secrets or by an operator's environment. */
export interface Settings {
  readonly REPORT_SECONDS?: string;
  readonly CHECK_SECONDS?: string;
  readonly REQUEST_LOG?: string;
  readonly CLIENT_ADDRESS?: string;
  readonly FORWARDED_FIELDS?: string;
  readonly METHOD_OVERRIDE?: string;
  readonly SERVER_FIELDS?: string;
  readonly TABLE_REFRESH_SECONDS?: string;
  readonly FIRST_BYTE_DEADLINE_MS?: string;
  readonly IDLE_DEADLINE_MS?: string;
  readonly TOTAL_DEADLINE_MS?: string;
  /** A secret, not a variable: `wrangler secret put PUBLIC_ID_KEYS`. */
  readonly PUBLIC_ID_KEYS?: string;
  /** A secret as well. */
  readonly ORIGIN_SIGNING_KEYS?: string;
  /** A secret, though it has digests alone. */
  readonly ADMIN_TOKENS?: string;
  readonly ACCESS_TEAM_DOMAIN?: string;
  readonly ACCESS_AUDIENCE?: string;
  readonly ACCESS_OPERATORS?: string;
  readonly OPEN_PAGES?: string | null;
  /** A rate limit binding, or text such as `100/60`. */
  readonly CLIENT_RATE_LIMIT?: RateBinding | string;
  readonly ENTITY_RATE_LIMIT?: RateBinding | string;
  readonly LOOKUP_RATE_LIMIT?: RateBinding | string;
  readonly RATE_LIMIT_PERIOD_SECONDS?: string;
}
