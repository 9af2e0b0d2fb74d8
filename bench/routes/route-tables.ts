import { countryServiceTable, shardKeyTable, textsTable } from "../lib/tables.ts";

interface RouteTable {
  readonly kind: string;
  readonly declare: () => object;
  /** The kind whose table of ten routes the figures are compared with; absent: its own. */
  readonly against?: string;
  /** Older checkouts cannot load it. */
  readonly isNew?: true;
}

const BASE62_TEXTS = "ten layouts in base62";

/** Tables whose look-ups are measured, by the kind of their routes. */
export const ROUTE_TABLES: readonly RouteTable[] = [
  { kind: "shard-key ranges", declare: () => shardKeyTable(10) },
  { kind: "shard-key ranges", declare: () => shardKeyTable(1_000) },
  { kind: "shard-key ranges", declare: () => shardKeyTable(100_000) },
  { kind: "country × service", declare: () => countryServiceTable(10, 1) },
  { kind: "country × service", declare: () => countryServiceTable(100, 10) },
  // The maximum is 249 countries × 256 services = 63,744 routes.
  { kind: "country × service", declare: () => countryServiceTable(240, 250) },
  { kind: BASE62_TEXTS, declare: () => textsTable(() => "base62") },
  { kind: "ten alphabets", declare: () => textsTable(alphabetAt), against: BASE62_TEXTS, isNew: true },
];

/** Ten declared texts, of which no two are alike. */
const ALPHABETS = [
  { alphabet: "crockford-lower", prefix: "user_" },
  { alphabet: "base58" },
  { alphabet: "base58-flickr" },
  { alphabet: "base62-lower-first" },
  { alphabet: "base36" },
  { alphabet: "base36", case: "ignored", prefix: "id-" },
  { alphabet: "base64url", fill: "end", suffix: "==" },
  { alphabet: "hex", groups: [8, 8, 8, 8], separator: "-" },
  { alphabet: "base32-sortable" },
  { alphabet: "base58", padded: false, prefix: "b" },
];

const alphabetAt = (at: number) => ALPHABETS[at];

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
