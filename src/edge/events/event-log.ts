import { TABLE_OBJECT } from "../../control-plane/deployment.ts";
import type { EventPage, EventQuery } from "../../formats/console-api.ts";
import type { RegionSince } from "../../formats/region-state.ts";
import type { Clock, Entropy, Fetch } from "../../ports/gateway.ts";
import type { Config } from "../config.ts";
import type { ControlPlaneRpc, Env } from "../env.ts";
import { writeEvent } from "../log.ts";
import { originFetch, systemClock, throwTimeout, withTimeout } from "../platform.ts";
import { EventStore, PAGE_EVENTS_MAX } from "./event-store.ts";
import type { ControlPlaneNews } from "./protocol.ts";
import { WatchedStates } from "./settled.ts";
import type { Sender } from "./standard-webhook.ts";
import { canaryAfter, changeEvent } from "./table-changes.ts";
import { MachineWatch } from "./watch-machines.ts";
import { type EventDraft, type Observed, shownStates, watchRegions } from "./watch-regions.ts";
import { Webhook, type WebhookSettings } from "./webhook.ts";

/** How far the changes of the table are known, as it is stored. */
interface Cursor {
  /** ID of the audit's last entry that was read. */
  readonly audit?: number | undefined;
  /** The canary that runs after it. */
  readonly canary?: number | undefined;
  /** Older changes are no events: this log began later. ISO 8601. */
  readonly since: string;
}

const CURSOR = "events-cursor";

/** States change by time alone for some minutes after the last request or check. */
const LIVELY_MS = 600_000;

/** How often they are judged meanwhile, and how often machines are asked for. */
const JUDGE_MS = 15_000;

/** Reports of many isolates come at once. */
const JUDGE_MS_MIN = 1_000;

const NEWS_RETRY_MS = 30_000;

export interface EventLogDeps {
  readonly storage: DurableObjectStorage;
  readonly webhook: WebhookSettings | undefined;
  readonly sender: Sender;
  /** Edges and state nodes ask this machine's cluster. */
  readonly isCluster: boolean;
  readonly news: (cursor: Cursor & { readonly machines: boolean }) => Promise<ControlPlaneNews>;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly subtle: SubtleCrypto;
  readonly report: (why: string) => void;
}

/**
 * The log of events, in the object that hears of all requests. It judges regions, asks the control plane for changes of the table
 * and for machines, and hands events to the webhook. Its alarm is the object's: `dueMs` says when.
 */
export class EventLog {
  readonly #deps: EventLogDeps;
  readonly #store: EventStore;
  readonly #states: WatchedStates;
  readonly #machines: MachineWatch;
  readonly #webhook: Webhook | undefined;
  #cursor: Cursor;
  #livelyMs = Number.NEGATIVE_INFINITY;
  #judgedMs = Number.NEGATIVE_INFINITY;
  /** When a state may be told that has to hold until then. */
  #toldMs = Number.POSITIVE_INFINITY;
  #newsDueMs = Number.POSITIVE_INFINITY;
  #table: string | undefined;

