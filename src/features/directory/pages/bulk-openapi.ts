import { type Paths, parameter, pathParameter } from "../../../../routes/openapi/paths.ts";
import { json, operation } from "../../../../routes/openapi/table.ts";
import { COPY_HEADER_BYTES_MAX, COPY_PAGE_BYTES_MAX } from "../table/copy-format.ts";

/** The pages of whole directories: import, export and published copies. */

const NAME = pathParameter("name", { maxLength: 64 });
const SHA256 = pathParameter("sha256", { pattern: "^[0-9a-f]{64}$" });
const PAGE = pathParameter("page", { pattern: "^[0-9]{1,4}$" });

const of = (name: string, summary: string, more: Partial<Parameters<typeof operation>[0]> = {}): object =>
  operation({ name, tag: "directory", summary, ...more, parameters: [NAME, ...(more.parameters ?? [])] });

const ROWS = { "application/x-ndjson": { schema: { type: "string" } } };
const FLAG = { enum: ["true"] };

const COUNT = { type: "integer", minimum: 0 };
const BY_STATE = {
  type: "object",
  required: ["confirmed", "reserved", "expired", "missing"],
  properties: {
    confirmed: COUNT,
    reserved: { ...COUNT, description: "Under a lease." },
    expired: { ...COUNT, description: "After their lease, and neither confirmed nor released." },
    missing: { ...COUNT, description: "Confirmed ones that an origin reports missing." },
  },
};

const COUNTS = {
  type: "object",
  description: "`total` if all shards answered, else `atLeast`: the counts of those that did.",
  required: ["directory", "at", "shards", "answered"],
  properties: {
    directory: { type: "string" },
    at: { type: "string", format: "date-time", description: "When counting began." },
    shards: COUNT,
    answered: COUNT,
    total: BY_STATE,
    atLeast: BY_STATE,
  },
};

const bytes = (maxLength: number): object => ({
  "application/octet-stream": { schema: { type: "string", maxLength } },
});

export const directoryBulkPaths = (): Paths => ({
  "/-/directory/{name}/-/import": {
    post: of("importDirectory", "Import rows: a key, its region and, if known, its owner", {
      parameters: [
        parameter("query", "replace", "Overwrite keys that are there with another region or owner.", FLAG),
        parameter("query", "dry-run", "Check the rows and write none.", FLAG),
      ],
      body: ROWS,
      description: "Faults, conflicts and progress as lines of JSON; the last has `done`.",
      content: ROWS,
    }),
  },
  "/-/directory/{name}/-/export": {
    get: of("exportDirectory", "Confirmed keys, ten thousand or so at once", {
      parameters: [parameter("query", "cursor", "The member `next` of the last line before.")],
      description: "The rows; the last line has `done` or `next`.",
      content: ROWS,
    }),
  },
  "/-/directory/{name}/-/counts": {
    get: of("countKeys", "How many keys there are, by state", { content: json(COUNTS) }),
  },
  "/-/directory/{name}/-/copy": {
    get: of("directoryCopy", "The published copy in force"),
    delete: of("removeDirectoryCopy", "Put no copy in force", { status: 204, content: {} }),
  },
  "/-/directory/{name}/-/copies/{sha256}": {
    get: of("directoryCopyHeader", "The header of a copy", {
      parameters: [SHA256],
      content: bytes(COPY_HEADER_BYTES_MAX),
    }),
    put: of("putDirectoryCopy", "Store the header of a copy after its pages, and put the copy in force", {
      parameters: [SHA256],
      body: bytes(COPY_HEADER_BYTES_MAX),
      status: 204,
      content: {},
    }),
  },
  "/-/directory/{name}/-/copies/{sha256}/{page}": {
    get: of("directoryCopyPage", "A page of a copy", {
      parameters: [SHA256, PAGE],
      content: bytes(COPY_PAGE_BYTES_MAX),
    }),
    put: of("putDirectoryCopyPage", "Store a page of a copy", {
      parameters: [SHA256, PAGE],
      body: bytes(COPY_PAGE_BYTES_MAX),
      status: 204,
      content: {},
    }),
  },
});
