import * as v from "valibot";
import { type Audience, selectorSchema } from "./table-api.ts";

/** A look-up's member about the canary of the whole table, as JSON and in words: for the console and the command. */

/** The slug of a problem: it leads nowhere. */
const otherwise = v.union([v.object({ region: v.string() }), v.object({ problem: v.string() })]);

export const tableCanarySchema = v.object({
  /** Whether the canary's table decides; else the one in force does. */
  decides: v.boolean(),
  /** Revision of the canary's table. */
  revision: v.number(),
  /** Revision of the table in force. */
  inForce: v.number(),
  audience: selectorSchema,
  /** The least share that the ID is in, in percent. */
  takesFrom: v.optional(v.number()),
  /** The answer of the other one of the two tables, where it differs. */
  otherwise: v.optional(otherwise),
});

export type TableCanaryView = v.InferOutput<typeof tableCanarySchema>;

/** The member of a look-up; absent without a canary. */
export const canaryMember = { tableCanary: v.optional(tableCanarySchema) };

export interface CanaryMember {
  readonly tableCanary?: TableCanaryView;
}

/** `25 % of the IDs`, `IDs of PL, DE`, `all IDs of order`. */
export function audienceInWords({ share, countries, entities = [] }: Audience): string {
  if (share !== undefined) return `${share} % of the IDs`;
  return countries === undefined ? `all IDs of ${entities.join(", ")}` : `IDs of ${countries.join(", ")}`;
}

/** The table that decides, the canary's share, and where the other table would lead. */
export function tableCanaryInWords(view: TableCanaryView): string {
  const { decides, revision, inForce, audience, takesFrom, otherwise: other } = view;
  const from = takesFrom === undefined ? "" : `, this one from ${takesFrom} %`;
  const has = `has ${audienceInWords(audience)}${from}`;
  const leads =
    other === undefined
      ? "would lead there too"
      : "region" in other
        ? `would lead to ${other.region}`
        : `would refuse it (${other.problem})`;
  return decides
    ? `revision ${revision} (canary) decides: it ${has}; revision ${inForce} (in force) ${leads}`
    : `revision ${inForce} (in force) decides; revision ${revision} (canary) ${has}, and ${leads}`;
}
