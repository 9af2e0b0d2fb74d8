import { ID_PARAMETER, parameter, pathParameter, TEXT, TIME } from "../openapi/paths.ts";
import { json, operation, PAGE_PARAMETERS } from "../openapi/table.ts";
import { HISTORY, OR_NULL, PROBLEM_SAMPLES } from "./openapi-figures.ts";

const SESSION_VIEW = {
  type: "object",
  required: ["name", "scope", "by", "expiresAt", "endsBy", "deployment", "environment", "revision"],
  properties: {
    name: TEXT,
    scope: { type: "string", enum: ["support", "viewer", "operator"] },
    by: { type: "string", enum: ["token", "access", "open-pages", "session"] },
    expiresAt: { type: ["string", "null"], format: "date-time", description: "End of a session." },
    endsBy: { type: ["string", "null"], format: "date-time", description: "Its end, however much it is used." },
    deployment: { ...TEXT, description: "The host." },
    environment: { ...OR_NULL, description: "Its name by the setting ENVIRONMENT." },
    revision: { type: ["integer", "null"] },
  },
};

const PREVIEW = {
  type: "object",
  required: ["entity", "region", "path", "status", "contentType", "text", "truncated"],
  properties: {
    entity: TEXT,
    region: OR_NULL,
    path: TEXT,
    status: { type: "integer" },
    contentType: OR_NULL,
    text: { ...OR_NULL, description: "The first 64 KiB of a JSON body." },
    truncated: { type: "boolean" },
    ms: { type: "number", description: "Milliseconds until the answer was read." },
    bytes: { type: "integer", description: "Bytes of `text`." },
  },
};

const TOKEN = {
  type: "object",
  required: ["token"],
  additionalProperties: false,
  properties: { token: { type: "string", maxLength: 600 } },
};

const NAMES = {
  type: "object",
  required: ["revision", "entities", "countries", "layouts"],
  properties: {
    revision: { type: "integer" },
    entities: {
      type: "object",
      description: "With their `path`, `ids`, `public` and `directory`, as the table has them.",
    },
    countries: { type: "object" },
    layouts: { type: "object" },
    directory: { type: "object", description: "Directories with their `key` and `cacheSeconds`." },
    taken: {
      type: "object",
      description: "Which IDs routes take; absent where the table has a default.",
      required: ["when", "named"],
      properties: {
        when: { type: "array", description: "Conditions of routes, without their regions.", items: { type: "object" } },
        named: {
          type: "array",
          description: "Entities of which the table, or its canary, also decides about IDs that no route takes.",
          items: TEXT,
        },
      },
    },
  },
};

const SINCE = {
  type: "object",
  required: ["revision", "author", "time", "note", "isExact"],
  properties: {
    revision: { type: "integer" },
    author: TEXT,
    time: OR_NULL,
    note: TEXT,
    isExact: { type: "boolean", description: "False: it may be an older one." },
  },
};

const ROUTES = {
  type: "object",
  required: ["revision", "routes"],
  properties: {
    revision: { type: "integer" },
    routes: {
      type: "array",
      items: {
        type: "object",
        required: ["pointer", "line", "since"],
        properties: {
          pointer: TEXT,
          line: { type: ["integer", "null"] },
          since: { ...SINCE, description: "The revision that wrote it. The last 100 revisions are looked through." },
        },
      },
    },
  },
};

const LOG_EVENT = {
  type: "object",
  required: ["id", "time", "kind", "type", "words", "evidence"],
  properties: {
    id: { type: "integer", description: "Rises." },
    time: TIME,
    kind: { type: "string", enum: ["region", "origin", "publication", "canary", "errors", "machine", "webhook"] },
    type: { ...TEXT, description: "The kind and how it turned out, such as region.down; new ones may come." },
    words: { ...TEXT, description: "One sentence or two." },
    evidence: {
      type: "object",
      description: "Figures by name; new ones may come.",
      additionalProperties: { type: ["string", "number"] },
    },
    region: TEXT,
    revision: { type: "integer" },
    isOver: { type: "boolean", description: "It ends something that an event before it began." },
  },
};

