import type { TableHistory } from "../table-ports.ts";

/** The Durable Object, as those who call it know it. */
export interface TruthObject extends TableHistory, Rpc.DurableObjectBranded {}
