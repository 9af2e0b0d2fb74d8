import * as v from "valibot";
import * as limits from "../limits.ts";
import { placesSchema } from "../places/schema.ts";
import {
  claim,
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
  token,
} from "./parts.ts";

/** Requests without an ID in the declared table. Rules about more than one value are in `check/without-id.ts`. */

export const regionBy = <const Key extends v.GenericSchema<string>>(key: Key) =>
  v.pipe(v.record(key, name), v.minEntries(1, "Name a region for something."), v.maxEntries(limits.SOURCE_VALUES_MAX));

const region = optional(name, "The region of clients there.");
export const regionByContinent = v.pipe(
  v.strictObject({ AF: region, AN: region, AS: region, EU: region, NA: region, OC: region, SA: region }),
  v.minEntries(1, "Name a region for a continent."),
);

const host = matching(
  /^(?:\*|[a-z0-9_-]{1,63})(?:\.[a-z0-9_-]{1,63})*$|^\[[0-9a-f:.]+\]$/,
  "Write a host in lower case without a port, such as eu.example.com or *.eu.example.com.",
);

/** One object and not a union of one for each kind, so that a fault points at the wrong key. Exactly one kind is set. */
const sourceSchema = v.strictObject({
  header: optional(token, "A request header; beside `jwtClaim` the one that carries the token."),
  jwtClaim: optional(claim, "A claim of a bearer token, whose signature is not verified; nested: a JSON pointer."),
  cookie: optional(token, "A cookie. One that names no region is ignored."),
  clientCountry: optional(regionBy(v.string()), "Region by the client's country, ISO 3166-1 alpha-2."),
  clientContinent: optional(regionByContinent, "Region by the client's continent."),
  query: optional(text, "A query parameter."),
  pathSegment: optional(integer(1, 32), "A segment of the path as it is, counted from 1."),
  hostLabel: optional(
    matching(
      /^\*(?:\.[a-z0-9_-]{1,63})+$/,
      "Write a host in lower case whose first label is open, such as *.example.com.",
    ),
    "The label of the host in the place of `*`.",
  ),
  host: optional(regionBy(host), "Region by host, without a port; `*` as its first label is any one label."),
  region: optional(name, "The last resort: always this region."),
  values: optional(
    regionBy(text),
    "Region by the value of the header, claim, cookie, parameter, segment or label. Without it, the value is a region's name.",
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
  idIn: optional(
    placesSchema,
    "Where these requests carry IDs: they go where these belong, and only without any by `sources`.",
  ),
  sources: optional(
    v.pipe(v.array(sourceSchema), v.maxLength(limits.SOURCES_MAX)),
    "Sources of their region; the first that gives one decides. Beside `idIn` an empty list refuses requests without an ID.",
  ),
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
