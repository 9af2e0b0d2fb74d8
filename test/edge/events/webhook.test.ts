import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { createHmac, timingSafeEqual } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { EVENTS_MAX, EventStore } from "../../../src/edge/events/event-store.ts";
import type { EventDraft } from "../../../src/edge/events/watch-regions.ts";
import { Webhook, type WebhookSettings } from "../../../src/edge/events/webhook.ts";
import type { Fetch } from "../../../src/ports/gateway.ts";

const { TRAFFIC } = env as Env;
const SECRET = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 6).toString("base64")}`;
const URL_WITH_SECRET = "https://hooks.test/services/T0/secret-path";
const HOUR = 3_600_000;

const down: EventDraft = {
  atMs: 1_000,
  kind: "region",
  type: "region.down",
  words: "us is down.",
  region: "us",
  evidence: {},
};

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  readonly atMs: number;
}

type Answer = (sent: Sent, count: number) => Promise<Response> | Response;

interface World {
  readonly store: EventStore;
  readonly sent: Sent[];
  readonly reported: string[];
  readonly webhook: (settings?: Partial<WebhookSettings>) => Webhook;
  add(count?: number): void;
  /** Rounds as the alarm makes them, until there is none within the time. */
  run(hook: Webhook, forMs: number): Promise<void>;
  readonly time: { nowMs: number };
  answer: Answer;
}

/** Runs in an object, for its storage alone. */
const inObject = (test: (world: World) => Promise<void>) =>
  runInDurableObject(TRAFFIC.get(TRAFFIC.idFromName("webhook-test")), async (_, { storage }) => {
    const time = { nowMs: Date.UTC(2026, 10, 23) };
    const sent: Sent[] = [];
    const reported: string[] = [];
    const store = new EventStore(storage.sql);
    const world: World = {
      store,
      sent,
      reported,
      time,
      answer: () => new Response(null, { status: 204 }),
      webhook: (settings = {}) =>
        new Webhook(
          { url: URL_WITH_SECRET, secrets: [SECRET], ...settings },
          {
            storage,
            store,
            sender: { gateway: "eu-edge", environment: "production" },
            fetch: (async (target: string, init: RequestInit) => {
              expect(init.redirect).toBe("manual");
              const one = {
                url: target,
                headers: new Headers(init.headers),
                body: String(init.body),
                atMs: time.nowMs,
              };
              sent.push(one);
              return world.answer(one, sent.length);
            }) as Fetch,
            clock: { nowMs: () => time.nowMs },
            // In the middle: no jitter.
            entropy: { word: () => 2 ** 31 },
            subtle: crypto.subtle,
            note: (event) => store.add(event, time.nowMs, false),
            report: (why) => reported.push(why),
          },
        ),
      add(count = 1) {
        for (let at = 0; at < count; at++) store.add({ ...down, atMs: time.nowMs }, time.nowMs, true);
      },
      async run(hook, forMs) {
        const endMs = time.nowMs + forMs;
        for (let rounds = 0; hook.dueMs() <= endMs; rounds++) {
          expect(rounds).toBeLessThan(1_000);
          time.nowMs = Math.max(time.nowMs, hook.dueMs());
          await hook.deliver();
        }
        time.nowMs = endMs;
      },
    };
    await test(world);
  });

/** By the specification: HMAC-SHA256 over `id.timestamp.body`, by the bytes of the secret. */
function isSignedBy(secret: string, { headers, body }: Sent): boolean {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const text = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
  const own = createHmac("sha256", key).update(text).digest();
  const given = (headers.get("webhook-signature") ?? "").split(" ").map((one) => Buffer.from(one.slice(3), "base64"));
  return given.some((each) => each.length === own.length && timingSafeEqual(each, own));
}

beforeEach(() => reset());

describe("the webhook", () => {
  it("sends each event once, signed, with its figures and whose it is", () =>
    inObject(async ({ add, run, webhook, sent, store }) => {
      add(2);
      const hook = webhook({ secrets: [SECRET, OTHER_SECRET] });
      await run(hook, HOUR);
      expect(sent).toHaveLength(2);
      const [first, second] = sent as [Sent, Sent];
      expect([isSignedBy(SECRET, first), isSignedBy(OTHER_SECRET, first)]).toEqual([true, true]);
      expect(first.headers.get("webhook-timestamp")).toBe(String(first.atMs / 1000));
      expect(first.headers.get("webhook-id")).toMatch(/^msg_[0-9a-z]+_1$/);
      expect(second.headers.get("webhook-id")).not.toBe(first.headers.get("webhook-id"));
      expect(JSON.parse(first.body)).toEqual({
        type: "region.down",
        timestamp: "2026-11-23T00:00:00.000Z",
        data: {
          id: 1,
          kind: "region",
          words: "us is down.",
          region: "us",
          evidence: {},
          gateway: "eu-edge",
          environment: "production",
        },
      });
      expect([store.waiting(), hook.state()]).toEqual([0, { waiting: 0, lastFailure: null, isGone: false }]);
    }));

  it("sends again, later each time, with the same ID, until it is taken", () =>
    inObject(async (world) => {
      world.add();
      const startMs = world.time.nowMs;
      world.answer = (_, count) => new Response("no", { status: count < 6 ? 500 : 200 });
      await world.run(world.webhook(), 6 * HOUR);
      const waits = world.sent.map(({ atMs }) => (atMs - startMs) / 1_000);
      expect(waits).toEqual([0, 5, 35, 155, 755, 2555]);
      expect(new Set(world.sent.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
      expect(new Set(world.sent.map(({ headers }) => headers.get("webhook-timestamp"))).size).toBe(6);
      expect(world.sent.every((each) => isSignedBy(SECRET, each))).toBe(true);
      // Logged once, not at each try.
      expect(world.reported).toEqual(["it answered 500"]);
    }));

  it("sends all that waited when the receiver is back, and asks it seldom before", () =>
    inObject(async (world) => {
      const backMs = world.time.nowMs + 3 * HOUR;
      world.add(50);
      world.answer = ({ atMs }) => {
        if (atMs < backMs) throw new TypeError(`connection refused: ${URL_WITH_SECRET}`);
        return new Response(null, { status: 200 });
      };
      const hook = world.webhook();
      await world.run(hook, 3 * HOUR - 1);
      const before = world.sent.length;
      expect(before).toBeLessThan(25);
      expect(hook.state()).toMatchObject({ waiting: 50, lastFailure: "connection refused: the URL" });
      await world.run(hook, 11 * 60_000);
      expect(world.store.waiting()).toBe(0);
      expect(world.sent.length - before).toBeLessThanOrEqual(52);
      expect(world.reported.join()).not.toContain("secret-path");
    }));

  it("is not held up by one event that is never taken", () =>
    inObject(async (world) => {
      world.add(3);
      world.answer = ({ headers }) =>
        new Response(null, { status: headers.get("webhook-id")?.endsWith("_1") ? 400 : 200 });
      await world.run(world.webhook(), 60_000);
      expect(world.store.waiting()).toBe(1);
      expect(world.sent.filter(({ headers }) => !headers.get("webhook-id")?.endsWith("_1"))).toHaveLength(2);
    }));

  it("gives an event up after a day, and says so in the log alone", () =>
    inObject(async (world) => {
      world.add(2);
      world.answer = () => new Response(null, { status: 503 });
      const hook = world.webhook();
      await world.run(hook, 25 * HOUR);
      expect(world.store.waiting()).toBe(0);
      const count = world.sent.length;
      expect(count).toBeLessThan(80);
      const noted = world.store
        .page(Number.MAX_SAFE_INTEGER, 100, world.time.nowMs)
        .filter(({ kind }) => kind === "webhook");
      expect(noted.map(({ words, evidence }) => [words, evidence["events"]])).toEqual([
        ["2 events were not taken by the webhook, and will not be sent again: it answered 503.", 2],
      ]);
      await world.run(hook, 48 * HOUR);
      expect(world.sent).toHaveLength(count);
    }));

  it("waits as long as the receiver says, for an hour at most", () =>
    inObject(async (world) => {
      world.add();
      world.answer = (_, count) =>
        count === 1 ? new Response(null, { status: 429, headers: { "retry-after": "90" } }) : new Response(null);
      const startMs = world.time.nowMs;
      await world.run(world.webhook(), HOUR);
      expect(world.sent.map(({ atMs }) => (atMs - startMs) / 1_000)).toEqual([0, 90]);
    }));

  it("follows no redirect", () =>
    inObject(async (world) => {
      world.add();
      world.answer = () => new Response(null, { status: 307, headers: { location: "http://inside.test/" } });
      const hook = world.webhook();
      await world.run(hook, 1_000);
      expect(world.sent.map(({ url }) => url)).toEqual([URL_WITH_SECRET]);
      expect(hook.state().lastFailure).toBe("it answered 307");
    }));

  it("stops at 410, and begins again with another setting", () =>
    inObject(async (world) => {
      world.add(3);
      world.answer = () => new Response(null, { status: 410 });
      const hook = world.webhook();
      await world.run(hook, 48 * HOUR);
      expect([world.sent.length, world.store.waiting(), hook.isWanted, hook.state().isGone]).toEqual([
        1,
        0,
        false,
        true,
      ]);
      expect(world.store.page(Number.MAX_SAFE_INTEGER, 1, world.time.nowMs)).toMatchObject([{ type: "webhook.gone" }]);
      // The object begins anew.
      expect(world.webhook().isWanted).toBe(false);
      world.answer = () => new Response(null, { status: 200 });
      const another = world.webhook({ secrets: [OTHER_SECRET] });
      expect(another.isWanted).toBe(true);
      world.add();
      await world.run(another, HOUR);
      expect(world.sent).toHaveLength(2);
    }));

  it("goes on after a restart where it was, also in the middle of a try", () =>
    inObject(async (world) => {
      world.add();
      world.answer = () => new Promise<Response>(() => undefined);
      void world.webhook().deliver();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(world.sent).toHaveLength(1);
      world.answer = () => new Response(null);
      const later = world.webhook();
      expect(later.dueMs() - world.time.nowMs).toBe(5_000);
      await world.run(later, 10_000);
      expect(world.sent.map(({ headers }) => headers.get("webhook-id")?.slice(-2))).toEqual(["_1", "_1"]);
      expect(world.store.waiting()).toBe(0);
    }));

  it("has a queue no longer than the log", () =>
    inObject(async (world) => {
      world.answer = () => new Response(null, { status: 500 });
      const hook = world.webhook();
      for (let at = 0; at < EVENTS_MAX + 30; at++)
        hook.lost(world.store.add({ ...down, atMs: world.time.nowMs }, world.time.nowMs, true));
      const told = () =>
        world.store
          .page(Number.MAX_SAFE_INTEGER, 100, world.time.nowMs)
          .flatMap(({ kind, evidence }) => (kind === "webhook" ? [evidence["events"]] : []));
      // The first one at once, the others together; the events of this leave no room either.
      expect([told(), world.store.waiting()]).toEqual([[1], EVENTS_MAX - 1]);
      world.time.nowMs += HOUR;
      hook.lost(0);
      expect([told(), world.store.waiting()]).toEqual([[30, 1], EVENTS_MAX - 2]);
    }));
});
