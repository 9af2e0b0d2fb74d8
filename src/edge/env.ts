import type { PointerAnswer, PointerCall } from "../control-plane/announced.ts";
import type { Machines } from "../formats/machines.ts";
import type { Result } from "../ids/result.ts";
import type { ControlPlaneApi } from "../ports/admin.ts";
import type { TableChangeError, TableHistoryError } from "../problems/errors.ts";
import type { ControlPlaneNews, NewsQuery } from "./events/protocol.ts";
import type { MetricsRpc } from "./metrics/store.ts";
import type { Settings } from "./settings.ts";

/** The Durable Object, as those who call it know it. */
export interface ControlPlaneRpc extends ControlPlaneApi, Rpc.DurableObjectBranded {
  /** For an isolate that had to check a table: writes its form to KV, if it is in force and there is none. */
  renewForm(digest: string): Promise<void>;
  /** For isolates of a self-hosted gateway whose start hands a table over: it is in force when this ends. */
  begin(): Promise<Result<undefined, TableChangeError>>;
  /** For mirrors, by a state node: the pointer in KV, once it is another one than theirs. */
  pointer(call: PointerCall): Promise<Result<PointerAnswer, TableHistoryError>>;
  machines(): Promise<Machines>;
  /** For the log of events. */
  news(query: NewsQuery): Promise<ControlPlaneNews>;
}

/** The Worker's bindings: of `wrangler.toml`, or of the self-hosted configuration. A feature adds its own. */
export interface Env extends Settings {
  readonly TABLE_KV: KVNamespace;
  readonly TABLE_TRUTH: DurableObjectNamespace<ControlPlaneRpc>;
  readonly TRAFFIC: DurableObjectNamespace<MetricsRpc>;
  /** Bound where every request is to be written to Workers Analytics Engine. */
  readonly ANALYTICS?: AnalyticsEngineDataset;
  /** Bound by a self-hosted start that hands a table over. */
  readonly START_TABLE?: Fetcher;
  /** `on`: no request is served, and objects only move their state (host/moving.ts). */
  readonly STATE_MOVES?: string;
  /** The console's files, where they were built. */
  readonly CONSOLE?: Fetcher;
  /** On a state node: the version of Waybill. */
  readonly NODE_VERSION?: string;
}
