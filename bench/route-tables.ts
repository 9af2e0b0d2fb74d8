import { countryServiceTable, shardKeyTable } from "./tables.ts";

/** The tables in which look-ups are measured, by the ways that routes are declared. */
export const ROUTE_TABLES = [
  { kind: "shard-key ranges", declare: () => shardKeyTable(10) },
  { kind: "shard-key ranges", declare: () => shardKeyTable(1_000) },
  { kind: "shard-key ranges", declare: () => shardKeyTable(100_000) },
  { kind: "country × service", declare: () => countryServiceTable(10, 1) },
  { kind: "country × service", declare: () => countryServiceTable(100, 10) },
  // There are 249 countries and 256 services: more than 63,744 such routes cannot be.
  { kind: "country × service", declare: () => countryServiceTable(240, 250) },
] as const;

/** What a thread is started with. */
export interface RouteThreadData {
  /** Place in `ROUTE_TABLES`. */
  readonly table: number;
  readonly compileRounds: number;
}

/** The first message of a thread, when its table is compiled. */
export interface CompileFigures {
  readonly routeCount: number;
  readonly jsonBytes: number;
  readonly tookMs: readonly number[];
  readonly memoryBytes: number;
}

/** Then each message asks for so many look-ups, and is answered with a number that depends on all of them. */
export interface LookUpRequest {
  readonly work: "find" | "path";
  readonly times: number;
}
