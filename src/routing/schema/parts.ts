import * as v from "valibot";
import {
  BODY_BYTES_MAX,
  CONDITION_VALUES_MAX,
  DEADLINE_MS_MAX,
  NAME_LENGTH_MAX,
  PACKS_MAX,
  PATTERN_LENGTH_MAX,
  REMEMBER_SECONDS_MAX,
  SPLIT_PARTS_MAX,
} from "../limits.ts";
import { FIELD_BITS_MAX, PACK_BYTES_MAX, PACK_RANGES_MAX, PACK_REGIONS_MAX } from "../packs/format.ts";

/** What several parts of the declared table are made of. */

export const name = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z][A-Za-z0-9_-]*$/, "A name starts with a letter and has only letters, digits, `-` and `_`."),
  v.maxLength(NAME_LENGTH_MAX, `A name has at most ${NAME_LENGTH_MAX} characters.`),
);

export const oneOrMore = <const Item extends v.GenericSchema>(item: Item) =>
  v.union([item, v.pipe(v.array(item), v.minLength(1), v.maxLength(CONDITION_VALUES_MAX))]);

export const text = v.pipe(v.string(), v.minLength(1), v.maxLength(PATTERN_LENGTH_MAX));

export const wholeNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const numberText = v.pipe(
  v.string(),
  v.regex(
    /^[0-9]{1,16}(-[0-9]{1,16})?$/,
    'Write a decimal number such as "7", or an inclusive range such as "0-1023".',
  ),
);

export const numbers = oneOrMore(v.union([wholeNumber, numberText]));

export const time = v.pipe(
  v.string(),
  v.regex(
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})$/,
    "Write a time with its offset, such as 2026-06-01T00:00:00Z.",
  ),
);

export const jsonPath = v.pipe(
  v.string(),
  v.description("JSON pointer in which `*` is any one name or index and `**` any number of them: /items/*/orderId."),
);

export const otherBodies = v.pipe(
  v.picklist(["pass", "refuse"]),
  v.description("Bodies that are no JSON, in which no ID is sought: passed on (the default) or refused."),
);

export type DeclaredNumbers = v.InferOutput<typeof numbers>;

/** What the declared table says about single entities: those that left their birth region, are about to, or are no more. */

const epoch = v.pipe(
  v.number(),
  v.safeInteger(),
  v.minValue(1, "An epoch is a whole number from 1 on."),
  v.description("Rises by one with each step of a move and never falls; origins are told it in `waybill-epoch`."),
);

/** One entry of `moved`. */
export const movedSchema = v.union([name, v.strictObject({ region: name, epoch })]);

/** One entry of `moves`. */
export const moveSchema = v.strictObject({
  from: v.pipe(name, v.description("Where the entity is, and where its requests go, whatever the routes say.")),
  to: v.pipe(name, v.description("Where it will be.")),
  state: v.pipe(
    v.picklist(["started", "fenced"]),
    v.description("`fenced`: only reads are passed on, until the move is switched or aborted."),
  ),
  epoch,
});

/** One entry of `gone`. */
export const goneSchema = v.strictObject({ epoch });

export const epochFloorSchema = v.pipe(
  epoch,
  v.description("The highest epoch of the entries that `waybill move finish` dropped: new moves begin above it."),
);

export type DeclaredMoved = v.InferOutput<typeof movedSchema>;
export type DeclaredMove = v.InferOutput<typeof moveSchema>;
export type DeclaredGone = v.InferOutput<typeof goneSchema>;

/** What the declared table says about how requests are carried: the members of regions, entities and routes. */

const milliseconds = (max: number) => v.pipe(wholeNumber, v.maxValue(max));

export const deadlinesSchema = v.pipe(
  v.strictObject({
    firstByteMs: v.exactOptional(
      v.pipe(milliseconds(DEADLINE_MS_MAX), v.description("Until the answer begins; 0 for no limit.")),
    ),
    idleMs: v.exactOptional(
      v.pipe(milliseconds(DEADLINE_MS_MAX), v.description("Between two parts of the answer's body; 0 for no limit.")),
    ),
    totalMs: v.exactOptional(
      v.pipe(milliseconds(DEADLINE_MS_MAX), v.description("Until the answer has ended; 0 for no limit.")),
    ),
  }),
  v.description(
    "How long to wait for an origin. An entity's go before its region's, and these before the deployment's.",
  ),
);

