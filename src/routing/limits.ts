/** The rest of a table's budget, in cells of about 30 bytes and 0.1 µs. Code spends cells before it builds or walks something. */
export class Budget {
  private readonly cells: number;
  private left: number;

  constructor(cells: number) {
    this.cells = cells;
    this.left = cells;
  }

  /** Whether that many cells were left. After a failure every call fails. */
  spend(cells: number): boolean {
    this.left -= cells;
    return this.left >= 0;
  }

  /** Greater than the budget once it is spent. */
  get used(): number {
    return this.cells - this.left;
  }

  get isSpent(): boolean {
    return this.left < 0;
  }
}

/** Limits of a routing table. They are checked when a table is published and when it is loaded. */

/** Length of the table's JSON text. A KV value holds 25 MiB; a third of it leaves room for compiling in a 128 MB isolate. */
export const TABLE_BYTES_MAX = 8 * 1024 * 1024;

/** The highest number of a revision: 15 digits, which entity tags and paths can name too. */
export const REVISION_MAX = 999_999_999_999_999;

/** Nesting of objects and arrays. The deepest valid value is at level 6. */
export const TABLE_DEPTH_MAX = 12;

export const ROUTES_MAX = 200_000;
/** Packs of a table, and bytes of all together: an isolate holds 16 MB of their pages at a time. */
export const PACKS_MAX = 16;
export const PACKS_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of the body of an answer that is kept under an idempotency key. */
export const KEPT_BYTES_MAX = 65_536;
export const BULK_MAX = 100;
export const KEY_SECONDS_MAX = 30 * 86_400;

/** Places of IDs beside the path, IDs of one request, and bytes that are read of a body before it is sent on. */
export const PLACES_MAX = 16;
export const PLACE_IDS_MAX = 100;
export const PEEK_BYTES_MAX = 65_536;

/** Size of a document, some 100 µs a thousand. */
export const GRAPHQL_TOKENS_MAX = 10_000;
/** More connections would wait for each other: a Worker has six at a time. */
export const GRAPHQL_REGIONS_MAX = 32;
/** Sizes of one region's answer, and of all that one operation gets: they are in memory together. */
export const GRAPHQL_ANSWER_BYTES_MAX = 4 * 1024 * 1024;
export const GRAPHQL_RESULT_BYTES_MAX = 16 * 1024 * 1024;

export const SPLIT_PARTS_MAX = 256;
export const MOVED_MAX = 100_000;
export const ENTITIES_MAX = 1_000;
export const REGIONS_MAX = 200;
export const ORIGINS_PER_REGION_MAX = 32;
export const PATHS_PER_ENTITY_MAX = 32;

/** Paths that the alternatives of one pattern make together. */
export const ALTERNATIVES_MAX = 64;
export const HOSTS_PER_OWNER_MAX = 100;

/** Path patterns of all entities: those with the same literal prefix are compared in pairs. */
export const PATTERNS_MAX = 4_096;
export const IDS_PER_ENTITY_MAX = 16;
export const SLICES_PER_LAYOUT_MAX = 16;

/** Known IDs have at most a dozen rows. */
export const ROWS_PER_LAYOUT_MAX = 64;

/** The text forms in which one layout's IDs are read. */
export const TEXTS_PER_LAYOUT_MAX = 8;

/** Digits of a declared text, and of its alphabet. */
export const TEXT_LENGTH_MAX = 128;

/** 256 bits. */
export const TABLE_TEXT_BYTES_MAX = 32;

/** Single values and ranges in one condition. */
export const CONDITION_VALUES_MAX = 10_000;

/** Names are used in headers and log lines, so they are short. */
export const NAME_LENGTH_MAX = 64;

export const PATTERN_LENGTH_MAX = 256;

/** Layouts in a table. A route without a layout is placed in each that is in use. */
export const LAYOUTS_MAX = 200;

/** About a second. A table can be loaded beside the current one in a heap of 90 MB, which `memory.slow.test.ts` tries. */
export const COMPLEXITY_MAX = 1_500_000;

/** Values of a table apart from routes and overrides. They are validated all at once, which bounds memory. */
export const VALUES_MAX = 250_000;

/** Steps of the search for routes that earlier ones cover, at most a microsecond each. */
export const COVER_STEPS_MAX = 1_000_000;

/** Steps of the search for routes that earlier ones hide in part: about a second. */
export const WARNING_STEPS_MAX = 5_000_000;

/** Faults that one report lists; a table with more is wrong as a whole. */
export const FAULTS_MAX = 1_000;

/** Length of an ID in a request. The longest text form of any layout has 41 characters. */
export const ID_LENGTH_MAX = 128;

/** IDs minted earlier are not of the layout, unless the table says otherwise: 2000-01-01T00:00:00Z. */
export const MINTED_FROM_DEFAULT_MS = 946_684_800_000;

/** How far the minter's clock may be ahead of the gateway's: one day. */
export const MINTED_AHEAD_DEFAULT_MS = 86_400_000;

/** The time windows move with the clock; layouts must stay unambiguous until 2100-01-01T00:00:00Z. */
export const HORIZON_MS = 4_102_444_800_000;

/** A deadline of a day serves uploads of any size; anything longer is a mistake. */
export const DEADLINE_MS_MAX = 86_400_000;

/** Buffered bodies are in the isolate's memory: 128 MB for all requests. */
export const BODY_BYTES_MAX = 1024 * 1024;

export const WITHOUT_ID_MAX = 1_000;
export const SOURCES_MAX = 16;

/** Values and prefixes of one source. A table's sources share its limit of values. */
export const SOURCE_VALUES_MAX = 10_000;
export const SOURCE_HEADERS_MAX = 16;

/** Names that a problem lists, of those that would have been right. */
export const KNOWN_NAMES_MAX = 50;

/** Browsers keep no cookie for longer than 400 days. */
export const STICKY_SECONDS_MAX = 34_560_000;

/** Servers seldom accept headers of more than 16 KiB in all. */
export const TOKEN_LENGTH_MAX = 16 * 1024;

/** A copy that is further behind is a backup. */
export const COPY_LAG_SECONDS_MAX = 86_400;

export const CORS_ORIGINS_MAX = 100;
export const CORS_HEADERS_MAX = 64;
/** No browser keeps a preflight for longer than a day. */
export const CORS_SECONDS_MAX = 86_400;

/** An origin's 421 is a cache entry; after an hour the table decides again. */
export const REMEMBER_SECONDS_MAX = 3_600;
