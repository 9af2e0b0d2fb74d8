import { createApp } from "../../routes/app.ts";
import { beginCalls, deploymentName, formRequests } from "../control-plane/deployment.ts";
import { clientClaims } from "../edge/auth/access.ts";
import { authenticator } from "../edge/auth/authenticate.ts";
import { readConfig } from "../edge/config.ts";
import { edgeConsole } from "../edge/console/console.ts";
import type { Env } from "../edge/env.ts";
import { composeFeatures } from "../edge/feature.ts";
import * as log from "../edge/log.ts";
import { overStateNodes } from "../edge/machines/namespaces.ts";
import { isolateMetrics } from "../edge/metrics/isolate-metrics.ts";
import { tableReporter } from "../edge/metrics/isolates.ts";
import { durableMetrics, scheduleChecks } from "../edge/metrics/store.ts";
import { edgeMovedMemory } from "../edge/origins/moved-memory.ts";
import { hmacSigner } from "../edge/origins/signer.ts";
import {
  bindingWatch,
  clientReader,
  originFetch,
  pooledEntropy,
  runningHash,
  spanMaker,
  systemClock,
  systemPause,
} from "../edge/platform.ts";
import { rateLimits } from "../edge/rate-limits.ts";
import { edgeTables } from "../edge/table/isolate-table.ts";
import { startedTables } from "../edge/table/started-tables.ts";
import { tellFromNowOn } from "../edge/table/told-tables.ts";
import { behindProxies } from "../edge/trusted-proxies.ts";
import { PLATFORM_FEATURES } from "../features/platform.ts";
import { problemResponse } from "../gateway/problem-response.ts";
import { methodsOf } from "../problems/loadable.ts";
import { fieldRules } from "../proxy/headers.ts";
import { pseudonymOf } from "../proxy/origin-request.ts";
import { retryBudget } from "../proxy/origins.ts";
import { deployTable, vouchedTables } from "./table.ts";

/** `waybill/worker`: the gateway as a library, to which a Worker gives its table. */

/** Keys that verify tokens, fetched from those who sign them. */
const TOKEN_KEYS = {
  clock: systemClock,
  fetch: (target: string | Request, init?: RequestInit) => fetch(target, init),
  reportKeyFailure: log.reportKeyFailure,
};

type Config = ReturnType<typeof readConfig>;

/** Identity of a client: its address, and the credentials of its request. */
function composeAccess(env: Env, config: Config) {
  const peerOf = clientReader(config.clientAddress);
  const consolePort = edgeConsole({
    host: config.consoleHost,
    preview: config.consolePreview,
    environment: config.environment,
    tokens: config.auth.tokens,
    clock: systemClock,
    files: env.CONSOLE,
  });
  return {
    clientOf: config.trustedProxies === undefined ? peerOf : behindProxies(peerOf, config.trustedProxies),
    console: consolePort,
    authenticate: authenticator({
      ...TOKEN_KEYS,
      subtle: crypto.subtle,
      sessions: consolePort,
      settings: config.auth,
      reportRefused: log.reportRefusedCredentials,
    }),
    clientClaims: clientClaims(config.clientJwt, TOKEN_KEYS),
  };
}

/** Calls of origins: limits, signatures, and the fields that they get. */
function composeOrigins(env: Env, config: Config, namespace: string) {
  return {
    fetch: originFetch(env),
    deadlines: config.deadlines,
    retryBudget: retryBudget(),
    movedMemory: edgeMovedMemory(systemClock, namespace),
    sign: hmacSigner(config.signingKeys, crypto.subtle, systemClock),
    mustSign: config.mustSign,
    fieldRules: fieldRules(config.fields),
    pseudonym: pseudonymOf(config.gatewayName),
    trustsForwarded: config.forwardedFields === "append",
  };
}

type TablesOf = Parameters<typeof tableReporter>[3];
type IsolateMetrics = ReturnType<typeof isolateMetrics>;

function composeMetrics(env: Env, config: Config, entropy: ReturnType<typeof pooledEntropy>, tables: TablesOf) {
  const { reportMs } = config;
  return isolateMetrics({
    store: reportMs === 0 ? undefined : durableMetrics(env.TRAFFIC),
    reportMs,
    keepsSamples: config.keepsSamples,
    table: tableReporter(entropy, systemClock, reportMs, tables),
    clock: systemClock,
    entropy,
    pause: systemPause,
    onBreaker: log.reportBreaker,
    onReportFailure: log.reportMetricsFailure,
  });
}

