import * as v from "valibot";

/** Requests to `/-/table`. The Worker validates them; answers are in `table-api.ts`. */

export const PAGE_ENTRIES_MAX = 100;
export const PAGE_ENTRIES_DEFAULT = 20;

/** Long enough for a sentence and a link; every list of revisions shows it. */
export const NOTE_CHARACTERS_MAX = 500;

/** Carries the note of a `PUT`, percent-encoded: HTTP headers are not UTF-8 (RFC 9110 §5.5). */
export const NOTE_HEADER = "waybill-note";

const note = v.optional(v.string(), "");

/** Promotes or aborts a canary. */
export const endCanarySchema = v.strictObject({ note });

export const rollbackSchema = v.strictObject({ to: v.pipe(v.number(), v.safeInteger(), v.minValue(0)), note });

/** `canarySelectorSchema` validates the other members. */
export const startCanarySchema = v.looseObject({ table: v.pipe(v.unknown(), v.metadata({ type: "object" })), note });
