import * as v from "valibot";

/** What a gateway answers under `/-/table`, as far as this command reads it: members that are new to it are passed over. */

const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const revision = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Whom a canary is for: one of the three. */
const audience = v.object({
  share: v.optional(v.number()),
  countries: v.optional(v.array(v.string())),
  entities: v.optional(v.array(v.string())),
});
export type Audience = v.InferOutput<typeof audience>;

/** One state of the table. */
export const revisionSchema = v.object({
  revision,
  digest,
  bytes: v.number(),
  author: v.string(),
  /** ISO 8601; absent for the table that was deployed with the code. */
  time: v.optional(v.string()),
  note: v.string(),
  kind: v.string(),
  basedOn: v.optional(revision),
  /** Of a canary. */
  audience: v.optional(audience),
});
export type Revision = v.InferOutput<typeof revisionSchema>;

export const revisionsSchema = v.object({ revisions: v.array(revisionSchema) });

/** `null` for none; absent from a gateway that does not tell. */
const canary = v.optional(v.nullable(v.object({ revision, digest, ...audience.entries })));

export const statusSchema = v.object({
  truth: v.object({ revision, digest, time: v.optional(v.string()) }),
  kv: v.optional(v.nullable(v.object({ revision, digest, canary, asked: v.optional(v.string()) }))),
  isolate: v.object({
    revision,
    source: v.string(),
    ageSeconds: v.number(),
    digest: v.optional(v.string()),
    canary,
  }),
  pending: v.boolean(),
  lastError: v.optional(v.nullable(v.string())),
  canary,
});
export type Status = v.InferOutput<typeof statusSchema>;

/** What `/-/ready` says beside its fields. */
export const readySchema = v.object({ canary });

export const auditSchema = v.object({
  entries: v.array(
    v.object({
      id: v.number(),
      time: v.string(),
      author: v.string(),
      action: v.string(),
      revision: v.optional(revision),
      outcome: v.string(),
      note: v.string(),
      audience: v.optional(audience),
      pack: v.optional(digest),
      /** How often it was refused alike within a minute, if more than once. */
      times: v.optional(v.number()),
    }),
  ),
});
export type AuditEntry = v.InferOutput<typeof auditSchema>["entries"][number];

/** What the table in force takes up of each cap. */
export const capacitySchema = v.record(v.string(), v.object({ used: v.number(), max: v.number() }));

/** What the gateway's store holds of a pack. */
export const packSchema = v.object({
  sha256: digest,
  /** Whether its header is known. */
  header: v.boolean(),
  pages: v.nullable(v.number()),
  /** Numbers of pages; `null` without the header. */
  missing: v.nullable(v.array(v.number())),
  whole: v.boolean(),
});
export type StoredPack = v.InferOutput<typeof packSchema>;

export const faultsSchema = v.object({
  faults: v.array(v.object({ pointer: v.string(), kind: v.string(), message: v.string() })),
});
