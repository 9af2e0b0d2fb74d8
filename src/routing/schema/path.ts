import * as v from "valibot";
import * as limits from "../limits.ts";
import { described, list, matching, name, oneOrMore, optional } from "./parts.ts";

/** Paths of the declared table, and which requests on them are meant. Rules about several are in `check/`. */

const LITERAL = "[A-Za-z0-9._~!$&'()+,;=@-]+";

/** Between the commas of alternatives. */
const ALTERNATIVE = "[A-Za-z0-9._~!$&'()+;=@-]+(?:\\/[A-Za-z0-9._~!$&'()+;=@-]+)*";
const ALTERNATIVES = `\\{${ALTERNATIVE}(?:,${ALTERNATIVE})+\\}`;

const SEGMENTS = `(?:\\/(?:${LITERAL}|\\*|${ALTERNATIVES}))*`;

const PATTERN = new RegExp(`^${SEGMENTS}\\/:id${SEGMENTS}(?:\\/\\*\\*)?$`);

/** A colon may stand behind the first character, so that no segment looks like the place of an ID. */
const PATH = new RegExp(
  `^(?=\\/)(?:\\/(?:[A-Za-z0-9._~!$&'()+,;=@-][A-Za-z0-9._~!$&'()+,;=@:-]*|\\*|${ALTERNATIVES}))*(?:\\/|\\/\\*\\*)?$`,
);

const pattern = v.pipe(
  v.string(),
  v.maxLength(limits.PATTERN_LENGTH_MAX),
  v.regex(PATTERN, ({ input }) => {
    // As other routers write it.
    const meant = input.replace(/(?<=\/)(?:\{[^/}]*\}|<[^/>]*>|\[[^/\]]*\]|:\w+)(?=\/|$)/, ":id");
    if (meant !== input && PATTERN.test(meant)) return `The ID is written \`:id\`: ${meant}.`;
    return "A path pattern is segments of literal text, `*` or alternatives such as {v1,v2}, with exactly one segment `:id`: for example /orders/:id.";
  }),
);

const patternObject = v.strictObject({
  path: described(pattern, "Path pattern with one segment `:id`."),
  layout: optional(
    name,
    "IDs on these paths are read as this layout of the entity only; `luuid-short` for short keys.",
  ),
  below: optional(
    v.boolean(),
    "Whether paths below are the entity's too, which is so unless given. At the root it must be said.",
  ),
});

export const entityPath = described(
  v.union([pattern, patternObject, list(v.union([pattern, patternObject]), limits.PATHS_PER_ENTITY_MAX)]),
  "Path pattern or patterns; /any/:id uses the first for IDs of its layout.",
);

const pathWithoutId = v.pipe(
  v.string(),
  v.maxLength(limits.PATTERN_LENGTH_MAX),
  v.regex(
    PATH,
    "A path without an ID is segments of literal text, `*` or alternatives such as {v1,v2}, with `**` last for all below: for example /login or /files/**.",
  ),
);

export const pathsWithoutId = described(
  v.union([pathWithoutId, list(pathWithoutId, limits.PATHS_PER_ENTITY_MAX)]),
  "Path or paths: literal segments, `*` for any one, and `**` last for one and all below it.",
);

export const host = matching(
  /^(?:\*|[a-z0-9_-]{1,63})(?:\.[a-z0-9_-]{1,63})*$|^\[[0-9a-f:.]+\]$/,
  "Write a host in lower case without a port, such as eu.example.com or *.eu.example.com.",
);

const method = matching(
  /^(?!TRACE$|CONNECT$)[A-Z][A-Z-]{0,31}$/,
  "Write a method in capitals, other than TRACE and CONNECT.",
);

/** Members of entities and of entries without an ID. */
export const conditionMembers = {
  methods: optional(
    oneOrMore(method),
    "Methods that match; GET includes HEAD. Unless given: all that no other owner of the path lists.",
  ),
  otherMethods: optional(
    v.picklist(["refuse", "next"]),
    "Where no owner of the path lists a method: refuse it with 405 (the default), or go on to the next less specific pattern.",
  ),
  hosts: optional(
    list(host, limits.HOSTS_PER_OWNER_MAX),
    "Hosts of the request, without ports; `*` as the first label is any one label. Unless given: all that no other owner of the path lists.",
  ),
  removePrefix: optional(
    matching(
      /^(?:\/[A-Za-z0-9._~!$&'()+,;=@-]+)+$/,
      "Write the literal segments with which every path begins, such as /tenant/europe.",
    ),
    "Literal beginning of its paths that origins do not get.",
  ),
} as const;