/** Metrics, and the log of the same requests. */
function composeObservation(env: Env, config: Config, metrics: IsolateMetrics) {
  const logLine = config.requestLog === "json" ? log.writeRequestLine : undefined;
  const writePoint = env.ANALYTICS && log.analyticsWriter(env.ANALYTICS);
  const observeAll: IsolateMetrics["observe"] = (line, waitUntil, decidedBy) => {
    metrics.observe(line, waitUntil, decidedBy);
    logLine?.(line);
    writePoint?.(line);
  };
  return {
    metrics,
    counters: metrics.counters,
    originHealth: metrics.originHealth,
    observe: logLine === undefined && writePoint === undefined ? metrics.observe : observeAll,
    logDefect: log.reportDefect,
    logBrokenBody(entity: string, reason: string) {
      metrics.counters.count("broken_bodies", entity, reason);
      log.reportBrokenBody(entity, reason);
    },
  };
}

/** The isolate's tables as requests see them, and the control plane that changes them. */
function composeTables(env: Env, own: ReturnType<typeof edgeTables>) {
  tellFromNowOn(own);
  const start = { begin: beginCalls(env.TABLE_TRUTH), reportFailure: log.reportStartFailure };
  const tables = env.START_TABLE === undefined ? own : startedTables(own, start);
  // Pages of operators alone call it.
  const controlPlane = methodsOf("control-plane-calls", async () => {
    const [calls, { awaitedHere }] = await Promise.all([
      import("../control-plane/client.ts"),
      import("../edge/table/awaited-tables.ts"),
    ]);
    const truth = calls.controlPlane(env.TABLE_TRUTH, log.reportLostRejection);
    return { ...truth, ...awaitedHere(truth, { tables, clock: systemClock, pause: systemPause, env }) };
  });
  const moving = async () => (await import("../edge/moving/calls.ts")).movingCalls(env);
  const machines = methodsOf("machines", async () =>
    (await import("../edge/machines/seen.ts")).seenMachines(env, systemClock.nowMs),
  );
  return { tables, controlPlane, moving, machines: env.STATE_1 || env.NODE_VERSION ? machines : undefined };
}

/** An edge calls the objects of state nodes. */
const stateNodes = (env: Env) =>
  methodsOf("state-calls", async () => {
    const [{ edgeCalls }, exported] = await Promise.all([import("../edge/machines/calls.ts"), import("./objects.ts")]);
    return edgeCalls(env, exported);
  });

/** The composition root: what the platform gives, put behind ports and handed to the routes. Once per isolate. */
function compose(env: Env) {
  const config = readConfig(env);
  if (config.faults.length > 0) log.reportInvalidSettings(config.faults);
  const clock = systemClock;
  const namespace = deploymentName(env.TABLE_TRUTH);
  const entropy = pooledEntropy();
  const metrics = composeMetrics(env, config, entropy, () => tables);
  const access = composeAccess(env, config);
  const { authenticate } = access;
  const { counters } = metrics;
  const platform = { env, config, clock, entropy, namespace, authenticate, counters, tokenKeys: TOKEN_KEYS };
  const features = composeFeatures(PLATFORM_FEATURES, platform);
  const tables = edgeTables({
    kv: env.TABLE_KV,
    namespace,
    clock,
    entropy,
    ...vouchedTables(env, config),
    requestForm: formRequests(env.TABLE_TRUTH, systemPause),
    refreshMs: config.tableRefreshMs,
    report: log.reportLoadFailure,
    openers: features.openers,
    onServed: bindingWatch(env, log.reportMissingBindings),
  });
  return createApp({
    ...features.ports,
    ...access,
    ...composeOrigins(env, config, namespace),
    ...composeObservation(env, config, metrics),
    ...composeTables(env, tables),
    clock,
    pause: systemPause,
    entropy,
    subtle: crypto.subtle,
    hashOf: runningHash,
    isOnEdge: config.isOnEdge,
    beginSpan: config.traceShare === undefined ? undefined : spanMaker(config.traceShare, entropy),
    earlyAnswers: config.earlyAnswers,
    invalidSettings: [...new Set(config.faults.map(({ setting }) => setting))],
    rateLimits: rateLimits(config.rateLimits, { clock, report: log.reportDefect }),
  });
}

/**
 * The handler of a Worker whose fallback, and first table of an empty state, is `table`: the declared table, or its JSON text.
 * `voucher`: the build's word for it.
 */
export function gateway(table: object | string, voucher?: Parameters<typeof deployTable>[1]) {
  deployTable(table, voucher);
  let app: ReturnType<typeof compose> | undefined;
  return {
    fetch(request, env, context) {
      try {
        app ??= compose(env.STATE_1 === undefined ? env : overStateNodes(env, stateNodes(env)));
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
}
