import API from "../../src/formats/table-api.schema.json" with { type: "json" };
import { PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX } from "../../src/formats/table-requests.ts";
import { type Paths, PROBLEM_CONTENT, parameter, pathParameter } from "./paths.ts";

/** Each is enough; a session at the console's host alone. */
export const VIEWERS = [{ token: [] }, { access: [] }, { session: [] }];

export interface Operation {
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

/** A page of the gateway's state. */
export const state = (name: string, summary: string, more: Partial<Operation> = {}): object => ({
  get: operation({ name, tag: "operations", summary, ...more }),
});

export const json = (schema: object = { type: "object" }): object => ({ "application/json": { schema } });
/** A schema of the table's API. */
export const ref = (name: keyof typeof API): object => json({ $ref: `#/components/schemas/${name}` });

export const WHOLE = { type: "integer", minimum: 0 };

/** `?before=41&limit=20`. */
export const PAGE_PARAMETERS = [
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
const TABLE = json({ type: "object", description: "A routing table." });
/** For pages with an etag (RFC 9110 §13.1.2). */
export const UNCHANGED = { "304": { description: "`if-none-match` names its etag." } };

const get = (name: string, summary: string, content?: object, parameters: readonly object[] = [], also = {}) => ({
  get: operation({ name, summary, parameters, also, ...(content && { content }) }),
});

export const post = (name: string, summary: string, body: object, more: Partial<Operation> = {}) => ({
  post: operation({ name, summary, parameters: [], body, ...more }),
});

const change = (name: string, summary: string, body: keyof typeof API, status = 201) =>
  post(name, summary, ref(body), { parameters: [IF_MATCH], status, content: ref("TableRevision") });

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
});
