import type { CanaryMember } from "../../src/formats/console-canary.ts";
import type { Explained } from "../../src/gateway/explain-id.ts";
import type { decideLoading } from "../../src/gateway/loading.ts";
import type { ServedTable } from "../../src/ports/gateway.ts";
import type { CompiledTable, IdDecision } from "../../src/routing/index.ts";
import { canaryTakesFrom } from "../../src/routing/resolve/table-canary.ts";

/** Where an ID or a request leads by one table. `problem`: its slug, where it leads nowhere. */
export interface Led {
  readonly region?: string | undefined;
  readonly problem?: string | undefined;
  readonly decided?: IdDecision | undefined;
}

export interface LedHere extends Led {
  readonly byCanary: boolean;
}

/**
 * The member `tableCanary` of a look-up while a canary runs: which of the two tables decides, and where the other one would
 * lead. A path about which both say nothing, such as a page of the gateway, has none.
 */
export async function tableCanaryOf(
  { table, canary }: Pick<ServedTable, "table" | "canary">,
  own: LedHere,
  ledBy: (tables: Readonly<{ table: CompiledTable; canary: undefined }>) => Promise<Led>,
): Promise<CanaryMember> {
  if (canary === undefined || (own.region === undefined && own.problem === undefined)) return {};
  const other = await ledBy({ table: own.byCanary ? table : canary.table, canary: undefined });
  const decided = own.byCanary ? other.decided : own.decided;
  // It is computed of the internal ID, which is not shown.
  const isShown = decided !== undefined && decided.entity.reading?.hides !== true;
  const isSame = other.region === own.region && (own.region !== undefined || other.problem === own.problem);
  const tableCanary = {
    decides: own.byCanary,
    revision: canary.table.revision,
    inForce: table.revision,
    audience: canary.audience,
    ...("share" in canary.audience && isShown && { takesFrom: canaryTakesFrom(decided) }),
    ...(!isSame && {
      otherwise: other.region === undefined ? { problem: other.problem ?? "" } : { region: other.region },
    }),
  };
  return { tableCanary };
}

/** A text with the form of a public ID: only the keys could say more. */
export function idLedBy(explained: Awaited<ReturnType<typeof decideLoading<Explained>>>): LedHere {
  const { byCanary } = explained;
  if (explained.kind === "error") return { byCanary, problem: explained.error.reason };
  const { explanation, decided } = explained;
  if (explanation.publicOf !== undefined && decided === undefined) return { byCanary };
  return { byCanary, region: explanation.decision?.region, problem: explanation.error?.reason, decided };
}

const TEXT = { type: "string" };
const NAMES = { type: "array", items: TEXT };

/** For OpenAPI. */
export const TABLE_CANARY = {
  type: "object",
  description: "While a canary of the whole table runs.",
  required: ["decides", "revision", "inForce", "audience"],
  properties: {
    decides: {
      type: "boolean",
      description: "Whether the canary's table decides about it; else the one in force does.",
    },
    revision: { type: "integer", description: "Revision of the canary's table." },
    inForce: { type: "integer", description: "Revision of the table in force." },
    audience: {
      type: "object",
      description: "The IDs that the canary serves: one of the three.",
      properties: { share: { type: "number", description: "Percent of the IDs." }, countries: NAMES, entities: NAMES },
    },
    takesFrom: { type: "number", description: "The least share, in percent, that the ID is in." },
    otherwise: {
      type: "object",
      description: "The answer of the other one of the two tables, where it differs.",
      properties: { region: TEXT, problem: { ...TEXT, description: "The slug: it leads nowhere." } },
    },
  },
};
