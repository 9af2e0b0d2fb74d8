import API from "../../src/published/table-api.schema.json" with { type: "json" };
import { PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX } from "../../src/published/table-requests.ts";
import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "../../src/routing/packs/format.ts";
import type { Paths } from "./paths.ts";

/** Members of `components.schemas`. */
export const TABLE_SCHEMAS = API;

const ref = (name: keyof typeof API) => ({ $ref: `#/components/schemas/${name}` });

/** The pages of packs under `/-/table/packs`, as OpenAPI 3.1 describes them. */

const SHA256 = {
  name: "sha256",
  in: "path",
  required: true,
  description: "SHA-256 of the pack's header in lower-case hex, as the table names the pack.",
  schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
};
const PAGE = { name: "page", in: "path", required: true, schema: { type: "integer", minimum: 0 } };

/** `problem`: the error responses of every operation; `security`: its authentication. */
export function packPaths(problem: object, security: readonly object[]): Paths {
  const shown = (description: string) => ({
    description,
    content: { "application/json": { schema: ref("StoredPack") } },
  });
  const common = { tags: ["table"], security };
  const put = (operationId: string, summary: string, parameters: readonly object[], bytesMax: number): object => ({
    ...common,
    ...{ operationId, summary, parameters },
    requestBody: {
      required: true,
      content: { "application/octet-stream": { schema: { type: "string", maxLength: bytesMax } } },
    },
    responses: { 200: shown("It was there already"), 201: shown("It was stored"), ...problem },
  });
  return {
    "/-/table/packs/{sha256}": {
      get: {
        ...common,
        ...{ operationId: "pack", summary: "What is stored of a pack, and what is missing", parameters: [SHA256] },
        responses: { 200: shown("What is stored of it"), ...problem },
      },
      put: put("putPackHeader", "Store the header of a pack, before its pages", [SHA256], HEADER_BYTES_MAX),
    },
    "/-/table/packs/{sha256}/{page}": {
      put: put("putPackPage", "Store a page of a pack", [SHA256, PAGE], PAGE_BYTES_MAX),
    },
  };
}

/** `?before=41&limit=20`. */
const PAGE_PARAMETERS = [
  {
    name: "before",
    in: "query",
    description: "Only those with a lower number.",
    schema: { type: "integer", minimum: 0 },
  },
  {
    name: "limit",
    in: "query",
    schema: { type: "integer", minimum: 1, maximum: PAGE_ENTRIES_MAX, default: PAGE_ENTRIES_DEFAULT },
  },
];

/** The pages of the routing table under `/-/table`, as OpenAPI 3.1 describes them. */

interface Described {
  readonly name: string;
  readonly summary: string;
  readonly parameters?: readonly object[];
  /** The body of the request; `undefined` for none. */
  readonly body?: { readonly type: string; readonly schema: object };
  readonly status?: number;
  readonly type?: string;
  /** Schema of a JSON response. */
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
const json = (schema: object) => ({ type: JSON_TYPE, schema });

/** `problem`: the error responses of every operation; `security`: its authentication. */
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
    post: operation({ name, summary, parameters: [IF_MATCH], body, status, answer: ref("TableRevision") }),
  });
  return {
    "/-/table": {
      ...get("table", "The exact text of the current table; its revision is the etag"),
      put: operation({
        name: "publishTable",
        summary: "Publish a table as the next revision",
        parameters: [IF_MATCH, NOTE],
        body: table,
        status: 201,
        answer: ref("TableRevision"),
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
        summary: "Which requests of a log are routed differently by another revision, or by an unpublished table",
        parameters: [query("old"), NEW_TABLE],
        body: lines,
        type: LINES_TYPE,
      }),
    },
    "/-/table/revisions": get("tableRevisions", "The revisions, newest first", PAGE_PARAMETERS, ref("TableRevisions")),
    "/-/table/revisions/{revision}": get("tableRevision", "The exact text of a revision", [REVISION_NUMBER]),
    "/-/table/audit": get("tableAudit", "Who changed the table, or tried to", PAGE_PARAMETERS, ref("TableAudit")),
    "/-/table/status": get(
      "tableStatus",
      "The table in force in the control plane, in KV and in this isolate",
      [],
      ref("TableStatus"),
    ),
    "/-/table/capacity": {
      ...get("tableCapacity", "How much of each limit the current table uses"),
      post: operation({ name: "measureTable", summary: "How much of each limit a table uses", body: table }),
    },
    "/-/table/rollback": change(
      "rollbackTable",
      "Make the text of an old revision the next one",
      json(ref("RollbackRequest")),
    ),
    "/-/table/canary": change("startTableCanary", "Let a table route some of the IDs", json(ref("CanaryRequest"))),
    "/-/table/promote": change(
      "promoteTableCanary",
      "Make the canary's table the next revision",
      json(ref("EndCanaryRequest")),
    ),
    "/-/table/abort": change("abortTableCanary", "End the canary", json(ref("EndCanaryRequest")), 200),
  };
}

const contentOf = ({ type = JSON_TYPE, answer = { type: "object" } }: Pick<Described, "type" | "answer">): object => ({
  [type]: { schema: type === JSON_TYPE ? answer : { type: "string" } },
});
