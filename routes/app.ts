import { FRONT_FEATURES } from "../src/features/serving.ts";
import type { FrontFeature } from "../src/gateway/front.ts";
import { serve, UNVERIFIED_HOP } from "../src/gateway/handle.ts";
import { problemResponse } from "../src/gateway/problem-response.ts";
import { hostError, RequestContext } from "../src/gateway/request.ts";
import type { Gateway } from "../src/ports/gateway.ts";
import { errorOf, loadable } from "../src/problems/loadable.ts";
import { HOP_FIELD } from "../src/proxy/headers.ts";
import { GATEWAY_PATH } from "../src/routing/lookup/paths.ts";
import type { createProbes } from "./health.ts";
import { holdEarlyAnswer } from "./lib/early-answer.ts";
import type { createPages } from "./pages.ts";

export interface App {
  fetch(request: Request, env: unknown, execution: ExecutionContext): Promise<Response>;
}

const pages = loadable("pages", () => import("./pages.ts"));
const probes = loadable("probes", () => import("./health.ts"));

const PROBE = /^\/-\/(?:health|ready)$/;

const FEATURES: readonly FrontFeature[] = FRONT_FEATURES;
const ANSWERS = FEATURES.flatMap(({ answer }) => answer ?? []);
const FINISHES = FEATURES.flatMap(({ finish }) => finish ?? []);

/** The whole HTTP surface: the gateway's own pages by Hono; every other path belongs to the entities of the table. */
export function createApp(gateway: Gateway): App {
  let own: ReturnType<typeof createPages> | undefined;
  let probed: ReturnType<typeof createProbes> | undefined;
  const [first] = FEATURES.flatMap((feature) => feature.first?.(gateway) ?? []);

  /** A path of the gateway's own. Nothing but the console's pages is at its host. */
  async function answerOwn(context: RequestContext, execution: ExecutionContext): Promise<Response> {
    context.watchClientIfSlow();
    if (context.request.headers.has(HOP_FIELD)) return context.fail(UNVERIFIED_HOP);
    const answer = context.isAtConsole ? undefined : answerOf(context);
    if (answer !== undefined) return answer;
    if (!context.isAtConsole && PROBE.test(context.path)) {
      probed ??= (await probes.load()).createProbes(gateway);
      return probed.fetch(context.request, { context }, execution);
    }
    own ??= (await pages.load()).createPages(gateway);
    return own.fetch(context.request, { context }, execution);
  }

  return {
    async fetch(request, _env, execution) {
      const context = new RequestContext(gateway, request, execution);
      let response: Response;
      let isOurs = false;
      try {
        const taken = first?.(context);
        const malformed = taken === undefined ? hostError(context) : undefined;
        if (taken !== undefined) response = await taken;
        else if (malformed !== undefined) response = context.fail(malformed);
        else if (context.isAtConsole || GATEWAY_PATH.test(context.path)) response = await answerOwn(context, execution);
        else response = await serve(context);
        isOurs = taken === undefined && (context.outcome !== "answered" || context.isMerged);
      } catch (error) {
        response = failedBy(error, context);
        isOurs = true;
      }
      if (isOurs && !context.isAtConsole) response = await finished(context, response);
      // The runtime adds none; an origin's answer keeps its own (RFC 9110 §6.6.1).
      if (context.outcome !== "answered" && response.status !== 101)
        response.headers.set("date", new Date(gateway.clock.nowMs()).toUTCString());
      context.log(response.status);
      return context.isBodyRead ? response : holdEarlyAnswer(context, response);
    },
  };
}

/** The last resort: an error that no step made a value of. */
function failedBy(error: unknown, context: RequestContext): Response {
  context.gateway.logDefect(error);
  const failure = errorOf(error);
  if (failure.reason === "module-unavailable") return context.fail(failure);
  context.outcome = failure.reason;
  return problemResponse(failure);
}

/** An answer without a step that fails, such as one that needs the table, is better than none. */
async function finished(context: RequestContext, response: Response): Promise<Response> {
  let answer = response;
  try {
    for (const finish of FINISHES) answer = await finish(context, answer);
  } catch (error) {
    context.gateway.logDefect(error);
  }
  return answer;
}

/** The answer of the first feature that takes the request. */
function answerOf(context: RequestContext): Promise<Response> | undefined {
  for (const answer of ANSWERS) {
    const own = answer(context);
    if (own !== undefined) return own;
  }
  return undefined;
}
