import type { WebhookState } from "../../formats/console-api.ts";
import { messageOf as errorText } from "../../ids/result.ts";
import type { Clock, Entropy, Fetch } from "../../ports/gateway.ts";
import { textHash } from "../../routing/bytes.ts";
import type { Delivery, EventStore } from "./event-store.ts";
import { messageOf, type Sender, signedHeaders } from "./standard-webhook.ts";
import type { EventDraft } from "./watch-regions.ts";

export interface WebhookSettings {
  readonly url: string;
  readonly secrets: readonly string[];
}

/** State of the receiver, as it is stored. */
interface Receiver {
  /** Hash of the settings: another one starts over. */
  readonly of: number;
  /** In a row. */
  readonly failures: number;
  /** Nothing is sent before, Unix ms. */
  readonly untilMs: number;
  readonly lastFailure?: string;
  /** It said that it wants no more. */
  readonly isGone?: boolean;
}

/** The key of the receiver in the object's storage. */
const RECEIVER = "webhook";
/** The key of the name by which messages of this log differ from those of others. */
const LOG_NAME = "events-log";

/** After each try of an event, or failure of the receiver, the wait for the next one; the last one repeats. */
const BACKOFF_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000] as const;

/** A receiver that is back is found within this. */
const RECEIVER_BACKOFF_MS_MAX = 600_000;

/** From the first try on. */
const GIVEN_UP_MS = 86_400_000;

/** Receivers should answer first and work later. */
const DEADLINE_MS = 15_000;

const RETRY_AFTER_MS_MAX = 3_600_000;

/** Messages of one round: the next one comes at once. */
const ROUND_MAX = 20;

const JITTER = 0.2;

const LOST_TOLD_MS = 3_600_000;

/** After so many failures in a row events wait long for their own turns. */
const LONG_FAILURES = 3;

export interface WebhookDeps {
  readonly storage: Pick<DurableObjectStorage, "kv">;
  readonly store: EventStore;
  readonly sender: Sender;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly subtle: SubtleCrypto;
  /** Adds an event that is not sent, and says how many that wait had to leave the log for it. */
  readonly note: (event: EventDraft) => number;
  readonly report: (why: string) => void;
}

/** Sends events of the log to one receiver: each at least once, one at a time, until it is taken or given up. */
export class Webhook {
  readonly #settings: WebhookSettings;
  readonly #deps: WebhookDeps;
  readonly #name: string;
  #receiver: Receiver;
  #isBusy = false;
  #lost = 0;
  #lostToldMs = Number.NEGATIVE_INFINITY;

