import { LIMIT_DEFAULT, LIMIT_MAX } from "./table-revisions.ts";

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
