import { DurableObject } from "cloudflare:workers";
import { deploymentName } from "../../control-plane/deployment.ts";
import type { EventPage, EventQuery, HistorySpan, MetricsHistory, ProblemSamples } from "../../formats/console-api.ts";
import { ok } from "../../ids/result.ts";
import type { Entropy, ServedTable, Tables } from "../../ports/gateway.ts";
import { loadable } from "../../problems/loadable.ts";
import { pseudonymOf } from "../../proxy/origin-request.ts";
import { checkTargets, runChecks } from "../../proxy/origin-response.ts";
import { type Config, readConfig } from "../config.ts";
import type { Env } from "../env.ts";
import { type EventLog, openEventLog } from "../events/event-log.ts";
import { reportDefect, reportLoadFailure, writeEvent } from "../log.ts";
import { originFetch, pooledEntropy, setLast, systemClock } from "../platform.ts";
import { edgeTables } from "../table/isolate-table.ts";
import type { VouchedTables } from "../table/restored.ts";
import { SeriesTotals, seriesKey } from "./catalogue.ts";
import { type HistoryRow, TrafficHistory } from "./history.ts";
import { originsOf } from "./origin-states.ts";
import { KEPT_MS, RecentProblems } from "./problem-samples.ts";
import type { SampledRequest } from "./request-shares.ts";
import type { MetricsReport, MetricsRpc, MetricsTotals, OriginHint, OriginState } from "./store.ts";

/** A deployment without a collector needs none of it. */
const pushModule = loadable("metrics-push", () => import("./otlp/push.ts"));

/** The key of the time of the next push: an object that is idle starts over at each alarm. */
const PUSH_DUE = "pushDueMs";

/** The key of the last requests with a problem, before its slug. They are in no row: exports leave them out. */
const PROBLEM = "problem:";

/** Limit of series. A sum costs about 200 bytes of memory and a row on disk. */
const SERIES_MAX = 20_000;

/** Limit of isolates whose last report is known. */
const ISOLATES_HEARD_MAX = 10_000;

/** Limit of origins, and how long they are retained after their last update. */
const ORIGINS_MAX = 4_096;
const ORIGIN_MS = 86_400_000;

/**
 * How long reports may stay unwritten, and so be lost: writing a row costs money, and every report changes most series. The
 * platform forgets an object that is idle for 10 s: it must have written before.
 */
const SAVE_MS = 8_000;

/** Delays the first checks until after the first response. */
const FIRST_CHECKS_MS = 1_000;

/** How often a table without checks is read again, while there is traffic. */
const NO_CHECKS_MS = 60_000;

/** An alarm that is late by this much is lost: the storage was restored, or the platform stopped retrying. */
const ALARM_LOST_MS = 60_000;

/** Spreads the checks of deployments that started together: the share of the period. */
const JITTER = 0.2;

/** A former version of the gateway may read these after a rollback: only add columns and members. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS since (id INTEGER PRIMARY KEY CHECK (id = 0), ms INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS sums (key TEXT PRIMARY KEY, sum REAL NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS origins (url TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS history (span TEXT NOT NULL, at INTEGER NOT NULL, step TEXT NOT NULL, PRIMARY KEY (span, at)) WITHOUT ROWID;
`;

/** Sums up all isolates in memory and runs the active checks. Its alarm writes changes to disk and runs the checks that are due. */
export class TrafficReports extends DurableObject<Env> implements MetricsRpc {
  readonly #sql: SqlStorage;
  readonly #sinceMs: number;
  readonly #sums: SeriesTotals;
  readonly #origins: Map<string, OriginState>;
  readonly #history: TrafficHistory;
  readonly #problems: RecentProblems;
  readonly #changedSums = new Set<string>();
  readonly #changedOrigins = new Set<string>();
  readonly #config: Config;
  readonly #tables: Tables;
  readonly #entropy: Entropy = pooledEntropy();
  /** The last report of each isolate. In memory, as the sums that were not written are: both are lost together. */
  readonly #heard = new Map<string, number>();
  readonly #events: EventLog;
  #alarmAtMs: number | undefined;
  #checksDueMs: number;
  #hasChecks: boolean;
  #pushDueMs: number;
  #isPushFailing = false;

