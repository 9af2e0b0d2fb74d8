import * as v from "valibot";
import {
  PATHS_PER_ENTITY_MAX,
  PATTERN_LENGTH_MAX,
  SOURCE_VALUES_MAX,
  SOURCES_MAX,
  STICKY_SECONDS_MAX,
} from "../limits.ts";
import { deadlinesSchema, jsonPath, name, oneOrMore, otherBodies, replaySchema, text } from "./parts.ts";

/** What the declared table says about requests that carry no ID. What needs more than one value is in `check/without-id.ts`. */

const token = v.pipe(
  v.string(),
  v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, "Write the name of a header field or a cookie, such as x-home-region."),
);

const regionBy = <const Key extends v.GenericSchema<string>>(key: Key) =>
  v.pipe(v.record(key, name), v.minEntries(1, "Name a region for something."), v.maxEntries(SOURCE_VALUES_MAX));

const regionByContinent = v.pipe(
  v.strictObject({
    AF: v.exactOptional(name),
    AN: v.exactOptional(name),
    AS: v.exactOptional(name),
    EU: v.exactOptional(name),
    NA: v.exactOptional(name),
    OC: v.exactOptional(name),
    SA: v.exactOptional(name),
  }),
  v.minEntries(1, "Name a region for a continent."),
  v.description("Region by the continent that the client is on."),
);

/** One object and not a union of six: a fault then points at the key that is wrong. Exactly one of the first six is set. */
export const sourceSchema = v.strictObject({
  header: v.exactOptional(
    v.pipe(token, v.description("A header field; beside `jwtClaim` the one that carries the token.")),
  ),
  jwtClaim: v.exactOptional(
    v.pipe(
      text,
      v.regex(
        /^(?:[^/][\s\S]*|(?:\/(?:[^/~]|~[01])*)+)$/,
        "Write a claim's name, or a JSON pointer such as /app/region.",
      ),
      v.description("A claim of a bearer token, which is read and not verified; nested: a JSON pointer."),
    ),
  ),
  cookie: v.exactOptional(v.pipe(token, v.description("A cookie. One that names no region is passed over."))),
  clientCountry: v.exactOptional(
    v.pipe(regionBy(v.string()), v.description("Region by where the client is, ISO 3166-1 alpha-2.")),
  ),
  clientContinent: v.exactOptional(regionByContinent),
  region: v.exactOptional(v.pipe(name, v.description("The last resort: this region, whoever asks."))),
  values: v.exactOptional(
    v.pipe(
      regionBy(text),
      v.description("Region by what the field, claim or cookie says. Without it, that is a region's name."),
    ),
  ),
});

export const sourcesSchema = v.pipe(
  v.array(sourceSchema),
  v.minLength(1, "A list of sources has at least one."),
  v.maxLength(SOURCES_MAX),
  v.description("What says which region a request without an ID is for; the first that says something decides."),
);

const pattern = v.pipe(
  v.string(),
  v.maxLength(PATTERN_LENGTH_MAX),
  v.regex(
    /^(?=\/)(?:\/(?:[A-Za-z0-9._~!$&'()+,;=@-][A-Za-z0-9._~!$&'()+,;=@:-]*|\*))*(?:\/|\/\*\*)?$/,
    "A path without an ID is segments of literal text or `*`, with `**` last for all below: for example /login or /files/**.",
  ),
);

const method = v.pipe(
  v.string(),
  v.regex(/^(?!TRACE$|CONNECT$)[A-Z][A-Z-]{0,31}$/, "Write a method in capitals, other than TRACE and CONNECT."),
);

export const stickySchema = v.pipe(
  v.strictObject({
    cookie: v.pipe(token, v.description("Name of the cookie.")),
    maxAgeSeconds: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(STICKY_SECONDS_MAX)),
  }),
  v.description("Keeps a client in the region that was chosen by where it is, or as the last resort."),
);

export const withoutIdSchema = v.strictObject({
  path: v.pipe(
    v.union([pattern, v.pipe(v.array(pattern), v.minLength(1), v.maxLength(PATHS_PER_ENTITY_MAX))]),
    v.description("Path or paths: literal segments, `*` for any one, and `**` last for one and all below it."),
  ),
  methods: v.exactOptional(
    v.pipe(
      oneOrMore(method),
      v.description("Methods that are taken; GET stands for HEAD too. All are unless this is given."),
    ),
  ),
  sources: v.exactOptional(sourcesSchema),
  sticky: v.exactOptional(stickySchema),
  publicFields: v.exactOptional(
    v.pipe(
      v.array(v.strictObject({ path: jsonPath, entity: name })),
      v.minLength(1, "Name a field, or remove this."),
      v.description("Where IDs of public entities stand in JSON answers."),
    ),
  ),
  otherBodies: v.exactOptional(otherBodies),
  deadlines: v.exactOptional(deadlinesSchema),
  replayBytesMax: v.exactOptional(replaySchema),
});

export type DeclaredSource = v.InferOutput<typeof sourceSchema>;
export type DeclaredWithoutId = v.InferOutput<typeof withoutIdSchema>;
