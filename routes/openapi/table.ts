import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "../../src/features/packs/table/format.ts";
import API from "../../src/formats/table-api.schema.json" with { type: "json" };
import { PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX } from "../../src/formats/table-requests.ts";
import { type Paths, PROBLEM_CONTENT, parameter, pathParameter } from "./paths.ts";

/** Each is enough; a session at the console's host alone. */
export const VIEWERS = [{ token: [] }, { access: [] }, { session: [] }];

interface Operation {
  readonly name: string;
  readonly summary: string;
  readonly tag?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly object[];
  readonly body?: object;
  readonly status?: number;
  /** Description of the response; by default the summary. */
  readonly description?: string;
  readonly content?: object;
  readonly also?: object;
}

/** An operation of one of the gateway's own pages, as OpenAPI 3.1 describes it. */
export const operation = ({ name, summary, parameters, body, ...more }: Operation): object => {
  const { tag = "table", security = VIEWERS, status = 200, description = summary, content = json(), also } = more;
  return {
    operationId: name,
    tags: [tag],
    summary,
    security,
    ...(parameters && { parameters }),
    ...(body && { requestBody: { required: true, content: body } }),
    responses: {
      [status]: { description, content },
      ...also,
      "4XX": { description: "A problem.", content: PROBLEM_CONTENT },
      "5XX": { description: "A problem that may pass.", content: PROBLEM_CONTENT },
    },
  };
};

export const json = (schema: object = { type: "object" }): object => ({ "application/json": { schema } });
const ref = (name: keyof typeof API): object => json({ $ref: `#/components/schemas/${name}` });

const WHOLE = { type: "integer", minimum: 0 };
const OLD_TABLE = parameter("query", "old", "A revision; by default the one in force.", WHOLE);

const SHA256 = {
  name: "sha256",
  in: "path",
  required: true,
  description: "SHA-256 of the pack's header in lower-case hex, as the table names the pack.",
  schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
};

/** `?before=41&limit=20`. */
const PAGE_PARAMETERS = [
  parameter("query", "before", "Only those with a lower number.", WHOLE),
  {
    name: "limit",
    in: "query",
    schema: { type: "integer", minimum: 1, maximum: PAGE_ENTRIES_MAX, default: PAGE_ENTRIES_DEFAULT },
  },
];

const IF_MATCH = {
  name: "if-match",
  in: "header",
  required: true,
  description: "The revision that the change is made for, of the canary where one runs.",
  schema: { type: "string", pattern: '^"[0-9]+"$', examples: ['"41"'] },
};
const NOTE = parameter("header", "waybill-note", "Why, percent-encoded UTF-8; at most 500 characters.");
const NEW_TABLE = {
  name: "new",
  in: "query",
  required: true,
  description: "A revision; or `body`: the first line is an object with the `table`.",
  schema: { oneOf: [WHOLE, { const: "body" }] },
};

const TABLE = json({ type: "object", description: "A routing table." });
const LINES_TYPE = "application/x-ndjson";
const LINES = "One request a line: an object with path and method, `GET /path`, or a path.";

/** For pages with an etag (RFC 9110 §13.1.2). */
export const UNCHANGED = { "304": { description: "`if-none-match` names its etag." } };

const get = (name: string, summary: string, content?: object, parameters: readonly object[] = [], also = {}) => ({
  get: operation({ name, summary, parameters, also, ...(content && { content }) }),
});

const post = (name: string, summary: string, body: object, more: Partial<Operation> = {}) => ({
  post: operation({ name, summary, parameters: [], body, ...more }),
});

const change = (name: string, summary: string, body: keyof typeof API, status = 201) =>
  post(name, summary, ref(body), { parameters: [IF_MATCH], status, content: ref("TableRevision") });

const pack = (name: string, summary: string, parameters: readonly object[], more: Partial<Operation>): object => ({
  tags: ["table"],
  security: VIEWERS,
  ...operation({ name, summary, parameters, content: ref("StoredPack"), ...more }),
});

const putPack = (name: string, summary: string, parameters: readonly object[], maxLength: number): object =>
  pack(name, summary, parameters, {
    body: { "application/octet-stream": { schema: { type: "string", maxLength } } },
    description: "It was there already",
    also: { 201: { description: "It was stored", content: ref("StoredPack") } },
  });

export const tablePaths = (): Paths => ({
  "/-/table": {
    ...get("table", "The exact text of the current table; its revision is the etag", undefined, [], UNCHANGED),
    put: operation({
      name: "publishTable",
      summary: "Publish a table as the next revision",
      parameters: [IF_MATCH, NOTE],
      body: TABLE,
      status: 201,
      content: ref("TableRevision"),
    }),
  },
  "/-/table/check": post("checkTable", "Whether a table could be published", TABLE),
  "/-/table/diff": post(
    "diffTable",
    "The changes by a table: its parts, keys with their share of the key space, single entities, steps of moves undone",
    TABLE,
  ),
  "/-/table/replay": post(
    "replayTable",
    "Which requests of a log are routed differently by another revision, or by an unpublished table",
    { [LINES_TYPE]: { schema: { type: "string", description: LINES } } },
    { parameters: [OLD_TABLE, NEW_TABLE], content: { [LINES_TYPE]: { schema: { type: "string" } } } },
  ),
  "/-/table/revisions": get("tableRevisions", "The revisions, newest first", ref("TableRevisions"), PAGE_PARAMETERS),
  "/-/table/revisions/{revision}": get(
    "tableRevision",
    "The exact text of a revision",
    undefined,
    [pathParameter("revision", WHOLE)],
    UNCHANGED,
  ),
  "/-/table/audit": get(
    "tableAudit",
    "The changes of the table, and attempts to change it, with their authors",
    ref("TableAudit"),
    PAGE_PARAMETERS,
  ),
  "/-/table/status": get(
    "tableStatus",
    "The table in force in the control plane, in KV and in this isolate",
    ref("TableStatus"),
  ),
  "/-/table/capacity": {
    ...get("tableCapacity", "How much of each limit the current table uses"),
    ...post("measureTable", "How much of each limit a table uses", TABLE),
  },
  "/-/table/rollback": change("rollbackTable", "Make the text of an old revision the next one", "RollbackRequest"),
  "/-/table/canary": change("startTableCanary", "Let a table route some of the IDs", "CanaryRequest"),
  "/-/table/promote": change("promoteTableCanary", "Make the canary's table the next revision", "EndCanaryRequest"),
  "/-/table/abort": change("abortTableCanary", "End the canary", "EndCanaryRequest", 200),
  "/-/table/packs/{sha256}": {
    get: pack("pack", "The stored and the missing parts of a pack", [SHA256], {
      description: "Its stored parts",
    }),
    put: putPack("putPackHeader", "Store the header of a pack, before its pages", [SHA256], HEADER_BYTES_MAX),
  },
  "/-/table/packs/{sha256}/{page}": {
    put: putPack("putPackPage", "Store a page of a pack", [SHA256, pathParameter("page", WHOLE)], PAGE_BYTES_MAX),
  },
});
