import * as v from "valibot";
import * as limits from "../limits.ts";
import { NAME_FORM } from "./records.ts";

/** Schemas that several parts of the declared table share. */

/** A value with its description in the JSON Schema. */
export const described = <const Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.pipe(schema, v.description(description));

export const optional = <const Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.exactOptional(described(schema, description));

/** The type of an object with these members. */
export type MembersOutput<Members extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<Members, undefined>>;

/** A text of one form; the sentence says which. */
export const matching = (form: RegExp, sentence: string) => v.pipe(v.string(), v.regex(form, sentence));

/** A list that is not empty. */
export const list = <const Item extends v.GenericSchema>(item: Item, max: number, whenEmpty?: string) =>
  v.pipe(v.array(item), v.minLength(1, whenEmpty), v.maxLength(max));

/** Entries by name. */
export const named = <const Entry extends v.GenericSchema>(entry: Entry, max: number) =>
  v.pipe(v.record(name, entry), v.maxEntries(max));

export const name = v.pipe(
  v.string(),
  v.regex(NAME_FORM, "A name starts with a letter and has only letters, digits, `-` and `_`."),
  v.maxLength(limits.NAME_LENGTH_MAX, `A name has at most ${limits.NAME_LENGTH_MAX} characters.`),
);

export const oneOrMore = <const Item extends v.GenericSchema>(item: Item) =>
  v.union([item, list(item, limits.CONDITION_VALUES_MAX)]);

export const text = v.pipe(v.string(), v.minLength(1), v.maxLength(limits.PATTERN_LENGTH_MAX));

export const token = matching(
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/,
  "Write the name of a header or a cookie, such as x-home-region.",
);

export const claim = v.pipe(
  text,
  v.regex(/^(?:[^/][\s\S]*|(?:\/(?:[^/~]|~[01])*)+)$/, "Write a claim's name, or a JSON pointer such as /app/region."),
);

export const wholeNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const integer = (min: number, max: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(min), v.maxValue(max));

const NUMBER_TEXT = /^[0-9]{1,16}(-[0-9]{1,16})?$/;
const numberText = matching(NUMBER_TEXT, 'Write a decimal number such as "7", or an inclusive range such as "0-1023".');

export const numbers = oneOrMore(v.union([wholeNumber, numberText]));

const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})$/;
export const time = matching(TIME, "Write a time with its offset, such as 2026-06-01T00:00:00Z.");

export type DeclaredNumbers = v.InferOutput<typeof numbers>;

/** Entity overrides: the entries of `moved`, `moves` and `gone`. */

const epoch = described(
  v.pipe(v.number(), v.safeInteger(), v.minValue(1, "An epoch is a whole number from 1 on.")),
  "Rises by one with each step of a move and never falls; origins receive it in `waybill-epoch`.",
);

export const movedSchema = v.union([
  name,
  v.strictObject({ region: described(name, "The region of the entity."), epoch }),
]);

export const moveSchema = v.strictObject({
  from: described(name, "The region of the entity; takes precedence over the routes."),
  to: described(name, "The destination region."),
  state: described(
    v.picklist(["started", "fenced"]),
    "`fenced`: only reads are forwarded, until the move is switched or aborted.",
  ),
  epoch,
});

export const goneSchema = v.strictObject({ epoch });

export const epochFloorSchema = described(
  epoch,
  "The highest epoch of the entries removed by `waybill move finish`: new moves start above it.",
);

export type DeclaredMoved = v.InferOutput<typeof movedSchema>;
export type DeclaredMove = v.InferOutput<typeof moveSchema>;
export type DeclaredGone = v.InferOutput<typeof goneSchema>;

/** How requests are forwarded: members of regions, entities and routes. */

const deadline = v.pipe(wholeNumber, v.maxValue(limits.DEADLINE_MS_MAX));

export const deadlinesSchema = described(
  v.strictObject({
    firstByteMs: optional(deadline, "Until the response begins; 0 for no limit."),
    idleMs: optional(deadline, "Between two parts of the response's body; 0 for no limit."),
    totalMs: optional(deadline, "Until the response has ended; 0 for no limit."),
  }),
  "Timeouts for origins. An entity's take precedence over its region's, and these over the deployment's.",
);

export const breakerSchema = described(
  v.union([
    v.literal(false),
    v.strictObject({
      failures: optional(integer(1, 1000), "Consecutive failures without an answer in between; default 5."),
      openMs: optional(
        integer(100, limits.DEADLINE_MS_MAX),
        "How long the circuit breaker stays open before one request probes the origin; 10000 unless given.",
      ),
    }),
  ]),
  "Circuit breaker of each origin: while it fails, other origins get its requests; false for none.",
);

export const healthSchema = described(
  v.strictObject({
    path: described(
      matching(/^\/[!-~]{0,255}$/, "A path, such as /healthz."),
      "Requested with GET; any status from 200 to 399 is healthy.",
    ),
    timeoutMs: optional(integer(100, 30_000), "Until a check counts as failed; default 2000."),
  }),
  "Active checks of every origin of the region.",
);

export const replaySchema = described(
  v.pipe(wholeNumber, v.maxValue(limits.BODY_BYTES_MAX)),
  "Bodies up to so many bytes are buffered until the response begins, so that a retry can send them; 0 unless given.",
);

export const rememberSchema = described(
  v.pipe(wholeNumber, v.maxValue(limits.REMEMBER_SECONDS_MAX)),
  "Cache lifetime of an origin's 421, in seconds; default 60, 0 to disable.",
);

export const fieldsSchema = described(
  v.picklist(["standard", "full", "minimal"]),
  "Which header fields the gateway adds: `standard` unless given, `full`, or `minimal` for the least.",
);

export const wholeAnswersSchema = described(
  v.boolean(),
  "`true`: small answers are read whole before the client gets them, and longer ones are watched to their end. Default: `true` with `full` fields; otherwise bodies pass as they come.",
);

const percent = v.pipe(v.number(), v.minValue(0), v.maxValue(100));

const share = v.strictObject({
  region: described(name, "The other region."),
  percent: described(percent, "From 0 to 100."),
});

export const canarySchema = described(
  share,
  "A share of the IDs that goes to another region: the same IDs as long as the share only grows.",
);

export const shadowSchema = described(
  share,
  "A share of the reads that is also sent to another region; those responses are compared and discarded.",
);

export type DeclaredDeadlines = v.InferOutput<typeof deadlinesSchema>;
export type DeclaredCanary = v.InferOutput<typeof canarySchema>;
export type DeclaredHealth = v.InferOutput<typeof healthSchema>;
export type DeclaredBreaker = v.InferOutput<typeof breakerSchema>;

/** The parts of a split: destinations of a route other than one region. */

export const splitSchema = v.strictObject({
  by: described(v.literal("hash"), "A hash of the entity's identity: the same for every text of its ID."),
  parts: described(integer(2, limits.SPLIT_PARTS_MAX), "How many equal parts."),
  regions: described(
    v.union([v.array(name), v.record(v.string(), name)]),
    'A region for each part in turn, or by parts: { "0-1": "eu", "2-3": "eu2" }.',
  ),
});

export type DeclaredSplit = v.InferOutput<typeof splitSchema>;
