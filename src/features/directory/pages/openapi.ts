import type { OpenApiPart } from "../../../../routes/feature.ts";
import { parameter, pathParameter } from "../../../../routes/openapi/paths.ts";
import { json, operation, UNCHANGED } from "../../../../routes/openapi/table.ts";
import { KEY_FORMS } from "../table/normalise.ts";
import { directoryBulkPaths } from "./bulk-openapi.ts";

/** The pages of directories, as OpenAPI 3.1 describes them. */

const TEXT = { type: "string" };
const TIME = { type: "string", format: "date-time" };
const text = (description: string) => ({ type: "string", description });

const KEY = {
  type: "object",
  required: ["directory", "key", "region", "state", "version", "changedAt"],
  properties: {
    directory: TEXT,
    key: text("In its normal form."),
    region: TEXT,
    owner: text("The entity's ID, as the claim gave it."),
    state: { type: "string", enum: ["reserved", "expired", "confirmed"] },
    version: { type: "integer", description: "The ETag." },
    changedAt: TIME,
    leaseUntil: { ...TIME, description: "End of a reservation." },
    missingSince: { ...TIME, description: "Since when an origin reports that it has no such entity." },
  },
};

const KEYS = {
  type: "object",
  required: ["keys"],
  properties: { keys: { type: "array", items: KEY }, next: text("`after` of the next page; absent on the last.") },
};

const OWNER = { ...text("The entity's ID."), minLength: 1, maxLength: 512 };
const OPERATION = { ...text("Made by the caller for this claim."), minLength: 1, maxLength: 128 };
const CLAIM = {
  owner: OWNER,
  operation: OPERATION,
  region: TEXT,
  leaseSeconds: { type: "integer", minimum: 1, maximum: 3600, default: 300 },
};
const body = (properties: object, required: readonly string[]) =>
  json({ type: "object", additionalProperties: false, required, properties });

const ACTIONS = { type: "string", enum: ["reserve", "confirm", "release"] };
const NAMED = { type: "object", required: ["directory", "key"], properties: { directory: TEXT, key: TEXT } };

const PLACE = [pathParameter("name"), pathParameter("key", { minLength: 1 })];
const IF_MATCH = parameter("header", "if-match", "The key's version in quotes; a change needs it.");

const ONLY = parameter("query", "only", "The report.", { enum: ["orphans"] });
const STORED_KEY = parameter("query", "key", "A key that is stored, also one that no path has.");
const AFTER = parameter("query", "after", "`next` of the page before.");
const LIMIT = { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 } };

const page = (name: string, summary: string, more: Partial<Parameters<typeof operation>[0]> = {}) =>
  operation({ name, tag: "directory", summary, ...more });

const paths = {
  "/-/directory": {
    get: page("listDirectories", `The directories of the table; texts have a form: ${KEY_FORMS.join(", ")}`),
    post: page("claimKeys", "Claim several keys of one entity: all of them or none", {
      body: body({ action: ACTIONS, ...CLAIM, keys: { type: "array", minItems: 1, maxItems: 16, items: NAMED } }, [
        "action",
        "owner",
        "operation",
        "keys",
      ]),
      content: json(KEYS),
    }),
  },
  "/-/directory/{name}": {
    get: page("listOrphans", "Reservations after their lease, and keys whose entity an origin reports missing", {
      parameters: [pathParameter("name"), ONLY, AFTER, LIMIT, STORED_KEY],
      description: "With `key` instead of `only`: that key.",
      content: json({ anyOf: [KEYS, KEY] }),
    }),
    delete: page("removeStoredKey", "Remove a key that no path has: a former version stored it", {
      parameters: [pathParameter("name"), STORED_KEY, IF_MATCH],
      status: 204,
      content: {},
    }),
  },
  "/-/directory/{name}/{key}": {
    get: page("getKey", "A key as the Durable Object has it; no cache is asked", {
      parameters: PLACE,
      content: json(KEY),
      also: UNCHANGED,
    }),
    put: page("reserveKey", "Reserve a key; with `if-match` move it: then the body has the region alone", {
      parameters: [...PLACE, IF_MATCH],
      body: body(CLAIM, ["region"]),
      content: json(KEY),
    }),
    post: page("claimKey", "Reserve, confirm or release a key; `missing` reports that its entity is not there", {
      parameters: [...PLACE, IF_MATCH],
      body: body({ action: { ...TEXT, enum: [...ACTIONS.enum, "missing"] }, ...CLAIM }, ["action"]),
      content: json(KEY),
    }),
    delete: page("removeKey", "Remove a key", { parameters: [...PLACE, IF_MATCH], status: 204, content: {} }),
  },
  ...directoryBulkPaths(),
};

export const openapi: OpenApiPart = {
  tag: { name: "directory", description: "Regions of keys that carry no shard; claims of keys." },
  paths,
};