const EVENT_LOG = {
  type: "object",
  required: ["source", "events", "next", "webhook"],
  properties: {
    source: { type: "string", enum: ["all", "none"], description: "`none`: the log could not be read." },
    events: { type: "array", maxItems: 100, items: LOG_EVENT, description: "Newest first." },
    next: { type: ["integer", "null"], description: "`before` of the next page." },
    webhook: {
      type: ["object", "null"],
      description: "The receiver of the setting EVENTS_WEBHOOK; null without one.",
      required: ["waiting", "lastFailure", "isGone"],
      properties: {
        waiting: { type: "integer", description: "Events that it has not taken yet." },
        lastFailure: { ...OR_NULL, description: "Why it did not take the last one." },
        isGone: { type: "boolean", description: "It answered 410: nothing is sent until the setting changes." },
      },
    },
  },
};

const RULE = {
  type: "object",
  required: ["revision", "entity", "region", "rule", "pointer", "line", "entry", "since"],
  properties: {
    revision: { type: "integer", description: "Revision of the table that decides: the canary's where it does." },
    entity: TEXT,
    region: TEXT,
    rule: { type: "object" },
    pointer: TEXT,
    line: { type: ["integer", "null"] },
    entry: {},
    since: { ...SINCE, type: ["object", "null"], description: "The revision that wrote the entry of a moved entity." },
  },
};

const page = (name: string, summary: string, more: Partial<Parameters<typeof operation>[0]> = {}) =>
  operation({ name, tag: "console", summary, ...more });

/** They answer at the console's host alone, but the first, which leads there. */
export const consolePaths = () => ({
  "/-/console": {
    get: page("console", "The console's page; from another host the way to it", {
      security: [],
      content: { "text/html": {} },
      also: { 307: { description: "Where the console is" } },
    }),
  },
  "/-/console/assets/{name}": {
    get: page("consoleAsset", "A file of the console's page, which never changes", {
      security: [],
      parameters: [pathParameter("name", { pattern: "^[A-Za-z0-9_-]{1,64}[.][A-Z0-9]{8}[.][a-z0-9]{2,5}$" })],
      content: { "*/*": {} },
    }),
  },
  "/-/console/session": {
    get: page("session", "The signed-in caller", { content: json(SESSION_VIEW) }),
    post: page("signIn", "Begin a session by a token; from the console's own page alone", {
      security: [],
      body: json(TOKEN),
      status: 204,
      description: "The session is in the cookie",
      content: {},
    }),
    delete: page("signOut", "End the session in this browser", { security: [], status: 204, content: {} }),
  },
  "/-/console/names": {
    get: page("consoleNames", "Names for reading IDs: entities, countries and layouts, without regions and routes", {
      content: json(NAMES),
    }),
  },
  "/-/console/rule/{id}": {
    get: page("consoleRule", "The one entry of the table that decides about an ID, and who moved the entity", {
      parameters: [ID_PARAMETER, parameter("query", "path", "The raw path that the ID stands on.")],
      content: json(RULE),
    }),
  },
  "/-/console/routes": {
    get: page("consoleRoutes", "Since which revision each route of the table in force is as it is", {
      content: json(ROUTES),
    }),
  },
  "/-/console/entity/{id}": {
    get: page("previewEntity", "The owner's response to a GET of an entity, as data", {
      parameters: [ID_PARAMETER, parameter("query", "path", "The entity's own path with a short key, or with a key.")],
      content: json(PREVIEW),
    }),
  },
  "/-/metrics/history": {
    get: page(
      "metricsHistory",
      "Requests, errors and times of the last hour by 10 s, day by 5 min, or 30 days by 2 h",
      {
        parameters: [
          parameter("query", "span", "By default hour.", { enum: ["hour", "day", "month"] }),
          parameter("query", "from", "Unix seconds: only steps from the one that it is in.", { type: "integer" }),
        ],
        content: json(HISTORY),
      },
    ),
  },
  "/-/metrics/problems/{slug}": {
    get: page("problemSamples", "The last requests that had a problem, of the last hour", {
      parameters: [pathParameter("slug", { pattern: "^[a-z-]{1,40}$" })],
      content: json(PROBLEM_SAMPLES),
    }),
  },
  "/-/events/log": {
    get: page("eventLog", "What happened in the last 30 days: at most the last 1,000 events", {
      parameters: PAGE_PARAMETERS,
      content: json(EVENT_LOG),
    }),
  },
  "/-/events": {
    get: page("events", "Events of changes: `traffic`, `table`, `log`, and `end` when the session ends", {
      content: { "text/event-stream": { schema: TEXT } },
    }),
  },
});

export const SESSION_SCHEME = {
  type: "apiKey",
  in: "cookie",
  name: "__Host-waybill-session",
  description: "A session of the console, at its host alone. Changes need `origin` and `sec-fetch-site` of its page.",
};
