import { createApp } from "../routes/app.ts";
import bundledTable from "../routing-table.json" with { type: "json" };
import { controlPlane, deploymentName } from "./control-plane/client.ts";
import { clientClaims, mintDoor } from "./edge/auth/access.ts";
import { authenticator } from "./edge/auth/authenticate.ts";
import { readConfig } from "./edge/config.ts";
import { edgeConsole } from "./edge/console/console.ts";
import type { ControlPlaneRpc, Env } from "./edge/env.ts";
import * as log from "./edge/log.ts";
import { isolateMetrics } from "./edge/metrics/isolate-metrics.ts";
import { tableReporter } from "./edge/metrics/isolates.ts";
import { durableMetrics, type MetricsRpc, scheduleChecks } from "./edge/metrics/store.ts";
import { edgeMovedMemory } from "./edge/origins/moved-memory.ts";
import { hmacSigner } from "./edge/origins/signer.ts";
import {
  bindingWatch,
  clientReader,
  originFetch,
  pooledEntropy,
  runningHash,
  systemClock,
  systemPause,
} from "./edge/platform.ts";
import { rateLimits } from "./edge/rate-limits.ts";
import { edgeTables } from "./edge/table/isolate-table.ts";
import { thinObject, type Wakes } from "./edge/thin-object.ts";
import { behindProxies } from "./edge/trusted-proxies.ts";
import { copyStore, edgeCopies } from "./features/directory/edge/copies.ts";
import { type DirectoryRpc, durableDirectory } from "./features/directory/edge/keys.ts";
import { edgeDirectory } from "./features/directory/edge/lookup.ts";
import { durableIdempotency, type IdempotencyRpc } from "./features/idempotency/edge/keys.ts";
import { isolateMinters } from "./features/mint/edge/minters.ts";
import { durableSequences, type SequenceRpc } from "./features/mint/edge/sequences.ts";
import { edgePacks } from "./features/packs/edge/packs.ts";
import { keyedPublicIds } from "./features/public-ids/edge.ts";
import { isolateShadows } from "./features/shadow/serve.ts";
import { problemResponse } from "./gateway/problem-response.ts";
import { fieldRules } from "./proxy/headers.ts";
import { pseudonymOf } from "./proxy/origin-request.ts";
import { retryBudget } from "./proxy/origins.ts";

/** Defined by a build that has checked the bundled table: the digest of its text. */
declare const CHECKED_DIGEST: string;
const checkedDigest = typeof CHECKED_DIGEST === "undefined" ? undefined : CHECKED_DIGEST;

/** The implementations are loaded with the first object of each. */
export class SequenceBlocks extends thinObject<SequenceRpc>(
  "sequence-object",
  async () => {
    const module = await import("./features/mint/edge/object.ts");
    return (context, env) => new module.SequenceBlocks(context, env);
  },
  { reserve: true },
) {}

export class IdempotencyKeys extends thinObject<IdempotencyRpc & Wakes>(
  "idempotency-object",
  async () => {
    const module = await import("./features/idempotency/edge/object.ts");
    return (context, env) => new module.IdempotencyKeys(context, env);
  },
  { begin: true, finish: true, show: true, alarm: true },
) {}

export class DirectoryKeys extends thinObject<DirectoryRpc & Wakes>(
  "directory-object",
  async () => {
    const module = await import("./features/directory/edge/object.ts");
    return (context, env) => new module.DirectoryKeys(context, env);
  },
  {
    get: true,
    reserve: true,
    confirm: true,
    release: true,
    register: true,
    move: true,
    remove: true,
    reportMissing: true,
    learn: true,
    orphans: true,
    scan: true,
    count: true,
    noteChange: true,
    changesSince: true,
    putMany: true,
    alarm: true,
  },
) {}

/** Its checks have the same last resort as requests. */
export class TrafficReports extends thinObject<MetricsRpc & Wakes>(
  "traffic-object",
  async () => {
    const module = await import("./edge/metrics/object.ts");
    return (context, env) => new module.TrafficReports(context, env, { bundled: bundledTable, checkedDigest });
  },
  { report: true, totals: true, history: true, scheduleChecks: true, alarm: true },
) {}

/** Revision 0 is the table of the build. */
export class TableTruth extends thinObject<ControlPlaneRpc & Wakes>(
  "control-plane-object",
  async () => {
    const module = await import("./control-plane/object.ts");
    return (context, env) => new module.ControlPlane(context, env, { bundled: bundledTable });
  },
  {
    text: true,
    revisions: true,
    audit: true,
    status: true,
    packFaults: true,
    publish: true,
    rollback: true,
    startCanary: true,
    promote: true,
    abort: true,
    recordRejection: true,
    packStatus: true,
    putPackPart: true,
    alarm: true,
  },
) {}

