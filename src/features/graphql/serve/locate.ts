import { type DecideInput, decideEntity, decideId, deciderOf, failure, type Outcome } from "../../../gateway/decide.ts";
import { decideFor } from "../../../gateway/loading.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import { type GatewayError, problemOf } from "../../../problems/index.ts";
import { remembered } from "../../../proxy/deliver.ts";
import type { CompiledTable, Decision, IdDecision } from "../../../routing/table.ts";
import { readGlobalId } from "../document/global-id.ts";
import type { FoundId } from "../document/ids.ts";
import type { FieldFailure, Place, RootField } from "../document/plan.ts";
import type { Graphql } from "../table/types.ts";

/** Where the IDs of an operation are. */

export interface Located {
  /** Whether it stands for several IDs. */
  readonly hasOthers?: boolean | undefined;
  readonly decision: Decision;
  readonly table: CompiledTable;
}

interface LocatedId extends Located {
  readonly decision: IdDecision;
}

/** Knowledge of each ID, by `keyOf`. */
type Known = ReadonlyMap<string, LocatedId | FieldFailure>;

const keyOf = ({ entity = "", text }: FoundId): string => `${entity}\n${text}`;

export class Locations {
  readonly #known: Known;
  readonly #context: RequestContext;
  readonly #graphql: Graphql;
  #home: Place | undefined;

  constructor(known: Known, context: RequestContext, graphql: Graphql) {
    this.#known = known;
    this.#context = context;
    this.#graphql = graphql;
  }

  ofId(id: FoundId): Place {
    const found = this.#known.get(keyOf(id));
    if (found === undefined) throw new Error("an ID was not looked up");
    return "decision" in found ? { region: found.decision.target.region.name } : { failure: found };
  }

  /** Fields without an ID go where the table's sources say. */
  home(): Place {
    this.#home ??= homeOf(this.#context, this.#graphql);
    return this.#home;
  }

  introspection(): Place {
    const { introspection: region } = this.#graphql;
    if (region !== undefined) return { region };
    const message = "Introspection is off: the table names no region for it.";
    return { failure: { code: "INTROSPECTION_DISABLED", message, status: 400 } };
  }

  /** The different IDs among these fields that are in a region. */
  inRegion(fields: readonly RootField[], region: string): readonly LocatedId[] {
    const found = new Map<string, LocatedId>();
    for (const { ids, list } of fields) {
      for (const id of idsOf({ ids, list })) {
        const known = this.#known.get(keyOf(id));
        if (known === undefined || !("decision" in known) || known.decision.target.region.name !== region) continue;
        found.set(`${known.decision.entity.name}\n${known.decision.canonical}`, known);
      }
    }
    return [...found.values()];
  }
}

const idsOf = ({ ids, list }: Pick<RootField, "ids" | "list">): readonly FoundId[] => [
  ...ids,
  ...(list?.items ?? []).flatMap((item) => item ?? []),
];

function homeOf(context: RequestContext, { sources, path, entity }: Graphql): Place {
  const choice = context.chooseRegion(entity.name, sources);
  if (choice.ok) return { region: choice.value.region };
  const { error } = choice;
  return { failure: failureOf(error.reason === "region-unknown" ? { ...error, path } : error) };
}

/** A problem as the error of a field. */
export function failureOf(error: GatewayError): FieldFailure {
  const { detail, status } = problemOf(error);
  return { code: error.reason, message: detail, status, region: "region" in error ? error.region : undefined };
}

/** Look-ups of one operation at a time: most wait for nothing, those in a directory may. */
const LOOKUPS_AT_ONCE = 16;

export async function locate(
  context: RequestContext,
  served: ServedTable,
  graphql: Graphql,
  fields: readonly RootField[],
): Promise<Locations> {
  const ids = new Map<string, FoundId>();
  for (const field of fields) for (const id of idsOf(field)) ids.set(keyOf(id), id);
  const known = new Map<string, LocatedId | FieldFailure>();
  const waiting = ids.entries();
  const work = async (): Promise<void> => {
    for (const [key, id] of waiting) known.set(key, await locateOne(context, served, graphql, id));
  };
  await Promise.all(Array.from({ length: Math.min(LOOKUPS_AT_ONCE, ids.size) }, work));
  return new Locations(known, context, graphql);
}

async function locateOne(
  context: RequestContext,
  served: ServedTable,
  graphql: Graphql,
  id: FoundId,
): Promise<LocatedId | FieldFailure> {
  const outcome = await decideFor(context, served, (input) => decideNamed(input, graphql, id));
  if (outcome.kind === "error") return failureOf(outcome.error);
  if (outcome.kind !== "region") return failureOf({ reason: "unknown-id", id: id.text, candidates: [] });
  const { decision, byCanary } = outcome;
  const table = deciderOf(served, byCanary);
  return { decision: await remembered(context.gateway.movedMemory, table, decision), table };
}

function decideNamed(input: DecideInput, { globalIds }: Graphql, { entity, text }: FoundId): Outcome {
  const { table } = input.tables;
  if (entity !== undefined) return decideEntity(input, entity, text);
  if (globalIds !== undefined) {
    const named = readGlobalId(globalIds, text);
    if (named !== undefined) return decideEntity(input, named.entity, named.id);
    return failure(table, { reason: "unknown-id", id: text, candidates: [] }, false);
  }
  if (text === "" || text.includes("/")) {
    return failure(table, { reason: "malformed-id", id: text, faults: [] }, false);
  }
  return decideId(input, text);
}
