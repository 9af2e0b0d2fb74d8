import type { SequenceBlocks } from "./sequence-blocks.ts";

/** What the platform gives the Worker: the bindings of `wrangler.toml`, or of the self-hosted configuration. */
export interface Env {
  readonly TABLE_KV: KVNamespace;
  readonly SEQUENCES: DurableObjectNamespace<SequenceBlocks>;
  readonly REQUEST_LOG?: string;
  readonly CLIENT_ADDRESS?: string;
  readonly FORWARDED_FIELDS?: string;
  readonly TABLE_REFRESH_SECONDS?: string;
  readonly FIRST_BYTE_DEADLINE_MS?: string;
  readonly IDLE_DEADLINE_MS?: string;
  readonly TOTAL_DEADLINE_MS?: string;
  /** A secret, not a variable: `wrangler secret put PUBLIC_ID_KEYS`. */
  readonly PUBLIC_ID_KEYS?: string;
}