/** The composition root: what the platform gives, put behind ports and handed to the routes. Once per isolate. */
function compose(env: Env) {
  const config = readConfig(env);
  if (config.faults.length > 0) log.reportInvalidSettings(config.faults);
  const clock = systemClock;
  const namespace = deploymentName(env.TABLE_TRUTH);
  const entropy = pooledEntropy();
  const published = { kv: env.TABLE_KV, namespace, clock, entropy };
  const metrics = isolateMetrics({
    store: config.reportMs === 0 ? undefined : durableMetrics(env.TRAFFIC),
    reportMs: config.reportMs,
    table: tableReporter(entropy, clock, config.reportMs, () => tables),
    clock,
    pause: systemPause,
    onBreaker: log.reportBreaker,
    onReportFailure: log.reportMetricsFailure,
  });
  const sequences = durableSequences(env.SEQUENCES, {
    onUse(use) {
      metrics.counters.count("sequence_blocks", use.name, String(use.percent));
      if (use.isFirst) log.reportSequenceUse(use);
    },
  });
  const packs = edgePacks({
    ...published,
    retryMsMax: config.tableRefreshMs,
    report: log.reportPackFailure,
  });
  const tables = edgeTables({
    ...published,
    bundled: bundledTable,
    checkedDigest,
    refreshMs: config.tableRefreshMs,
    report: log.reportLoadFailure,
    packs,
    onServed: bindingWatch(env, log.reportMissingBindings),
  });
  const directoryTruth = durableDirectory(env.DIRECTORY, log.reportDirectoryFailure);
  const directory = edgeDirectory({
    truth: directoryTruth,
    copies: edgeCopies({
      truth: directoryTruth,
      ...published,
      retryMsMax: config.tableRefreshMs,
      report: log.reportCopyFailure,
    }),
    clock,
    namespace,
    counters: metrics.counters,
    report: log.reportDirectoryComparison,
  });
  const peerOf = clientReader(config.clientAddress);
  const clientOf = config.trustedProxies === undefined ? peerOf : behindProxies(peerOf, config.trustedProxies);
  const keyOptions = {
    clock,
    fetch: (target: string | Request, init?: RequestInit) => fetch(target, init),
    reportKeyFailure: log.reportKeyFailure,
  };
  const consolePort = edgeConsole({
    host: config.consoleHost,
    preview: config.consolePreview,
    tokens: config.auth.tokens,
    clock,
    files: env.CONSOLE,
  });
  const authenticate = authenticator({
    ...keyOptions,
    subtle: crypto.subtle,
    sessions: consolePort,
    settings: config.auth,
    reportRefused: log.reportRefusedCredentials,
  });
  const logLine = config.requestLog === "json" ? log.writeRequestLine : undefined;
  const writePoint = env.ANALYTICS && log.analyticsWriter(env.ANALYTICS);
  return createApp({
    clock,
    pause: systemPause,
    entropy,
    tables,
    controlPlane: controlPlane(env.TABLE_TRUTH, log.reportLostRejection),
    packs,
    minters: isolateMinters({ clock, entropy, sequences, primaryKeys: config.primaryKeys }),
    subtle: crypto.subtle,
    hashOf: runningHash,
    cursorKeys: [...config.signingKeys, ...config.publicKeys.sealed].map(({ key }) => key),
    idempotency: durableIdempotency(env.IDEMPOTENCY),
    directory,
    directoryTruth,
    directoryCopies: copyStore(env.TABLE_KV, log.reportDirectoryFailure),
    publicIds: keyedPublicIds(config.publicKeys),
    fetch: originFetch(env),
    isOnEdge: config.isOnEdge,
    clientOf,
    deadlines: config.deadlines,
    earlyAnswers: config.earlyAnswers,
    originHealth: metrics.originHealth,
    counters: metrics.counters,
    metrics,
    retryBudget: retryBudget(),
    movedMemory: edgeMovedMemory(clock, namespace),
    shadows: isolateShadows({
      clock,
      count: (region, outcome) => metrics.counters.count("mirrored_reads", region, outcome),
      log: log.reportDifference,
    }),
    sign: hmacSigner(config.signingKeys, crypto.subtle, clock),
    mustSign: config.mustSign,
    invalidSettings: [...new Set(config.faults.map(({ setting }) => setting))],
    rateLimits: rateLimits(config.rateLimits, { clock, report: log.reportDefect }),
    authenticate,
    console: consolePort,
    mintDoor: mintDoor(config.mint, authenticate, keyOptions),
    clientClaims: clientClaims(config.clientJwt, keyOptions),
    fieldRules: fieldRules(config.fields),
    pseudonym: pseudonymOf(config.gatewayName),
    trustsForwarded: config.forwardedFields === "append",
    observe:
      logLine === undefined && writePoint === undefined
        ? metrics.observe
        : (line, waitUntil, decidedBy) => {
            metrics.observe(line, waitUntil, decidedBy);
            logLine?.(line);
            writePoint?.(line);
          },
    logDefect: log.reportDefect,
    logBrokenBody(entity, reason) {
      metrics.counters.count("broken_bodies", entity, reason);
      log.reportBrokenBody(entity, reason);
    },
  });
}

let app: ReturnType<typeof compose> | undefined;

export default {
  fetch(request, env, context) {
    try {
      app ??= compose(env);
    } catch (error) {
      // A missing binding is the operator's to read in the log; a client gets the same problem as for any defect.
      log.reportDefect(error);
      return problemResponse({ reason: "internal-error" });
    }
    return app.fetch(request, env, context);
  },
  async scheduled(_controller, env) {
    if (readConfig(env).reportMs > 0) await scheduleChecks(env.TRAFFIC);
  },
} satisfies ExportedHandler<Env>;
