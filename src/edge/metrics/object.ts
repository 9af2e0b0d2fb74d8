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
import { MetricsAggregate, MetricsStorage } from "./aggregate.ts";
import type { MetricsReport, MetricsRpc, MetricsTotals, OriginHint } from "./store.ts";

/** How long what isolates reported may stay unwritten: a row costs money, and a series is raised by every report. */
const SAVE_MS = 10_000;

/** The object's first answer goes before its first checks. */
const FIRST_CHECKS_MS = 1_000;

/** How soon a table that wants no checks is looked at again, while there is traffic. */
const NO_CHECKS_MS = 60_000;

/** An alarm that was due so long ago is not going to ring: the disk was put back, or the platform gave it up after its tries. */
const ALARM_LOST_MS = 60_000;

/** Rounds of several deployments that were started together drift apart by up to this share of the time between two. */
const JITTER = 0.2;

/**
 * Where isolates meet: the sums of what they count, what they have found of origins, and the active checks, which only one
 * place should make. One object for a deployment. Its alarm writes what is new, and makes a round of checks when that is due.
 */
export class TrafficReports extends DurableObject<Env> implements MetricsRpc {
  readonly #book: MetricsAggregate;
  readonly #config: Config;
  readonly #tables: Tables;
  readonly #entropy: Entropy = pooledEntropy();
  #alarmAtMs: number | undefined;
  #checksDueMs: number;
  /** Whether the table wanted checks when it was last looked at. */
  #hasChecks = true;

  /** `bundled`: the table that was deployed with the code. */
  constructor(context: DurableObjectState, env: Env, bundled: unknown) {
    super(context, env);
    this.#config = readConfig(env);
    const nowMs = systemClock.nowMs();
    this.#book = new MetricsAggregate(new MetricsStorage(context.storage.sql), nowMs);
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

  /** A round of checks, of as many origins as the table in force wants checked. */
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
    // An alarm in the past that never rang is lost.
    const nowMs = systemClock.nowMs();
    if (this.#alarmAtMs !== undefined && this.#alarmAtMs <= atMs && this.#alarmAtMs > nowMs - ALARM_LOST_MS) return;
    this.#alarmAtMs = atMs;
    await this.ctx.storage.setAlarm(atMs);
  }
}