  constructor(settings: WebhookSettings, deps: WebhookDeps) {
    this.#settings = settings;
    this.#deps = deps;
    const { kv } = deps.storage;
    const of = textHash([settings.url, ...settings.secrets].join("\n"));
    const stored = kv.get<Receiver>(RECEIVER);
    this.#receiver = stored?.of === of ? stored : { of, failures: 0, untilMs: 0 };
    const { entropy } = deps;
    const name = kv.get<string>(LOG_NAME);
    this.#name = name ?? [entropy.word(), entropy.word()].map((word) => word.toString(36)).join("");
    if (name === undefined) kv.put(LOG_NAME, this.#name);
  }

  /** Whether events are to be queued. */
  get isWanted(): boolean {
    return this.#receiver.isGone !== true;
  }

  state(): WebhookState {
    const { lastFailure, isGone = false } = this.#receiver;
    return { waiting: this.#deps.store.waiting(), lastFailure: lastFailure ?? null, isGone };
  }

  /** When there is something to do, Unix ms. */
  dueMs(): number {
    if (this.#isBusy) return Number.POSITIVE_INFINITY;
    const dueMs = this.#deps.store.nextDueMs();
    return dueMs === undefined ? Number.POSITIVE_INFINITY : Math.max(dueMs, this.#receiver.untilMs);
  }

  /** One round at a time. Never rejects. */
  async deliver(): Promise<void> {
    if (this.#isBusy || this.dueMs() > this.#deps.clock.nowMs()) return;
    this.#isBusy = true;
    try {
      this.#giveUpOld();
      this.lost(0);
      for (let sent = 0; sent < ROUND_MAX; sent++) {
        const next = this.#deps.store.dueDelivery(this.#deps.clock.nowMs());
        if (next === undefined || !(await this.#deliverOne(next))) break;
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** Events that left the log before they were taken. They are told together: each event of this would push out another one. */
  lost(count: number): void {
    this.#lost += count;
    const nowMs = this.#deps.clock.nowMs();
    if (this.#lost === 0 || nowMs - this.#lostToldMs < LOST_TOLD_MS) return;
    this.#lostToldMs = nowMs;
    const told = this.#lost;
    this.#lost = 0;
    this.#noteGivenUp(told, "the log has room for 1,000 events");
  }

  /** Whether the receiver took it. */
  async #deliverOne({ event: id, tries }: Delivery): Promise<boolean> {
    const { store, clock } = this.#deps;
    const event = store.event(id);
    if (event === undefined) {
      store.endDelivery(id);
      return true;
    }
    store.tryDelivery(id, clock.nowMs() + this.#backoff(tries));
    const body = messageOf(event, this.#deps.sender);
    const { failure, retryAfterMs = 0, isGone = false } = await this.#send(`msg_${this.#name}_${id}`, body);
    if (failure === undefined) {
      const wasAway = this.#receiver.failures >= LONG_FAILURES;
      store.endDelivery(id);
      if (this.#receiver.failures > 0) this.#setReceiver({ of: this.#receiver.of, failures: 0, untilMs: 0 });
      if (wasAway) store.deliverNow(clock.nowMs());
      return true;
    }
    const { of, failures } = this.#receiver;
    if (failures === 0) this.#deps.report(failure);
    const waitMs = Math.max(Math.min(this.#backoff(failures), RECEIVER_BACKOFF_MS_MAX), retryAfterMs);
    this.#setReceiver({ of, failures: failures + 1, untilMs: clock.nowMs() + waitMs, lastFailure: failure, isGone });
    if (isGone) this.#stop();
    return false;
  }

  async #send(id: string, body: string): Promise<{ failure?: string; retryAfterMs?: number; isGone?: boolean }> {
    const { subtle, clock } = this.#deps;
    const nowMs = clock.nowMs();
    try {
      const headers = await signedHeaders(id, body, this.#settings.secrets, { subtle, nowMs });
      const signal = AbortSignal.timeout(DEADLINE_MS);
      const request = { method: "POST", headers, body, redirect: "manual", signal } as const;
      const response = await this.#deps.fetch(this.#settings.url, request);
      void response.body?.cancel().catch(() => undefined);
      if (response.ok) return {};
      const { status } = response;
      const seconds = Number(response.headers.get("retry-after") ?? "");
      const retryAfterMs = seconds > 0 ? Math.min(seconds * 1000, RETRY_AFTER_MS_MAX) : 0;
      return { failure: `it answered ${status}`, retryAfterMs, isGone: status === 410 };
    } catch (error) {
      const isLate = error instanceof Error && error.name === "TimeoutError";
      // The text of an error may have the URL, which may have a secret.
      const why = isLate ? `no answer within ${DEADLINE_MS / 1000} s` : this.#withoutUrl(errorText(error));
      return { failure: why };
    }
  }

  #withoutUrl(text: string): string {
    return text.replaceAll(this.#settings.url, "the URL").slice(0, 200);
  }

  #setReceiver(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#deps.storage.kv.put(RECEIVER, receiver);
  }

  #backoff(times: number): number {
    const ms = BACKOFF_MS[Math.min(times, BACKOFF_MS.length - 1)] ?? 0;
    return ms * (1 + JITTER * (this.#deps.entropy.word() / 2 ** 32 - 0.5));
  }

  #giveUpOld(): void {
    const { store, clock } = this.#deps;
    const given = store.giveUp(clock.nowMs() - GIVEN_UP_MS);
    if (given.length > 0) this.#noteGivenUp(given.length, this.#receiver.lastFailure ?? "no answer");
  }

  #noteGivenUp(count: number, why: string): void {
    const which = count === 1 ? "1 event was" : `${count} events were`;
    this.#lost += this.#deps.note({
      atMs: this.#deps.clock.nowMs(),
      kind: "webhook",
      type: "webhook.given-up",
      words: `${which} not taken by the webhook, and will not be sent again: ${why}.`,
      evidence: { events: count, lastFailure: why },
    });
  }

  /** It answered 410. */
  #stop(): void {
    const { store, clock } = this.#deps;
    const waiting = store.giveUp(Number.MAX_SAFE_INTEGER).length;
    this.#deps.note({
      atMs: clock.nowMs(),
      kind: "webhook",
      type: "webhook.gone",
      words:
        "The webhook's receiver answered 410: it wants no more events. Nothing is sent until EVENTS_WEBHOOK or its secret changes.",
      evidence: { events: waiting },
    });
  }
}
