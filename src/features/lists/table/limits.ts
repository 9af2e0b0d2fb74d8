/** Limits of lists over all regions. */

export const PAGE_SIZE_MAX = 10_000;

/** A page is held as text while its items are read. */
export const PAGE_BYTES_MAX = 8 * 1024 * 1024;

/** The pages of all regions at once, in one answer and in all of an isolate: a quarter of its memory. */
export const PAGES_BYTES_MAX = 32 * 1024 * 1024;

export const ITEMS_MAX = 100_000;

/** The items of one answer, which streams. */
export const LIMIT_MAX = 10_000_000;

/** Below the 10,000 requests that the platform lets one request make, with room for retries. */
export const PAGES_MAX = 4_000;

export const CURSOR_SECONDS_MAX = 30 * 86_400;

/** Characters of a cursor. Many proxies take URLs of 8 KiB. */
export const CURSOR_CHARACTERS_MAX = 6_000;

/** A region's own cursor: a number of 64 bits has 20 digits. */
export const PAGE_CURSOR_MIN = 20;

/** UTF-8 bytes of a key of the order, as a cursor has it. */
export const KEY_BYTES_MAX = 600;

/** Routes that a filter walks, in microseconds. A table with more asks all regions. */
export const FILTER_ROUTES_MAX = 10_000;
