import type { SequenceBlocks } from "./sequence-blocks.ts";
import type { Settings } from "./settings.ts";
import type { TrafficObject } from "./traffic-store.ts";
import type { TruthObject } from "./truth-object.ts";

/** What the platform gives the Worker: the bindings of `wrangler.toml`, or of the self-hosted configuration. */
export interface Env extends Settings {
  readonly TABLE_KV: KVNamespace;
  readonly SEQUENCES: DurableObjectNamespace<SequenceBlocks>;
  readonly TABLE_TRUTH: DurableObjectNamespace<TruthObject>;
  readonly TRAFFIC: DurableObjectNamespace<TrafficObject>;
  /** Bound where every request is to be written to Workers Analytics Engine. */
  readonly ANALYTICS?: AnalyticsEngineDataset;
}
