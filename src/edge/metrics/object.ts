import { DurableObject } from "cloudflare:workers";
import type { Entropy, Tables } from "../../ports.ts";
import { type Config, readConfig } from "../config.ts";
import { deploymentName } from "../control-plane/client.ts";
import type { Env } from "../env.ts";
import { reportLoadFailure } from "../log.ts";
import { checkTargets, runChecks } from "../origins/active-checks.ts";
import { originFetch } from "../origins/fetch.ts";
import { pooledEntropy, systemClock } from "../platform.ts";
import { edgeTables } from "../table/isolate-table.ts";
import { MetricsAggregate } from "./aggregate.ts";
import type { MetricsReport, MetricsRpc, MetricsTotals, OriginHint } from "./store.ts";

/** How long reports may stay unwritten: writing a row costs money, and every report changes most series. */
const SAVE_MS = 10_000;

/** Delays the first checks until after the first response. */
const FIRST_CHECKS_MS = 1_000;

/** How often a table without checks is read again, while there is traffic. */
const NO_CHECKS_MS = 60_000;

/** An alarm that is late by this much is lost: the storage was restored, or the platform stopped retrying. */
const ALARM_LOST_MS = 60_000;

/** Spreads the checks of deployments that started together: the share of the period. */
const JITTER = 0.2;

/**
 * Aggregates the counters and origin states of all isolates, and runs the active checks. One object for a deployment. Its alarm
 * writes changes to disk and runs the checks that are due.
 */
export class TrafficReports extends DurableObject<Env> implements MetricsRpc {
  readonly #book: MetricsAggregate;
  readonly #config: Config;
  readonly #tables: Tables;
  readonly #entropy: Entropy = pooledEntropy();
  #alarmAtMs: number | undefined;
  #checksDueMs: number;
  /** Whether the last read table has checks. */
  #hasChecks = true;

  /** `bundled`: the table that was deployed with the code. */
  constructor(context: DurableObjectState, env: Env, bundled: unknown) {
    super(context, env);
    this.#config = readConfig(env);
    const nowMs = systemClock.nowMs();
    this.#book = new MetricsAggregate(context.storage.sql, nowMs);
    this.#checksDueMs = nowMs + FIRST_CHECKS_MS;
    this.#tables = edgeTables({
      kv: env.TABLE_KV,
      namespace: deploymentName(env.TABLE_TRUTH),
      bundled,
      clock: systemClock,
      entropy: this.#entropy,
      refreshMs: this.#config.tableRefreshMs,
      report: reportLoadFailure,
    });
    void context.blockConcurrencyWhile(async () => {
      this.#alarmAtMs = (await context.storage.getAlarm()) ?? undefined;
      this.#checksDueMs = this.#alarmAtMs ?? this.#checksDueMs;
    });
  }

  async report(report: MetricsReport): Promise<readonly OriginHint[]> {
    const nowMs = systemClock.nowMs();
    this.#book.enter(report, nowMs);
    await this.#wakeBy(Math.min(nowMs + SAVE_MS, this.#checksDueMs));
    return this.#book.hints();
  }

  async totals(): Promise<MetricsTotals> {
    return this.#book.totals(systemClock.nowMs());
  }

  async scheduleChecks(): Promise<void> {
    await this.#wakeBy(this.#checksDueMs);
  }

  override async alarm(): Promise<void> {
    this.#alarmAtMs = undefined;
    const startedMs = systemClock.nowMs();
    this.#book.save(startedMs);
    if (startedMs >= this.#checksDueMs) {
      await this.#check();
      this.#checksDueMs = startedMs + (this.#hasChecks ? this.#periodMs() : NO_CHECKS_MS);
    }
    if (this.#hasChecks) await this.#wakeBy(this.#checksDueMs);
  }

  #periodMs(): number {
    const chance = this.#entropy.word() / 2 ** 32;
    return this.#config.checkMs * (1 + JITTER * (chance - 0.5));
  }

  /** Checks every origin for which the current table asks it. */
  async #check(): Promise<void> {
    const inMemory = this.#tables.peek((work) => this.ctx.waitUntil(work));
    const served = inMemory ?? (await this.#loaded());
    const targets = served === undefined ? [] : checkTargets(served.table);
    this.#hasChecks = targets.length > 0;
    const isOnEdge = this.#config.clientAddress === "cf-connecting-ip";
    const deps = { fetch: originFetch((target, init) => fetch(target, init), this.env), clock: systemClock, isOnEdge };
    await runChecks(targets, deps, (checked) => this.#book.enterCheck(checked));
    this.#book.save(systemClock.nowMs());
  }

  async #loaded() {
    const loaded = await this.#tables.load();
    return loaded.ok ? loaded.value : undefined;
  }

  async #wakeBy(atMs: number): Promise<void> {
    // An alarm that is long overdue is lost.
    const nowMs = systemClock.nowMs();
    if (this.#alarmAtMs !== undefined && this.#alarmAtMs <= atMs && this.#alarmAtMs > nowMs - ALARM_LOST_MS) return;
    this.#alarmAtMs = atMs;
    await this.ctx.storage.setAlarm(atMs);
  }
}
