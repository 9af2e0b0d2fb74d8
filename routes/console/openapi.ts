import { pathParameter } from "../openapi/paths.ts";
import { json, operation } from "../openapi/table.ts";

const TEXT = { type: "string" };

const SESSION_VIEW = {
  type: "object",
  required: ["name", "scope", "by", "expiresAt", "deployment", "revision"],
  properties: {
    name: TEXT,
    scope: { type: "string", enum: ["support", "viewer", "operator"] },
    by: { type: "string", enum: ["token", "access", "open-pages", "session"] },
    expiresAt: { type: ["string", "null"], format: "date-time", description: "Of a session." },
    deployment: TEXT,
    revision: { type: ["integer", "null"] },
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
  },
};

const page = (name: string, summary: string, more: Partial<Parameters<typeof operation>[0]> = {}) =>
  operation({ name, tag: "console", summary, ...more });

/** They answer at the console's host alone, but the first, which leads there. */
export const CONSOLE_PATHS = {
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
    get: page("session", "Who is signed in", { content: json(SESSION_VIEW) }),
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
    get: page("consoleNames", "What reading an ID needs: entities, countries and layouts, without regions and routes", {
      content: json(NAMES),
    }),
  },
};

export const SESSION_SCHEME = {
  type: "apiKey",
  in: "cookie",
  name: "__Host-waybill-session",
  description: "A session of the console, at its host alone. Changes need `origin` and `sec-fetch-site` of its page.",
};
