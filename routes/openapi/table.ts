import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "../../src/routing/packs/format.ts";
import { LIMIT_DEFAULT, LIMIT_MAX } from "../table/revisions.ts";
import type { Paths } from "./paths.ts";

/** The pages of packs under `/-/table/packs`, as OpenAPI 3.1 describes them. */

const SHA256 = {
  name: "sha256",
  in: "path",
  required: true,
  description: "SHA-256 of the pack's header in lower-case hex, as the table names the pack.",
  schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
};
const PAGE = { name: "page", in: "path", required: true, schema: { type: "integer", minimum: 0 } };

const PACK_STATUS = {
  type: "object",
  required: ["sha256", "header", "pages", "missing", "complete"],
  properties: {
    sha256: SHA256.schema,
    header: { type: "boolean", description: "Whether the header is known." },
    pages: { type: ["integer", "null"], description: "How many the pack has; null without its header." },
    missing: { type: ["array", "null"], items: { type: "integer" }, description: "Numbers of the pages to send." },
    complete: { type: "boolean", description: "Whether a table that names the pack can be published." },
  },
};

/** `problem`: the responses of every operation; `security`: who may see, and change. */
export function packPaths(problem: object, security: readonly object[]): Paths {
  const shown = (description: string) => ({ description, content: { "application/json": { schema: PACK_STATUS } } });
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

/** What the history and the audit of the table answer, as OpenAPI 3.1 describes it. */

const number = { type: "integer", minimum: 0 };
const time = { type: "string", format: "date-time" };
const note = { type: "string" };
const author = { type: "string", description: "The name of a token, or whom Access vouches for." };
const names = { type: "array", items: { type: "string" } };

/** Exactly one of the three. */
export const AUDIENCE_MEMBERS = {
  share: { type: "number", description: "Percent of the IDs." },
  countries: { ...names, description: "ISO 3166-1 codes." },
  entities: names,
};
const audience = (description: string) => ({ type: "object", description, properties: AUDIENCE_MEMBERS });

export const REVISION = {
  type: "object",
  required: ["revision", "digest", "bytes", "author", "note", "kind"],
  properties: {
    revision: number,
    digest: { type: "string", pattern: "^[0-9a-f]{64}$" },
    bytes: number,
    author,
    time,
    note,
    kind: { enum: ["bundled", "publish", "rollback", "promote", "import", "canary"] },
    basedOn: number,
    audience: audience("Of a canary: whom it was for."),
  },
};

const AUDIT_ENTRY = {
  type: "object",
  required: ["id", "time", "author", "action", "outcome", "note"],
  properties: {
    id: number,
    time,
    author,
    action: { enum: ["publish", "rollback", "canary", "promote", "abort", "pack", "import"] },
    revision: { ...number, description: "What it made, or what it ended." },
    outcome: { type: "string", description: "`done`, or the slug of the problem that refused it." },
    note,
    audience: audience("Of a canary: whom it is for, or had served when it was promoted or aborted."),
    pack: { type: "string", pattern: "^[0-9a-f]{64}$", description: "Of a pack: SHA-256 of its header." },
    times: { type: "integer", minimum: 2, description: "How often it was refused alike within a minute." },
  },
};

const listOf = (member: string, items: object) => ({
  type: "object",
  required: [member],
  properties: { [member]: { type: "array", maxItems: LIMIT_MAX, items } },
});
export const REVISIONS = listOf("revisions", REVISION);
export const AUDIT = listOf("entries", AUDIT_ENTRY);

/** `?before=41&limit=20`. */
export const PAGE_PARAMETERS = [
  { name: "before", in: "query", description: "Those with a lower number alone.", schema: number },
  { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT } },
];

/** What `GET /-/table/status` answers, as OpenAPI 3.1 describes it. */

const revision = { type: "integer", minimum: 0 };
const digest = { type: "string", pattern: "^[0-9a-f]{64}$" };

const canary = {
  type: ["object", "null"],
  description: "The table for some of the IDs; null where none runs.",
  required: ["revision", "digest"],
  properties: { revision, digest, ...AUDIENCE_MEMBERS },
};

export const STATUS = {
  type: "object",
  required: ["controlPlane", "canary", "kv", "isolate", "pending", "lastError"],
  properties: {
    controlPlane: { type: "object", required: ["revision", "digest"], properties: { revision, digest, time } },
    canary,
    kv: {
      type: ["object", "null"],
      description: "What KV shows to the object; null for nothing.",
      required: ["revision", "digest", "canary", "checkedAt"],
      properties: { revision, digest, canary, checkedAt: time },
    },
    isolate: {
      type: "object",
      description: "What the isolate that answers routes by.",
      required: ["revision", "source", "ageSeconds", "canary"],
      properties: {
        revision,
        digest,
        source: { enum: ["memory", "edge", "kv", "bundled"] },
        ageSeconds: { type: "integer", minimum: 0 },
        canary,
      },
    },
    pending: { type: "boolean", description: "Whether KV is still to be brought to the last change." },
    lastError: { type: ["string", "null"] },
  },
};

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
    "/-/table/status": get(
      "tableStatus",
      "The table in force in the control plane, in KV and in this isolate",
      [],
      STATUS,
    ),
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
