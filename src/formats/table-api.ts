import * as v from "valibot";
import { DIGEST } from "./kv.ts";
import { PAGE_ENTRIES_MAX } from "./table-requests.ts";

/** Answers of `/-/table`: the source of types, validation and OpenAPI. Metadata is not validated: a later gateway may send more. */

const digest = v.pipe(v.string(), v.regex(DIGEST));
const integer = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const time = v.pipe(v.string(), v.metadata({ format: "date-time" }));
const names = v.array(v.string());

/** A string; the type lists the words of this version. */
const word = <const Words extends readonly string[]>(...words: Words) =>
  v.pipe(
    v.string(),
    v.metadata({ enum: words }),
    v.transform((text) => text as Words[number]),
  );

const described = <Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.pipe(schema, v.description(description));

const page = <Schema extends v.GenericSchema>(items: Schema) =>
  v.pipe(v.array(items), v.metadata({ maxItems: PAGE_ENTRIES_MAX }));

/** The IDs that a canary serves: exactly one of the three. */
export const selectorSchema = v.object({
  share: v.optional(described(v.number(), "Percent of the IDs.")),
  countries: v.optional(described(names, "ISO 3166-1 codes.")),
  entities: v.optional(names),
});
export type Audience = v.InferOutput<typeof selectorSchema>;

/** One state of the table. It never changes, and its number is never reused. */
export const revisionSchema = v.object({
  revision: integer,
  /** SHA-256 of the text. */
  digest,
  bytes: integer,
  author: described(v.string(), "The name of a token, or the user signed in through Access."),
  /** ISO 8601; absent for revision 0. */
  time: v.optional(time),
  note: v.string(),
  /**
   * - `bundled`: deployed with the code, revision 0.
   * - `import`: found in KV with a higher number than any in the control plane.
   * - `canary`: served to some of the IDs while the canary runs.
   */
  kind: word("bundled", "publish", "rollback", "promote", "import", "canary"),
  /** The revision that a publish or a canary names, or whose text a rollback or a promotion repeats. */
  basedOn: v.optional(integer),
  audience: v.optional(described(selectorSchema, "IDs that a canary served.")),
});
export type TableRevision = Readonly<v.InferOutput<typeof revisionSchema>>;

export const revisionsSchema = v.object({ revisions: page(revisionSchema) });

const auditEntry = v.object({
  id: integer,
  /** The first attempt's where several are counted together; so is `pack`. */
  time,
  author: revisionSchema.entries.author,
  action: word("publish", "rollback", "canary", "promote", "abort", "pack", "import"),
  revision: v.optional(described(integer, "Revision that it made or ended.")),
  outcome: described(v.string(), "`done`, or the slug of the problem that rejected it."),
  note: v.string(),
  audience: v.optional(
    described(selectorSchema, "IDs that a canary serves, or served before it was promoted or aborted."),
  ),
  pack: v.optional(described(digest, "SHA-256 of a pack's header.")),
  times: v.optional(
    described(
      v.pipe(v.number(), v.metadata({ type: "integer", minimum: 2 })),
      "Number of equal rejections within a minute.",
    ),
  ),
});
export type AuditEntry = Readonly<v.InferOutput<typeof auditEntry>>;

export const auditSchema = v.object({ entries: page(auditEntry) });

export const canarySchema = described(
  v.nullable(v.object({ revision: integer, digest, ...selectorSchema.entries })),
  "The table for some of the IDs; null where none runs.",
);

/** Several machines: those that the control plane heard of in the last 10 minutes. */
const machinesSchema = described(
  v.object({
    published: v.optional(v.object({ revision: integer, change: integer })),
    edges: v.array(
      v.object({
        name: v.string(),
        revision: integer,
        change: integer,
        version: v.string(),
        processes: integer,
        ageMs: described(integer, "Since the edge's mirror was found to be what is published, when it asked last."),
        silent: v.optional(described(names, "State nodes that do not answer it.")),
        heardAt: time,
      }),
    ),
    nodes: v.array(v.object({ address: v.string(), version: v.string(), heardAt: time })),
  }),
  "Edges and state nodes; absent on a gateway that is alone.",
);
export type ShownMachines = v.InferOutput<typeof machinesSchema>;

export const statusSchema = v.object({
  controlPlane: v.object({ revision: integer, digest, time: v.optional(time) }),
  canary: canarySchema,
  kv: described(
    v.nullable(v.object({ revision: integer, digest, canary: canarySchema, checkedAt: time })),
    "The table that the object reads from KV; null for none.",
  ),
  isolate: described(
    v.object({
      revision: integer,
      /** Absent for the bundled table. */
      digest: v.optional(digest),
      source: word("memory", "edge", "kv", "bundled"),
      ageSeconds: integer,
      canary: canarySchema,
    }),
    "The table of the responding isolate.",
  ),
  pending: described(v.boolean(), "Whether the last change is not yet written to KV."),
  lastError: v.nullable(v.string()),
  machines: v.optional(machinesSchema),
});
export type Status = v.InferOutput<typeof statusSchema>;
export type TableSource = Status["isolate"]["source"];

export const packSchema = v.object({
  /** Digest of its header. */
  sha256: digest,
  header: described(v.boolean(), "Whether the header is known."),
  pages: described(v.nullable(integer), "How many the pack has; null without its header."),
  missing: described(v.nullable(v.array(integer)), "Numbers of the pages to send."),
  complete: described(v.boolean(), "Whether a table that names the pack can be published."),
});
export type StoredPack = v.InferOutput<typeof packSchema>;

/** The answer of `/-/ready`. */
export const readySchema = v.object({ canary: v.optional(canarySchema) });

/** Usage of each limit, by its name. */
export const capacitySchema = v.record(v.string(), v.object({ used: v.number(), max: v.number() }));

/** Faults of a table, in the response or in the problem `invalid-table`. */
export const faultsSchema = v.object({
  faults: v.array(v.object({ pointer: v.string(), kind: v.string(), message: v.string() })),
});
