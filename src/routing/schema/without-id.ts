import * as v from "valibot";
import * as limits from "../limits.ts";
import {
  claim,
  deadlinesSchema,
  described,
  fieldsSchema,
  integer,
  list,
  type MembersOutput,
  matching,
  name,
  oneOrMore,
  optional,
  replaySchema,
  text,
  token,
  wholeAnswersSchema,
} from "./parts.ts";
import { conditionMembers, pathsWithoutId } from "./path.ts";

/** Requests without an ID in the declared table. Rules about more than one value are in `check/without-id.ts`. */

/** An entry is a value with its region, or a region with the list of its values. */
const regionOrValues = <const Value extends v.GenericSchema<string>>(value: Value) =>
  v.union([name, list(value, limits.SOURCE_VALUES_MAX, "Name a value of the region, or remove it.")]);

export const regionBy = <const Key extends v.GenericSchema<string>>(key: Key) =>
  v.pipe(
    v.record(key, regionOrValues(key)),
    v.minEntries(1, "Name a region for something."),
    v.maxEntries(limits.SOURCE_VALUES_MAX),
  );

export const CONTINENTS = ["AF", "AN", "AS", "EU", "NA", "OC", "SA"] as const;

const continents = regionOrValues(v.string());
const continent = optional(continents, "The region of clients there.");
/** Regions with a list of continents are the rest. */
export const regionByContinent = v.pipe(
  v.objectWithRest(
    {
      AF: continent,
      AN: continent,
      AS: continent,
      EU: continent,
      NA: continent,
      OC: continent,
      SA: continent,
    },
    continents,
  ),
  v.minEntries(1, "Name a region for a continent."),
);

/** A region with a list of hosts stands in the same place. */
const hostOrRegion = matching(
  /^(?:\*|[a-z0-9_-]{1,63})(?:\.[a-z0-9_-]{1,63})*$|^\[[0-9a-f:.]+\]$|^[A-Za-z][A-Za-z0-9_-]*$/,
  "Write a host in lower case without a port, such as eu.example.com or *.eu.example.com.",
);

const prefix = v.pipe(
  v.string(),
  v.minLength(1, "An empty prefix would take every value; write how values begin, or add a last source with `region`."),
  v.maxLength(limits.PATTERN_LENGTH_MAX),
);

/** One object and not a union of one for each kind, so that a fault points at the wrong key. Exactly one kind is set. */
const sourceSchema = v.strictObject({
  header: optional(token, "A request header; beside `jwtClaim` the one that carries the token."),
  jwtClaim: optional(claim, "A claim of a bearer token, whose signature is not verified; nested: a JSON pointer."),
  cookie: optional(token, "A cookie. One that names no region is ignored."),
  headers: optional(
    v.pipe(
      v.record(token, oneOrMore(text)),
      v.minEntries(1, "Name a header."),
      v.maxEntries(limits.SOURCE_HEADERS_MAX),
    ),
    "Headers that must all have one of their values; `region` beside it is where such requests go.",
  ),
  clientCountry: optional(
    regionBy(v.string()),
    "Region by the client's country, ISO 3166-1 alpha-2, or the countries of a region.",
  ),
  clientContinent: optional(regionByContinent, "Region by the client's continent, or the continents of a region."),
  query: optional(text, "A query parameter."),
  pathSegment: optional(integer(1, 32), "A segment of the path as it is, counted from 1."),
  hostLabel: optional(
    matching(
      /^\*(?:\.[a-z0-9_-]{1,63})+$/,
      "Write a host in lower case whose first label is open, such as *.example.com.",
    ),
    "The label of the host in the place of `*`.",
  ),
  host: optional(
    regionBy(hostOrRegion),
    "Region by host, without a port, or the hosts of a region; `*` as its first label is any one label.",
  ),
  region: optional(name, "The last resort: always this region. Beside `headers`: theirs."),
  values: optional(
    regionBy(text),
    "Region by the value of the header, claim, cookie, parameter, segment or label, or the values of a region. Without this and `prefixes`, the value is a region's name.",
  ),
  prefixes: optional(
    regionBy(prefix),
    "Region by how the value begins, where `values` does not list it whole; the longest decides.",
  ),
  unlisted: optional(
    v.picklist(["next", "refuse"]),
    "A value that is not listed: the next source is asked, or the request is refused. Default: refuse; for a cookie, a host and the client's place: next.",
  ),
});

export const sourcesSchema = described(
  list(sourceSchema, limits.SOURCES_MAX, "A list of sources has at least one."),
  "Sources of the region of a request without an ID; the first that gives one decides.",
);

const stickySchema = v.strictObject({
  cookie: described(token, "Name of the cookie."),
  maxAgeSeconds: described(integer(1, limits.STICKY_SECONDS_MAX), "Its lifetime."),
});

export const withoutIdMembers = {
  path: pathsWithoutId,
  ...conditionMembers,
  sources: optional(
    v.pipe(v.array(sourceSchema), v.maxLength(limits.SOURCES_MAX)),
    "Sources of their region; the first that gives one decides. Beside `idIn` an empty list refuses requests without an ID.",
  ),
  sticky: optional(stickySchema, "Keeps a client in the region that its location or the last resort chose."),
  deadlines: v.exactOptional(deadlinesSchema),
  wholeAnswers: v.exactOptional(wholeAnswersSchema),
  replayBytesMax: v.exactOptional(replaySchema),
  fields: v.exactOptional(fieldsSchema),
};

export type DeclaredSource = v.InferOutput<typeof sourceSchema>;
/** Features add their members. */
export interface DeclaredWithoutId extends MembersOutput<typeof withoutIdMembers> {}
