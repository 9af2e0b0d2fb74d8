import { primaryPattern } from "../../../routing/index.ts";
import { pathWithId } from "../../../routing/lookup/paths.ts";
import type { IdDecision } from "../../../routing/table.ts";
import { shortKeyOf } from "../../mint/serve/mint.ts";

/** The fate of the answer to a create. */

/** An entity on its way: an ID with the decision where it belongs. */
export interface NewEntity {
  /** As its client sees it. */
  readonly text: string;
  readonly decision: IdDecision;
  readonly byCanary: boolean;
}

/** Tells the client the ID, and where the entity is. */
export function labelled(answer: Response, newEntities: readonly NewEntity[]): Response {
  if (answer.status === 101) return answer;
  const response = new Response(answer.body, answer);
  const [first] = newEntities as readonly [NewEntity, ...NewEntity[]];
  response.headers.set("waybill-entity-id", newEntities.map(({ text }) => text).join(", "));
  const shortKeys = newEntities.map(({ decision: { entity, layout, words } }) => shortKeyOf(entity, layout, words));
  if (shortKeys.every((key) => key !== undefined)) response.headers.set("waybill-short-key", shortKeys.join(", "));
  if ((answer.status === 201 || answer.status === 202) && newEntities.length === 1 && !answer.headers.has("location")) {
    const { entity, layout } = first.decision;
    response.headers.set("location", pathWithId(primaryPattern(entity, layout) ?? "", first.text));
  }
  return response;
}
