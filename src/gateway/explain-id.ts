import { hasPublicForm } from "../features/public-ids/table/codec.ts";
import { err, ok } from "../ids/result.ts";
import {
  type CompiledTable,
  type Explanation,
  explain,
  type IdDecision,
  plainDecision,
  type RoutingError,
  resolveAny,
} from "../routing/index.ts";
import {
  type DecideError,
  type DecideFailure,
  type DecideInput,
  decideId,
  decidePath,
  deciderOf,
  failure,
  hintFor,
  type Outcome,
  type PageNeed,
  settleError,
} from "./decide.ts";

/** All readings of an ID, beside the one decision that a request with it gets. */

/** `decided`: absent where the caller may not see it. */
export type Explained =
  | {
      readonly kind: "explanation";
      readonly explanation: Explanation;
      readonly decided: IdDecision | undefined;
      readonly byCanary: boolean;
    }
  | DecideFailure
  | PageNeed;

/**
 * All readings of an ID, where `/any` leads it and why. Internal IDs of public entities are unknown here too. `seesPublic`:
 * whether the caller may see where a public ID leads; its internal text and its fields are never shown.
 */
export function explainId(input: DecideInput, id: string, seesPublic: boolean): Explained {
  // On `/any` a slash would end the ID.
  const outcome = id.includes("/") ? undefined : decideId(input, id);
  return explainOutcome(input, id, outcome, seesPublic, (error, plain) =>
    // For an ID that leads nowhere, staff get the reason of each layout.
    error.reason === "ambiguous-id" || (error.reason === "entity-gone" && seesPublic) ? error : plain,
  );
}

/** The same on a path of an entity. */
export const explainOnPath = (input: DecideInput, id: string, path: string, seesPublic: boolean): Explained =>
  explainOutcome(input, id, decidePath(input, path), seesPublic, (error) => error);

function explainOutcome(
  input: DecideInput,
  id: string,
  outcome: Outcome | undefined,
  seesPublic: boolean,
  choose: (error: RoutingError, plain: RoutingError) => RoutingError,
): Explained {
  if (outcome?.kind === "page") return outcome;
  const byCanary = outcome?.byCanary === true;
  const table = deciderOf(input.tables, byCanary);
  const hint = hintFor(table, input.layoutName);
  if (!hint.ok) return failure(table, hint.error, byCanary);
  const shown = table.withoutPublic ?? table;
  const decided = outcome?.kind === "region" ? outcome.decision : undefined;
  const isPublic = decided?.entity.public !== undefined;
  const read = resolveAny(shown, id, input.nowMs, hint.value, input.asked);
  const plain = read.ok ? read : settleError(input, read.error);
  const said = outcome?.kind === "error" && isOfRouting(outcome.error) ? outcome.error : undefined;
  // Without its keys the gateway does not serve the ID either.
  if (plain.ok && said === undefined && outcome?.kind === "error") return outcome;
  const nowhere: RoutingError = plain.ok ? { reason: "unknown-id", id, candidates: [] } : plain.error;
  const error = said === undefined ? nowhere : plain.ok ? said : choose(said, nowhere);
  const where = decided === undefined || isPublic ? err(error) : ok(decided);
  const explanation = explain(shown, id, input.nowMs, hint.value, where);
  const open = explanation.error;
  if (open !== undefined && ("missing" in open || "lookup" in open)) return failure(table, open, byCanary);
  const publicOf = ownersOfForm(table, id);
  const shownAs = publicOf.length === 0 ? {} : { publicOf };
  const isShown = decided !== undefined && (seesPublic || !isPublic);
  const decision = isShown && isPublic ? { decision: plainDecision(decided, id), error: undefined } : {};
  return {
    kind: "explanation",
    explanation: { ...explanation, ...shownAs, ...decision },
    decided: isShown ? decided : undefined,
    byCanary,
  };
}

const ownersOfForm = (table: CompiledTable, id: string): readonly string[] =>
  [...table.entities.values()].flatMap((entity) =>
    entity.public !== undefined && hasPublicForm(entity, id) ? [entity.name] : [],
  );

const isOfRouting = (error: DecideError): error is RoutingError =>
  error.reason !== "public-ids-unavailable" && error.reason !== "unknown-name" && error.reason !== "method-not-allowed";
