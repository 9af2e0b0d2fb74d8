import type { OpenApiPart } from "../feature.ts";
import { type Paths, parameter, pathParameter, TEXT } from "../openapi/paths.ts";
import { json, operation, state, WHOLE } from "../openapi/table.ts";

const DIGEST = { type: "string", pattern: "^[0-9a-f]{64}$" };
const OBJECT = [
  pathParameter("part", { examples: ["sequences"] }),
  pathParameter("id", DIGEST),
  parameter("query", "name", "The object's name: it counts where another deployment has other IDs."),
];
const STATUS = json({
  type: "object",
  required: ["step"],
  properties: {
    step: { type: "string", enum: ["empty", "used", "claimed", "whole", "done"] },
    import: { ...DIGEST, description: "Of the import that has the object." },
  },
});
const TABLES = {
  type: "array",
  items: {
    type: "object",
    required: ["table", "columns"],
    properties: { table: TEXT, columns: { type: "array", items: TEXT } },
  },
};
const KEY = pathParameter("key", { examples: ["directory.slug.current"] });
const BYTES = {
  "application/octet-stream": { schema: { type: "string", contentMediaType: "application/octet-stream" } },
};
const ROWS = { "application/x-ndjson": { schema: TEXT } };

const step = (name: string, summary: string, properties: object, content: object = STATUS) => ({
  post: operation({
    name,
    tag: "operations",
    summary,
    parameters: OBJECT,
    body: json({ type: "object", required: Object.keys(properties), properties }),
    content,
  }),
});

const DIGESTED = json({
  type: "object",
  required: ["rows", "sha256"],
  properties: { rows: WHOLE, sha256: DIGEST },
});

const AT = "/-/state/objects/{part}/{id}";

const paths: Paths = {
  "/-/state": state("stateInventory", "The objects that the gateway has, by the parts of an export"),
  [AT]: state("stateRows", "Rows of an object, page by page; `waybill-page` says what follows", {
    parameters: [...OBJECT, parameter("query", "from", "The member `next` of the field `waybill-page`.")],
    content: ROWS,
  }),
  [`${AT}/rows/{number}`]: {
    put: operation({
      name: "importRows",
      tag: "operations",
      summary: "Write rows into an object that an import has, each part once",
      parameters: [
        ...OBJECT,
        { ...pathParameter("number"), schema: WHOLE },
        { ...parameter("query", "import", "The import."), required: true, schema: DIGEST },
      ],
      body: ROWS,
      content: STATUS,
    }),
  },
  [`${AT}/claim`]: step("claimObject", "Begin the import of an object that is empty: it serves no more", {
    import: DIGEST,
  }),
  [`${AT}/verify`]: step("verifyObject", "Read the rows back and compare them", {
    import: DIGEST,
    tables: TABLES,
    sha256: DIGEST,
    alarm: { type: ["integer", "null"], description: "Unix ms." },
  }),
  [`${AT}/release`]: step("releaseObject", "Let an object serve that is whole", { import: DIGEST }),
  [`${AT}/discard`]: step("discardObject", "Empty an object whose import is given up", { import: DIGEST }),
  [`${AT}/digest`]: step("digestObject", "The digest of an object's rows", { tables: TABLES }, DIGESTED),
  "/-/state/values": state("stateValues", "The keys of KV that belong to an export: packs and copies of directories", {
    content: json({ type: "object", required: ["keys"], properties: { keys: { type: "array", items: TEXT } } }),
  }),
  "/-/state/values/{key}": {
    ...state("stateValue", "A value of KV", { parameters: [KEY], content: BYTES }),
    put: operation({
      name: "importValue",
      tag: "operations",
      summary: "Write a value that KV does not have",
      parameters: [KEY],
      body: BYTES,
      status: 204,
      description: "KV has it.",
      content: {},
    }),
  },
};

export const stateOpenApi: OpenApiPart = { paths };