  constructor(context: DurableObjectState, env: Env, tables: VouchedTables) {
    super(context, env);
    this.#config = readConfig(env);
    const nowMs = systemClock.nowMs();
    const { sql } = context.storage;
    this.#sql = sql;
    sql.exec(SCHEMA);
    sql.exec("INSERT OR IGNORE INTO since (id, ms) VALUES (0, ?)", nowMs);
    this.#sinceMs = sql.exec<{ ms: number }>("SELECT ms FROM since").one().ms;
    this.#sums = new SeriesTotals(SERIES_MAX, sql.exec("SELECT key, sum FROM sums").raw<[string, number]>());
    const origins = sql.exec("SELECT url, state FROM origins").raw<[string, string]>();
    this.#origins = new Map(Array.from(origins, ([url, state]) => [url, JSON.parse(state)]));
    this.#history = new TrafficHistory(sql.exec<HistoryRow>("SELECT span, at, step FROM history"), {
      nowMs,
      sinceMs: this.#sinceMs,
      reports: this.#sums.get(REPORTS),
    });
    this.#problems = storedProblems(context.storage);
    this.#hasChecks = this.#config.checkMs > 0;
    this.#checksDueMs = this.#hasChecks ? nowMs + FIRST_CHECKS_MS : Number.POSITIVE_INFINITY;
    const isPushed = this.#config.metricsPush !== undefined;
    this.#pushDueMs = isPushed ? (context.storage.kv.get<number>(PUSH_DUE) ?? nowMs) : Number.POSITIVE_INFINITY;
    this.#tables = edgeTables({
      kv: env.TABLE_KV,
      namespace: deploymentName(env.TABLE_TRUTH),
      ...tables,
      clock: systemClock,
      entropy: this.#entropy,
      refreshMs: this.#config.tableRefreshMs,
      report: reportLoadFailure,
    });
    this.#events = openEventLog(context, env, this.#config, this.#entropy);
    void context.blockConcurrencyWhile(async () => {
      this.#alarmAtMs = (await context.storage.getAlarm()) ?? undefined;
      if (this.#hasChecks) this.#checksDueMs = this.#alarmAtMs ?? this.#checksDueMs;
    });
  }

  async report({ from, ...report }: MetricsReport): Promise<readonly OriginHint[]> {
    const isNew = from === undefined || from.number > (this.#heard.get(from.isolate) ?? 0);
    if (isNew && from !== undefined) setLast(this.#heard, from.isolate, from.number, ISOLATES_HEARD_MAX);
    if (isNew) await this.#add(report);
    return [...this.#origins].flatMap(([url, state]) => hintOf(url, state) ?? []);
  }

  async #add({ sums, origins, problems, ...figures }: MetricsReport): Promise<void> {
    const nowMs = systemClock.nowMs();
    for (const [key, by] of sums) this.#changedSums.add(this.#sums.add(key, by));
    this.#changedSums.add(this.#sums.add(REPORTS, 1));
    this.#history.add(sums, nowMs, figures);
    if (problems !== undefined && this.#config.keepsSamples) this.#problems.add(problems, nowMs);
    for (const { url, ...update } of origins) this.#update(url, { ...update, heardAtMs: nowMs });
    this.#events.noteLife();
    if (origins.length > 0) this.#judgeSafely();
    await this.#wakeBy(Math.min(nowMs + SAVE_MS, this.#checksDueMs));
  }

  /** Writes them before they are shown, so a shown counter never decreases. */
  async totals(): Promise<MetricsTotals> {
    this.#save();
    const recent = this.#history.recent(systemClock.nowMs());
    this.#judgeSafely();
    const states = this.#events.shown();
    return { sinceMs: this.#sinceMs, sums: new Map(this.#sums), origins: this.#origins, recent, states };
  }

  async history(span: HistorySpan, from?: number): Promise<MetricsHistory> {
    const times = { nowMs: systemClock.nowMs(), sinceMs: this.#sinceMs };
    const history = this.#history.read(span, from === undefined ? times : { ...times, from });
    const { newest } = this.#events;
    return newest === undefined ? history : { ...history, lastEvent: newest };
  }

  /** The log is kept up while a page reads it. */
  async events(query: EventQuery): Promise<EventPage> {
    this.#events.noteLife();
    await this.#wakeIfDue(this.#events.dueMs());
    return this.#events.page(query);
  }

  async noteNews(): Promise<void> {
    if (this.#config.reportMs === 0) return;
    this.#events.noteNews();
    await this.#wakeBy(this.#events.dueMs());
  }

  async problem(slug: string): Promise<ProblemSamples> {
    const { keepsSamples } = this.#config;
    const samples = keepsSamples ? this.#problems.read(slug, systemClock.nowMs()) : [];
    return { source: keepsSamples ? "all" : "off", slug, keptSeconds: KEPT_MS / 1000, samples };
  }

  async scheduleChecks(): Promise<void> {
    await this.#wakeIfDue(Math.min(this.#checksDueMs, this.#events.dueMs()));
  }

  override async alarm(): Promise<void> {
    this.#alarmAtMs = undefined;
    const startedMs = systemClock.nowMs();
    this.#save();
    const { metricsPush } = this.#config;
    const push = metricsPush && startedMs >= this.#pushDueMs ? this.#push(metricsPush, startedMs) : undefined;
    if (startedMs >= this.#checksDueMs) {
      await this.#check();
      this.#checksDueMs = this.#hasChecks ? this.#after(startedMs, this.#config.checkMs) : startedMs + NO_CHECKS_MS;
    }
    await this.#runEvents().catch(reportDefect);
    await push;
    const checksDueMs = this.#hasChecks ? this.#checksDueMs : Number.POSITIVE_INFINITY;
    await this.#wakeIfDue(Math.min(checksDueMs, this.#pushDueMs, this.#problems.dueMs, this.#events.dueMs()));
  }

  /** A delivery takes as long as its receiver does: checks do not wait for it. */
  async #runEvents(): Promise<void> {
    if (this.#served() === undefined && this.#events.isLively()) await this.#tables.load();
    this.#judge();
    await this.#events.run((round) => {
      const next = round.catch(reportDefect).then(() => this.#wakeIfDue(this.#events.dueMs()));
      this.ctx.waitUntil(next);
    });
  }

  #served(): ServedTable | undefined {
    return this.#tables.peek((work) => this.ctx.waitUntil(work));
  }

  /** A fault of the log must cost no report and no page. */
  #judgeSafely(): void {
    try {
      this.#judge();
    } catch (error) {
      reportDefect(error);
    }
  }

  /** States of regions, for the log. */
  #judge(): void {
    const nowMs = systemClock.nowMs();
    if (!this.#events.mayJudge()) return;
    const served = this.#served();
    if (served !== undefined) this.#events.noteTable(`${served.label} ${served.canary?.label}`);
    this.#events.judge(
      served && {
        origins: originsOf(served, (url) => this.#origins.get(url), nowMs),
        recent: this.#history.recent(nowMs),
        // While KV is slow, a cold object has that of the build.
        isCertain: served.source !== "bundled",
      },
    );
  }

  async #wakeIfDue(dueMs: number): Promise<void> {
    if (dueMs < Number.POSITIVE_INFINITY) await this.#wakeBy(dueMs);
  }

  /** In whole ms, as alarms are: one that comes a part of a ms early would set the time that it has, and be the last. */
  #after(fromMs: number, periodMs: number): number {
    return Math.ceil(fromMs + periodMs * (1 + JITTER * (this.#entropy.word() / 2 ** 32 - 0.5)));
  }

  /** Sends the collector what `/-/metrics` shows. No request waits for it, and no failure goes further. */
  async #push(push: NonNullable<Config["metricsPush"]>, startedMs: number): Promise<void> {
    const inMemory = this.#tables.peek((work) => this.ctx.waitUntil(work));
    const loaded = inMemory === undefined ? await this.#tables.load() : ok(inMemory);
    const outcome = await pushModule
      .load()
      .then(({ pushFigures }) =>
        pushFigures({
          figures: {
            totals: { sinceMs: this.#sinceMs, sums: new Map(this.#sums), origins: this.#origins },
            served: loaded.ok ? loaded.value : undefined,
            nowMs: systemClock.nowMs(),
          },
          collector: {
            url: push.OTLP_METRICS_URL ?? "",
            headers: push.OTLP_METRICS_HEADERS,
            resource: push.OTEL_RESOURCE_ATTRIBUTES,
          },
          instance: this.#config.gatewayName,
          fetch: originFetch(this.env),
          clock: systemClock,
        }),
      )
      .catch((error: unknown) => ({ outcome: "unavailable", why: String(error), afterMs: 0 }) as const);
    this.#changedSums.add(this.#sums.add(seriesKey("otlp_pushes_total", outcome.outcome), 1));
    // Once, until it takes them again.
    if (outcome.why !== undefined && !this.#isPushFailing) writeEvent("metrics-push-failed", { why: outcome.why });
    this.#isPushFailing = outcome.why !== undefined;
    const afterMs = outcome.outcome === "unavailable" ? outcome.afterMs : 0;
    this.#pushDueMs = Math.max(
      this.#after(startedMs, push.OTLP_METRICS_SECONDS * 1000),
      Math.ceil(startedMs + afterMs),
    );
    this.ctx.storage.kv.put(PUSH_DUE, this.#pushDueMs);
  }

  /** The newest observation wins, whatever its source and the order of arrival. */
  #update(url: string, { heardAtMs, answeredAtMs = 0, fault, breaker, checks }: OriginState): void {
    const state = this.#origins.get(url);
    // Map order: the last updated origin is last.
    this.#origins.delete(url);
    this.#origins.set(url, {
      ...state,
      heardAtMs,
      answeredAtMs: Math.max(state?.answeredAtMs ?? 0, answeredAtMs) || undefined,
      fault: later(state?.fault, fault),
      breaker: later(state?.breaker, breaker),
      checks: checks ? { ...state?.checks, ...checks } : state?.checks,
    });
    this.#changedOrigins.add(url);
  }

  #save(): void {
    const nowMs = systemClock.nowMs();
    for (const [url, { heardAtMs }] of this.#origins) {
      if (this.#origins.size <= ORIGINS_MAX && nowMs - heardAtMs < ORIGIN_MS) continue;
      this.#origins.delete(url);
      this.#changedOrigins.delete(url);
      this.#sql.exec("DELETE FROM origins WHERE url = ?", url);
    }
    for (const key of this.#changedSums)
      this.#sql.exec("INSERT OR REPLACE INTO sums (key, sum) VALUES (?, ?)", key, this.#sums.get(key));
    for (const url of this.#changedOrigins) {
      const state = JSON.stringify(this.#origins.get(url));
      this.#sql.exec("INSERT OR REPLACE INTO origins (url, state) VALUES (?, ?)", url, state);
    }
    this.#saveHistory(nowMs);
    this.#saveProblems(nowMs);
    this.#changedSums.clear();
    this.#changedOrigins.clear();
  }

  /** One row a span, in which the reports of its step are counted together. */
  #saveHistory(nowMs: number): void {
    const { rows, keptFrom } = this.#history.takeChanges(nowMs, this.#sums.get(REPORTS));
    for (const { span, at, step } of rows)
      this.#sql.exec("INSERT OR REPLACE INTO history (span, at, step) VALUES (?, ?, ?)", span, at, step);
    if (rows.length === 0) return;
    for (const [span, from] of Object.entries(keptFrom))
      this.#sql.exec("DELETE FROM history WHERE span = ? AND at < ?", span, from);
  }

  #saveProblems(nowMs: number): void {
    if (!this.#config.keepsSamples) this.#problems.forgetAll();
    const { kv } = this.ctx.storage;
    for (const [slug, requests] of this.#problems.takeChanges(nowMs)) {
      if (requests === undefined) kv.delete(PROBLEM + slug);
      else kv.put(PROBLEM + slug, requests);
    }
  }

  async #check(): Promise<void> {
    const inMemory = this.#tables.peek((work) => this.ctx.waitUntil(work));
    const served = inMemory ? ok(inMemory) : await this.#tables.load();
    const targets = served.ok ? checkTargets(served.value.table) : [];
    // A cold object may get no table, or the bundled one, while KV is slow: the next alarm finds what came after.
    const isFound = inMemory !== undefined || (served.ok && served.value.source !== "bundled");
    this.#hasChecks = targets.length > 0 || !isFound;
    const { isOnEdge, gatewayName } = this.#config;
    const pseudonym = pseudonymOf(gatewayName);
    const deps = { fetch: originFetch(this.env), clock: systemClock, isOnEdge, pseudonym };
    await runChecks(targets, deps, ({ url, path, check }) => {
      // Any response shows that the origin is reachable, even an unhealthy one.
      const answeredAtMs = check.fault === undefined ? check.atMs : undefined;
      this.#update(url, { heardAtMs: check.atMs, answeredAtMs, checks: { [path]: check } });
    });
    this.#save();
  }

  async #wakeBy(atMs: number): Promise<void> {
    const nowMs = systemClock.nowMs();
    if (this.#alarmAtMs !== undefined && this.#alarmAtMs <= atMs && this.#alarmAtMs > nowMs - ALARM_LOST_MS) return;
    this.#alarmAtMs = atMs;
    await this.ctx.storage.setAlarm(atMs);
  }
}

const REPORTS = seriesKey("reports_total");

const storedProblems = ({ kv }: DurableObjectStorage) =>
  new RecentProblems(
    Array.from(kv.list<readonly SampledRequest[]>({ prefix: PROBLEM }), ([key, requests]) => [
      key.slice(PROBLEM.length),
      requests,
    ]),
  );
const later = <Event extends { readonly atMs: number }>(one: Event | undefined, other: Event | undefined) =>
  one === undefined || (other !== undefined && other.atMs >= one.atMs) ? other : one;

/** Whether other isolates should probe the origin first. */
function hintOf(url: string, { breaker, checks = {}, answeredAtMs = 0 }: OriginState): OriginHint | undefined {
  const failedChecks = Object.values(checks).filter(({ fault }) => fault !== undefined);
  const openedAtMs = breaker !== undefined && breaker.untilMs > 0 ? breaker.atMs : 0;
  const seenAtMs = Math.max(openedAtMs, ...failedChecks.map(({ atMs }) => atMs));
  return seenAtMs > answeredAtMs ? { url, seenAtMs } : undefined;
}
