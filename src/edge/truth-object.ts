import type { PackStore, TableHistory } from "../table-ports.ts";

/** The Durable Object, as those who call it know it. */
export interface ControlPlaneRpc extends TableHistory, PackStore, Rpc.DurableObjectBranded {}
