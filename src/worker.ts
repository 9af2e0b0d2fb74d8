import { createApp } from "../routes/app.ts";
import { problemResponse } from "../routes/problem-response.ts";
import bundledTable from "../routing-table.json" with { type: "json" };
import { clientReader } from "./edge/client.ts";
import { systemClock } from "./edge/clock.ts";
import { readConfig } from "./edge/config.ts";
import { pooledEntropy } from "./edge/entropy.ts";
import type { Env } from "./edge/env.ts";
import { isolateMinters } from "./edge/minters.ts";
import { keyedPublicIds } from "./edge/public-ids.ts";
import { reportBrokenBody, reportDefect, reportLoadFailure, writeRequestLine } from "./edge/report.ts";
import { durableSequences } from "./edge/sequences.ts";
import { kvTables } from "./edge/tables.ts";
import { isolateBreakers } from "./proxy/isolate-breakers.ts";
import { retryBudget } from "./proxy/retry-budget.ts";

export { SequenceBlocks } from "./edge/sequence-blocks.ts";

/** The composition root: what the platform gives, put behind ports and handed to the routes. Once per isolate. */
function compose(env: Env) {
  const config = readConfig(env);
  const clock = systemClock;
  const entropy = pooledEntropy();
  return createApp({
    clock,
    entropy,
    tables: kvTables({
      kv: env.TABLE_KV,
      bundled: bundledTable,
      clock,
      refreshMs: config.tableRefreshMs,
      report: reportLoadFailure,
    }),
    minters: isolateMinters({ clock, entropy, sequences: durableSequences(env.SEQUENCES) }),
    publicIds: keyedPublicIds(config.publicKeys),
    fetch: (target, init) => fetch(target, init),
    isOnEdge: config.clientAddress === "cf-connecting-ip",
    clientOf: clientReader(config.clientAddress),
    deadlines: config.deadlines,
    originHealth: isolateBreakers(),
    retryBudget: retryBudget(),
    movedMemory: undefined,
    sign: undefined,
    trustsForwarded: config.forwardedFields === "append",
    observe: config.requestLog === "json" ? writeRequestLine : () => undefined,
    logDefect: reportDefect,
    logBrokenBody: reportBrokenBody,
  });
}

let app: ReturnType<typeof compose> | undefined;

export default {
  fetch(request, env, context) {
    try {
      app ??= compose(env);
    } catch (error) {
      // A wrong setting is the operator's to read in the log; a client gets the same problem as for any defect.
      reportDefect(error);
      return problemResponse({ reason: "internal-error" });
    }
    return app.fetch(request, env, context);
  },
} satisfies ExportedHandler<Env>;
