import type { SequenceBlocks } from "./sequence-blocks.ts";
import type { TrafficObject } from "./traffic-store.ts";
import type { TruthObject } from "./truth-object.ts";

/** What the platform gives the Worker: the bindings of `wrangler.toml`, or of the self-hosted configuration. */
export interface Env {
  readonly TABLE_KV: KVNamespace;
  readonly SEQUENCES: DurableObjectNamespace<SequenceBlocks>;
  readonly TABLE_TRUTH: DurableObjectNamespace<TruthObject>;
  readonly TRAFFIC: DurableObjectNamespace<TrafficObject>;
  /** Bound where every request is to be written to Workers Analytics Engine. */
  readonly ANALYTICS?: AnalyticsEngineDataset;
  readonly REPORT_SECONDS?: string;
  readonly CHECK_SECONDS?: string;
  readonly REQUEST_LOG?: string;
  readonly CLIENT_ADDRESS?: string;
  readonly FORWARDED_FIELDS?: string;
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
  readonly CLIENT_RATE_LIMIT?: RateLimit | string;
  readonly ENTITY_RATE_LIMIT?: RateLimit | string;
  readonly LOOKUP_RATE_LIMIT?: RateLimit | string;
  readonly RATE_LIMIT_PERIOD_SECONDS?: string;
}
