import * as v from "valibot";
import * as limits from "../limits.ts";
import {
  deadlinesSchema,
  described,
  fieldEntity,
  fieldsSchema,
  integer,
  jsonPath,
  list,
  matching,
  name,
  oneOrMore,
  optional,
  otherBodies,
  replaySchema,
  text,
} from "./parts.ts";

/** Requests without an ID in the declared table. Rules about more than one value are in `check/without-id.ts`. */

export const token = matching(
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/,
  "Write the name of a header or a cookie, such as x-home-region.",
);

export const claim = v.pipe(
  text,
  v.regex(/^(?:[^/][\s\S]*|(?:\/(?:[^/~]|~[01])*)+)$/, "Write a claim's name, or a JSON pointer such as /app/region."),
);

export const regionBy = <const Key extends v.GenericSchema<string>>(key: Key) =>
  v.pipe(v.record(key, name), v.minEntries(1, "Name a region for something."), v.maxEntries(limits.SOURCE_VALUES_MAX));

const region = optional(name, "The region of clients there.");
export const regionByContinent = v.pipe(
  v.strictObject({ AF: region, AN: region, AS: region, EU: region, NA: region, OC: region, SA: region }),
  v.minEntries(1, "Name a region for a continent."),
);

/** One object and not a union of six, so that a fault points at the wrong key. Exactly one of the first six is set. */
const sourceSchema = v.strictObject({
  header: optional(token, "A request header; beside `jwtClaim` the one that carries the token."),
  jwtClaim: optional(claim, "A claim of a bearer token, whose signature is not verified; nested: a JSON pointer."),
  cookie: optional(token, "A cookie. One that names no region is ignored."),
  clientCountry: optional(regionBy(v.string()), "Region by the client's country, ISO 3166-1 alpha-2."),
  clientContinent: optional(regionByContinent, "Region by the client's continent."),
  region: optional(name, "The last resort: always this region."),
  values: optional(
    regionBy(text),
    "Region by the value of the header, claim or cookie. Without it, the value is a region's name.",
  ),
});

export const sourcesSchema = described(
  list(sourceSchema, limits.SOURCES_MAX, "A list of sources has at least one."),
  "Sources of the region of a request without an ID; the first that gives one decides.",
);

const pattern = v.pipe(
  v.string(),
  v.maxLength(limits.PATTERN_LENGTH_MAX),
  v.regex(
    /^(?=\/)(?:\/(?:[A-Za-z0-9._~!$&'()+,;=@-][A-Za-z0-9._~!$&'()+,;=@:-]*|\*))*(?:\/|\/\*\*)?$/,
    "A path without an ID is segments of literal text or `*`, with `**` last for all below: for example /login or /files/**.",
  ),
);

const method = matching(
  /^(?!TRACE$|CONNECT$)[A-Z][A-Z-]{0,31}$/,
  "Write a method in capitals, other than TRACE and CONNECT.",
);

const stickySchema = v.strictObject({
  cookie: described(token, "Name of the cookie."),
  maxAgeSeconds: described(integer(1, limits.STICKY_SECONDS_MAX), "Its lifetime."),
});

export const withoutIdSchema = v.strictObject({
  path: described(
    v.union([pattern, list(pattern, limits.PATHS_PER_ENTITY_MAX)]),
    "Path or paths: literal segments, `*` for any one, and `**` last for one and all below it.",
  ),
  methods: optional(oneOrMore(method), "Methods that match; GET includes HEAD. All unless given."),
  sources: v.exactOptional(sourcesSchema),
  sticky: optional(stickySchema, "Keeps a client in the region that its location or the last resort chose."),
  publicFields: optional(
    v.pipe(
      v.array(v.strictObject({ path: jsonPath, entity: fieldEntity })),
      v.minLength(1, "Name a field, or remove this."),
    ),
    "Where IDs of public entities are in JSON responses.",
  ),
  otherBodies: v.exactOptional(otherBodies),
  deadlines: v.exactOptional(deadlinesSchema),
  replayBytesMax: v.exactOptional(replaySchema),
  fields: v.exactOptional(fieldsSchema),
});

export type DeclaredSource = v.InferOutput<typeof sourceSchema>;
export type DeclaredWithoutId = v.InferOutput<typeof withoutIdSchema>;
