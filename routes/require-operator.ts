import type { Context, MiddlewareHandler } from "hono";
import type { Gateway } from "../src/ports.ts";
import type { RequestError } from "../src/problems/index.ts";
import type { TableAction } from "../src/table-ports.ts";
import { logFields } from "./request-log.ts";
import { callerIfKnown, requireScope } from "./require-scope.ts";

/** How a wish can end before the history hears of it; how it ends there, the history writes down itself. */
const REFUSED_HERE = [
  "forbidden",
  "precondition-required",
  "malformed-request",
  "body-too-large",
] as const satisfies readonly RequestError["reason"][];

/**
 * Lets in operators, for a change of the table, and has the audit tell of every known caller who was refused here, beside
 * the answer. Whom nobody knows is in the log and in the counters: a stranger could fill an audit that he stood in.
 * `packOf`: the digest of the pack that a request is about.
 */
export function requireOperator(
  gateway: Gateway,
  action: TableAction,
  packOf: (c: Context) => string | undefined = () => undefined,
): MiddlewareHandler {
  const guard = requireScope(gateway, "operator");
  return async (c, next) => {
    const answer = await guard(c, next);
    const author = callerIfKnown(c)?.name;
    const outcome = REFUSED_HERE.find((reason) => reason === logFields(c).outcome);
    if (author !== undefined && outcome !== undefined) {
      const pack = packOf(c);
      const refused = { author, action, outcome, ...(pack === undefined ? {} : { pack }) };
      c.executionCtx.waitUntil(gateway.tableHistory.recordRejection(refused));
    }
    return answer;
  };
}