  constructor(deps: EventLogDeps) {
    this.#deps = deps;
    const { storage, clock, webhook, isCluster } = deps;
    const nowMs = clock.nowMs();
    this.#store = new EventStore(storage.sql);
    this.#states = new WatchedStates(this.#store.watched());
    this.#machines = new MachineWatch(this.#states, nowMs);
    const cursor = storage.kv.get<Cursor>(CURSOR);
    this.#cursor = cursor ?? { since: new Date(nowMs).toISOString() };
    if (cursor === undefined) storage.kv.put(CURSOR, this.#cursor);
    const note = (event: EventDraft) => this.#store.add(event, clock.nowMs(), false);
    this.#webhook = webhook && new Webhook(webhook, { ...deps, store: this.#store, note });
    if (isCluster) this.#newsDueMs = nowMs;
  }

  get newest(): number | undefined {
    return this.#store.newest;
  }

  page({ before = Number.MAX_SAFE_INTEGER, limit }: EventQuery): EventPage {
    const events = this.#store.page(before, Math.min(limit, PAGE_EVENTS_MAX), this.#deps.clock.nowMs());
    return { events, webhook: this.#webhook?.state() ?? null };
  }

  /** Since when regions are as they are shown. */
  shown(): ReadonlyMap<string, RegionSince> {
    return shownStates(this.#states);
  }

  /** There was a request, or a page reads the log. */
  noteLife(): void {
    this.#livelyMs = this.#deps.clock.nowMs();
  }

  isLively(): boolean {
    return this.#deps.clock.nowMs() - this.#livelyMs < LIVELY_MS;
  }

  /** The control plane has changes of the table, or machines. */
  noteNews(): void {
    this.#newsDueMs = this.#deps.clock.nowMs();
  }

  /** The table in force: one that is new came by a change. */
  noteTable(label: string): void {
    if (label === this.#table) return;
    this.#table = label;
    this.noteNews();
  }

  mayJudge(): boolean {
    return Math.abs(this.#deps.clock.nowMs() - this.#judgedMs) >= JUDGE_MS_MIN;
  }

  /** `undefined`: there is no table yet. */
  judge(observed: Observed | undefined): void {
    const nowMs = this.#deps.clock.nowMs();
    this.#judgedMs = nowMs;
    this.#toldMs = Number.POSITIVE_INFINITY;
    if (observed === undefined) return;
    const { drafts, dueMs } = watchRegions(this.#states, observed, nowMs);
    this.#toldMs = dueMs;
    this.#take(drafts);
  }

  /** Called by the alarm. Deliveries are not waited for. */
  async run(deliver: (round: Promise<void>) => void): Promise<void> {
    if (this.#newsDueMs <= this.#deps.clock.nowMs()) await this.#readNews();
    if (this.#webhook !== undefined) deliver(this.#webhook.deliver());
  }

  /** When to call `judge` and `run` next, Unix ms. */
  dueMs(): number {
    const nowMs = this.#deps.clock.nowMs();
    const judgeMs = this.isLively() ? this.#judgedMs + JUDGE_MS : Number.POSITIVE_INFINITY;
    return Math.max(nowMs, Math.min(judgeMs, this.#toldMs, this.#newsDueMs, this.#webhook?.dueMs() ?? Infinity));
  }

  async #readNews(): Promise<void> {
    const { isCluster, news, clock } = this.#deps;
    const startedMs = clock.nowMs();
    this.#newsDueMs = startedMs + NEWS_RETRY_MS;
    try {
      const { changes, isMore, machines } = await news({ ...this.#cursor, machines: isCluster });
      for (const change of changes) {
        const event = changeEvent(change, this.#cursor.canary);
        this.#setCursor({ audit: change.id, canary: canaryAfter(change, this.#cursor.canary) });
        if (event !== undefined) this.#take([event]);
      }
      const nowMs = clock.nowMs();
      if (machines !== undefined) this.#take(this.#machines.watch(machines, nowMs));
      this.#newsDueMs = isMore ? nowMs : isCluster ? nowMs + JUDGE_MS : Number.POSITIVE_INFINITY;
    } catch {
      // The control plane says by itself when it cannot be reached.
    }
  }

  #setCursor(known: Pick<Cursor, "audit" | "canary">): void {
    this.#cursor = { ...this.#cursor, ...known };
    this.#deps.storage.kv.put(CURSOR, this.#cursor);
  }

  #take(drafts: readonly EventDraft[]): void {
    const nowMs = this.#deps.clock.nowMs();
    for (const event of drafts) {
      const lost = this.#store.add(event, nowMs, this.#webhook?.isWanted === true);
      this.#webhook?.lost(lost);
    }
    this.#store.saveWatched(this.#states.takeChanges());
  }
}

/** A call of the control plane, from its own isolate or another machine. */
const NEWS_DEADLINE_MS = 10_000;

/** The log over the object's platform. */
export function openEventLog({ storage }: DurableObjectState, env: Env, config: Config, entropy: Entropy): EventLog {
  const { webhook, gatewayName, environment } = config;
  return new EventLog({
    storage,
    webhook,
    sender: { gateway: gatewayName, environment },
    isCluster: env.NODE_VERSION !== undefined,
    news: (query) => {
      // Plain data crosses without the types of RPC.
      const truth = env.TABLE_TRUTH.get(env.TABLE_TRUTH.idFromName(TABLE_OBJECT)) as unknown as ControlPlaneRpc;
      return withTimeout(truth.news(query), NEWS_DEADLINE_MS, throwTimeout);
    },
    fetch: originFetch(env),
    clock: systemClock,
    entropy,
    subtle: crypto.subtle,
    report: (why) => writeEvent("webhook-failed", { why }),
  });
}
