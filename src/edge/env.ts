import type { SequenceBlocks } from "./sequence-blocks.ts";
import type { Settings } from "./settings.ts";
import type { MetricsRpc } from "./traffic-store.ts";
import type { ControlPlaneRpc } from "./truth-object.ts";

/** What the platform gives the Worker: the bindings of `wrangler.toml`, or of the self-hosted configuration. */
export interface Env extends Settings {
  readonly TABLE_KV: KVNamespace;
  readonly SEQUENCES: DurableObjectNamespace<SequenceBlocks>;
  readonly TABLE_TRUTH: DurableObjectNamespace<ControlPlaneRpc>;
  readonly TRAFFIC: DurableObjectNamespace<MetricsRpc>;
  /** Bound where every request is to be written to Workers Analytics Engine. */
  readonly ANALYTICS?: AnalyticsEngineDataset;
}
