import type { Result } from "../ids/result.ts";
import type { Gateway, ServedCanary, ServedTable } from "../ports.ts";
import type { GatewayError } from "../problems/index.ts";
import {
  type CompiledTable,
  type Decision,
  hintNamed,
  type LayoutHint,
  type UnknownLayout,
  withoutPublic,
} from "../routing/index.ts";
import type { MissingPage } from "../routing/packs/pack.ts";
import type { TableRequestContext } from "./request.ts";

/**
 * A canary of the table decides about those IDs that the table beside it has decided about and that belong to its audience:
 * what that table cannot resolve stays unresolved. An entity that it serves as a whole is its own from the beginning.
 */

/** The canary, where the decision's entity belongs to its audience. */
export function canaryForDecision(served: ServedTable, decision: Decision): ServedTable | undefined {
  const { canary } = served;
  return canary?.matches(decision) ? original(served, canary) : undefined;
}

/** The canary, where the path is of an entity that it serves as a whole. */
export function canaryForPath(served: ServedTable, path: string): ServedTable | undefined {
  const { canary, table } = served;
  if (canary === undefined) return undefined;
  const match = table.paths.match(path) ?? canary.table.paths.match(path);
  return canaryForEntity(served, match?.entity.name);
}

/** The canary, where it serves the entity as a whole. */
export function canaryForEntity(served: ServedTable, entity: string | undefined): ServedTable | undefined {
  const { canary } = served;
  return entity !== undefined && canary?.ownsEntity(entity) ? original(served, canary) : undefined;
}

/** The request as the canary has it, where the decision's entity belongs to the audience. */
export const requestForCanary = (context: TableRequestContext, decision: Decision): TableRequestContext | undefined =>
  withCanary(context, canaryForDecision(context.served, decision));

/** The request as the canary has it, where the path is of an entity that it serves as a whole. */
export const requestForCanaryPath = (context: TableRequestContext, path: string): TableRequestContext | undefined =>
  withCanary(context, canaryForPath(context.served, path));

/** The request as the canary has it, for a text that the table beside it does not know: `entity` is what the canary makes of it. */
export const requestForCanaryEntity = (
  context: TableRequestContext,
  entity: string | undefined,
): TableRequestContext | undefined => withCanary(context, canaryForEntity(context.served, entity));

/** No canary is beside a canary, so that a request comes here once. */
const original = (served: ServedTable, { table, digest, label }: ServedCanary): ServedTable => ({
  ...served,
  table,
  digest,
  label,
  canary: undefined,
});

function withCanary(context: TableRequestContext, served: ServedTable | undefined): TableRequestContext | undefined {
  if (served === undefined) return undefined;
  context.logFields.table = served.table;
  return { ...context, served };
}

const FIELD = "id-layout";

/** The layout that the request says its ID has, for texts that several layouts can read. An error lists none that public entities alone have. */
export function layoutHint({ request, served }: TableRequestContext): Result<LayoutHint | undefined, UnknownLayout> {
  const name = request.headers.get(FIELD) ?? undefined;
  const hint = hintNamed(served.table, name);
  return hint.ok ? hint : hintNamed(withoutPublic(served.table), name);
}

/** One page for each reading of a text, and for each of the IDs that are minted at once. */
const PAGES_MAX = 64;

/**
 * Decides again when the page is there that the decision was lacking, and so on. What cannot be had within the deadline is
 * the answer: `table-unavailable`, never a guess.
 */
export async function withPages<Value>(
  { gateway, served }: { readonly gateway: Gateway; readonly served: { readonly table: CompiledTable } },
  first: Result<Value, GatewayError>,
  decide: () => Result<Value, GatewayError>,
): Promise<Result<Value, GatewayError>> {
  let decided = first;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const missing = missingIn(decided);
    if (missing === undefined) break;
    const loaded = await gateway.packs.load(served.table, missing);
    if (!loaded.ok) return loaded;
    decided = decide();
  }
  return decided;
}

/** What the decision lacks; `undefined` where it is one. Cheap, since every request asks. */
export function missingIn(decided: Result<unknown, GatewayError>): MissingPage | undefined {
  return !decided.ok && "missing" in decided.error ? decided.error.missing : undefined;
}
