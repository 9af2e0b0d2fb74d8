import { REFUSAL_FEATURES } from "../features/checking.ts";
import { err, ok, type Result } from "../ids/result.ts";
import {
  type CompiledTable,
  type Explanation,
  explain,
  type IdDecision,
  plainDecision,
  type RoutingError,
  resolveAny,
} from "../routing/index.ts";
import type { OwnRequest, RefusalFeature } from "../routing/own-request.ts";
import { lacksKey, missingIn, shownOf } from "../routing/resolve/reading.ts";
import {
  type DecideError,
  type DecideFailure,
  type DecideInput,
  decideId,
  decidePath,
  deciderOf,
  failure,
  hintFor,
  type LoadNeed,
  type Outcome,
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
  | LoadNeed;

/**
 * All readings of an ID, where `/any` leads it and why. IDs that an entity hides are unknown here too. `seesHidden`: whether
 * the caller may see where the ID leads that clients have; the hidden text and its fields are never shown.
 */
export function explainId(input: DecideInput, id: string, seesHidden: boolean): Explained {
  // On `/any` a slash would end the ID.
  const outcome = id.includes("/") ? undefined : decideId(input, id);
  return explainOutcome(input, id, outcome, seesHidden, (error, plain) =>
    // For an ID that leads nowhere, staff get the reason of each layout.
    error.reason === "ambiguous-id" || (error.reason === "entity-gone" && seesHidden) ? error : plain,
  );
}

/** The same on a path of an entity. */
export const explainOnPath = (input: DecideInput, id: string, path: string, seesHidden: boolean): Explained =>
  explainOutcome(input, id, decidePath(input, path), seesHidden, (error) => error);

function explainOutcome(
  input: DecideInput,
  id: string,
  outcome: Outcome | undefined,
  seesHidden: boolean,
  choose: (error: RoutingError, plain: RoutingError) => RoutingError,
): Explained {
  if (outcome?.kind === "load") return outcome;
  const byCanary = outcome?.byCanary === true;
  const table = deciderOf(input.tables, byCanary);
  const hint = hintFor(table, input.layoutName);
  if (!hint.ok) return failure(table, hint.error, byCanary);
  const shown = shownOf(table);
  const decided = outcome?.kind === "region" ? outcome.decision : undefined;
  const isHidden = decided?.entity.reading?.hides === true;
  const read = resolveAny(shown, id, input.nowMs, hint.value, input.asked);
  const plain = read.ok ? read : settleError(input, read.error);
  const failed = outcome?.kind === "error" ? outcome : undefined;
  const error = whyNowhere(id, plain, failed?.error, choose);
  if (error === undefined) return failed as DecideFailure;
  const where = decided === undefined || isHidden ? err(error) : ok(decided);
  const explanation = explain(shown, id, input.nowMs, hint.value, where);
  const open = explanation.error;
  if (open !== undefined && missingIn(open) !== undefined) return failure(table, open, byCanary);
  const publicOf = table.reading?.ownersOfForm(table, id) ?? [];
  const whole = publicOf.length === 0 ? explanation : { ...explanation, publicOf };
  if (!isHidden) return { kind: "explanation", explanation: whole, decided, byCanary };
  if (decided === undefined || !seesHidden)
    return { kind: "explanation", explanation: whole, decided: undefined, byCanary };
  const shownTo = { ...whole, decision: plainDecision(decided, id), error: undefined };
  return { kind: "explanation", explanation: shownTo, decided, byCanary };
}

/**
 * Why an ID leads nowhere, where it does. `plain`: what it says itself. `undefined`: the gateway does not serve an ID that is
 * read well, such as one whose keys it lacks.
 */
function whyNowhere(
  id: string,
  plain: Result<IdDecision, RoutingError>,
  failed: DecideError | undefined,
  choose: (error: RoutingError, plain: RoutingError) => RoutingError,
): RoutingError | undefined {
  const said = failed !== undefined && isOfRouting(failed) ? failed : undefined;
  if (plain.ok) return failed === undefined ? { reason: "unknown-id", id, candidates: [] } : said;
  return said === undefined ? plain.error : choose(said, plain.error);
}

const isOfRouting = (error: DecideError): error is RoutingError =>
  !lacksKey(error) && error.reason !== "unknown-name" && error.reason !== "method-not-allowed";

const REFUSALS: readonly RefusalFeature[] = REFUSAL_FEATURES;

/** Why a feature refuses a request on one of its own paths, as far as the request alone tells. */
export const refusalOfOwn = (feature: string, table: CompiledTable, request: OwnRequest<IdDecision>) =>
  REFUSALS.find(({ name }) => name === feature)?.refusal(table, request);
