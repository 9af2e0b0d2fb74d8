import type { Paths } from "./openapi-paths.ts";
import { AUDIENCE_MEMBERS, AUDIT, PAGE_PARAMETERS, REVISION, REVISIONS } from "./openapi-table-history.ts";
import { STATUS } from "./openapi-table-status.ts";

/** The pages of the routing table under `/-/table`, as OpenAPI 3.1 describes them. */

interface Described {
  readonly name: string;
  readonly summary: string;
  readonly parameters?: readonly object[];
  /** Of the request's body; none: it has none. */
  readonly body?: { readonly type: string; readonly schema: object };
  readonly status?: number;
  readonly type?: string;
  /** Of an answer in JSON. */
  readonly answer?: object;
}

const JSON_TYPE = "application/json";
const LINES_TYPE = "application/x-ndjson";

const IF_MATCH = {
  name: "if-match",
  in: "header",
  required: true,
  description: "The revision that the change is made for, of the canary where one runs.",
  schema: { type: "string", pattern: '^"[0-9]+"$', examples: ['"41"'] },
};
const NOTE = {
  name: "waybill-note",
  in: "header",
  description: "Why, percent-encoded UTF-8; at most 500 characters.",
  schema: { type: "string" },
};

const query = (name: string) => ({ name, in: "query", required: true, schema: { type: "integer", minimum: 0 } });
const NEW_TABLE = {
  ...query("new"),
  description: "A revision; or `body`: the first line is an object with the `table`.",
  schema: { oneOf: [{ type: "integer", minimum: 0 }, { const: "body" }] },
};
const REVISION_NUMBER = { name: "revision", in: "path", required: true, schema: { type: "integer", minimum: 0 } };

const table = { type: JSON_TYPE, schema: { type: "object", description: "A routing table." } };
const lines = {
  type: LINES_TYPE,
  schema: {
    type: "string",
    description: "One request a line: an object with path and method, `GET /path`, or a path.",
  },
};
const object = (required: readonly string[], properties: object) => ({
  type: JSON_TYPE,
  schema: { type: "object", required, properties: { ...properties, note: { type: "string" } } },
});
const CANARY = object(["table"], { table: { type: "object" }, ...AUDIENCE_MEMBERS });

/** `problem`: the responses of every operation; `security`: who may see, and change. */
export function tablePaths(problem: object, security: readonly object[]): Paths {
  const operation = ({ name, summary, parameters = [], body, status = 200, ...answered }: Described): object => ({
    operationId: name,
    tags: ["table"],
    summary,
    security,
    parameters,
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [body.type]: { schema: body.schema } } } }),
    responses: {
      [status]: {
        description: summary,
        content: contentOf(answered),
      },
      ...problem,
    },
  });
  const get = (
    name: string,
    summary: string,
    parameters: readonly object[] = [],
    answer: object = { type: "object" },
  ) => ({
    get: operation({ name, summary, parameters, answer }),
  });
  const change = (name: string, summary: string, body: Described["body"] & object, status = 201) => ({
    post: operation({ name, summary, parameters: [IF_MATCH], body, status, answer: REVISION }),
  });
  return {
    "/-/table": {
      ...get("table", "The text of the table in force, octet for octet; its revision is the etag"),
      put: operation({
        name: "publishTable",
        summary: "Publish a table as the next revision",
        parameters: [IF_MATCH, NOTE],
        body: table,
        status: 201,
        answer: REVISION,
      }),
    },
    "/-/table/check": {
      post: operation({ name: "checkTable", summary: "Whether a table could be published", body: table }),
    },
    "/-/table/diff": {
      post: operation({
        name: "diffTable",
        summary:
          "What a table would change: its parts, keys with their share of the key space, single entities, steps of moves undone",
        body: table,
      }),
    },
    "/-/table/replay": {
      post: operation({
        name: "replayTable",
        summary: "Which requests of a log go elsewhere by another revision, or by a table that nobody has published",
        parameters: [query("old"), NEW_TABLE],
        body: lines,
        type: LINES_TYPE,
      }),
    },
    "/-/table/revisions": get("tableRevisions", "The revisions, newest first", PAGE_PARAMETERS, REVISIONS),
    "/-/table/revisions/{revision}": get("tableRevision", "The text of a revision, octet for octet", [REVISION_NUMBER]),
    "/-/table/audit": get("tableAudit", "Who changed the table, or tried to", PAGE_PARAMETERS, AUDIT),
    "/-/table/status": get("tableStatus", "What is in force by the truth, by KV and by this isolate", [], STATUS),
    "/-/table/capacity": {
      ...get("tableCapacity", "How much of each cap the table in force takes up"),
      post: operation({ name: "measureTable", summary: "How much of each cap a table takes up", body: table }),
    },
    "/-/table/rollback": change(
      "rollbackTable",
      "Make the text of an old revision the next one",
      object(["to"], { to: { type: "integer", minimum: 0 } }),
    ),
    "/-/table/canary": change("startTableCanary", "Let a table decide about some of the IDs", CANARY),
    "/-/table/promote": change("promoteTableCanary", "Make the canary's table the next revision", object([], {})),
    "/-/table/abort": change("abortTableCanary", "End the canary", object([], {}), 200),
  };
}

const contentOf = ({ type = JSON_TYPE, answer = { type: "object" } }: Pick<Described, "type" | "answer">): object => ({
  [type]: { schema: type === JSON_TYPE ? answer : { type: "string" } },
});
