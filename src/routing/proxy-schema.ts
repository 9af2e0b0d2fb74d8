import * as v from "valibot";
import { BODY_BYTES_MAX, DEADLINE_MS_MAX, REMEMBER_SECONDS_MAX } from "./limits.ts";
import { name, wholeNumber } from "./schema-parts.ts";

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
