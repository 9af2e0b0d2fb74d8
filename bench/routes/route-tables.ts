import { countryServiceTable, shardKeyTable } from "../lib/tables.ts";

/** Tables whose look-ups are measured, by the kind of their routes. */
export const ROUTE_TABLES = [
  { kind: "shard-key ranges", declare: () => shardKeyTable(10) },
  { kind: "shard-key ranges", declare: () => shardKeyTable(1_000) },
  { kind: "shard-key ranges", declare: () => shardKeyTable(100_000) },
  { kind: "country × service", declare: () => countryServiceTable(10, 1) },
  { kind: "country × service", declare: () => countryServiceTable(100, 10) },
  // The maximum is 249 countries × 256 services = 63,744 routes.
  { kind: "country × service", declare: () => countryServiceTable(240, 250) },
] as const;

/** Input of a thread. */
export interface RouteThreadData {
  /** Index in `ROUTE_TABLES`. */
  readonly table: number;
  readonly compileRounds: number;
  /** Folder of the checkout whose code compiles and looks up. */
  readonly checkout: string;
}

/** A thread's first message, after compiling its table. */
export interface CompileFigures {
  readonly routeCount: number;
  readonly jsonBytes: number;
  readonly tookMs: readonly number[];
  readonly memoryBytes: number;
}

/** Each later message requests look-ups. The reply is a number that depends on all of them. */
export interface LookUpRequest {
  readonly work: "find" | "path";
  readonly times: number;
}