export const breakerSchema = v.pipe(
  v.union([
    v.literal(false),
    v.strictObject({
      failures: v.exactOptional(
        v.pipe(
          v.number(),
          v.safeInteger(),
          v.minValue(1),
          v.maxValue(1000),
          v.description("In a row; 5 unless given."),
        ),
      ),
      openMs: v.exactOptional(
        v.pipe(
          v.number(),
          v.safeInteger(),
          v.minValue(100),
          v.maxValue(DEADLINE_MS_MAX),
          v.description("How long an origin is left alone before one request tries it; 10000 unless given."),
        ),
      ),
    }),
  ]),
  v.description("When an origin that does not answer is left alone for a while; false for never."),
);

export const healthSchema = v.pipe(
  v.strictObject({
    path: v.pipe(
      v.string(),
      v.regex(/^\/[!-~]{0,255}$/, "A path, such as /healthz."),
      v.description("Asked with GET; any answer from 200 to 399 is good."),
    ),
    timeoutMs: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(100), v.maxValue(30_000))),
  }),
  v.description("Active checks of every origin of the region."),
);

export const replaySchema = v.pipe(
  wholeNumber,
  v.maxValue(BODY_BYTES_MAX),
  v.description(
    "Bodies up to so many octets are kept until the answer begins, so that they can be sent again; 0 unless given.",
  ),
);

export const rememberSchema = v.pipe(
  wholeNumber,
  v.maxValue(REMEMBER_SECONDS_MAX),
  v.description("How long an origin's 421 is remembered, in seconds; 60 unless given, 0 for not at all."),
);

const percent = v.pipe(v.number(), v.minValue(0), v.maxValue(100));

export const canarySchema = v.pipe(
  v.strictObject({ region: name, percent }),
  v.description("A share of the IDs that goes elsewhere: the same IDs as long as the share only grows."),
);

export const shadowSchema = v.pipe(
  v.strictObject({ region: name, percent }),
  v.description("A share of the reads that is also sent elsewhere, whose answers are compared and thrown away."),
);

export type DeclaredDeadlines = v.InferOutput<typeof deadlinesSchema>;
export type DeclaredCanary = v.InferOutput<typeof canarySchema>;
export type DeclaredBreaker = v.InferOutput<typeof breakerSchema>;

/** Where a route leads that has no region of its own: the ranges of a pack, or the parts of a split. */

const count = (max: number) => v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(max));

export const packSchema = v.strictObject({
  sha256: v.pipe(
    v.string(),
    v.regex(/^[0-9a-f]{64}$/, "A digest is 64 hexadecimal digits in lower case."),
    v.description("SHA-256 of the pack's header, which holds those of its pages."),
  ),
  bytes: v.pipe(count(PACK_BYTES_MAX), v.description("Octets of the file.")),
  ranges: v.pipe(count(PACK_RANGES_MAX), v.description("How many ranges it has.")),
  bits: v.pipe(count(FIELD_BITS_MAX), v.description("Width of the field that its ranges are of.")),
  field: v.exactOptional(v.pipe(name, v.description("The field; absent, and no slice either: the layout's key."))),
  slice: v.exactOptional(v.pipe(name, v.description("The slice of the layout's key, instead of a field."))),
  regions: v.pipe(
    v.array(name),
    v.minLength(1),
    v.maxLength(PACK_REGIONS_MAX),
    v.description("The regions that it names, in the order of their numbers."),
  ),
});

export const packsSchema = v.pipe(
  v.record(name, packSchema),
  v.maxEntries(PACKS_MAX),
  v.description("Ranges in files of their own, by name: `waybill table pack` writes them."),
);

export const splitSchema = v.strictObject({
  by: v.pipe(v.literal("hash"), v.description("A hash of what the entity is told by, however its ID is written.")),
  parts: v.pipe(v.number(), v.safeInteger(), v.minValue(2), v.maxValue(SPLIT_PARTS_MAX)),
  regions: v.pipe(
    v.union([v.array(name), v.record(v.string(), name)]),
    v.description('A region for each part in turn, or by parts: { "0-1": "eu", "2-3": "eu2" }.'),
  ),
});

export type DeclaredPack = v.InferOutput<typeof packSchema>;
export type DeclaredSplit = v.InferOutput<typeof splitSchema>;
