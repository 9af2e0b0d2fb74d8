import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { createApp } from "../../routes/app.ts";
import { createPages } from "../../routes/pages.ts";
import { controlPlane } from "../../src/control-plane/client.ts";
import type { Env } from "../../src/edge/env.ts";
import { isolateMetrics } from "../../src/edge/metrics/isolate-metrics.ts";
import { movingCalls } from "../../src/edge/moving/calls.ts";
import { movedMemory } from "../../src/edge/origins/moved-memory.ts";
import { clientReader, pooledEntropy, runningHash, systemPause } from "../../src/edge/platform.ts";
import { IsolateTable } from "../../src/edge/table/isolate-table.ts";
import type { FitTable } from "../../src/edge/table/restored.ts";
import { copyStore, kvCopies } from "../../src/features/directory/edge/copies.ts";
import { durableDirectory } from "../../src/features/directory/edge/keys.ts";
import { isolateDirectory } from "../../src/features/directory/edge/lookup.ts";
import type { DirectoryComparison } from "../../src/features/directory/port.ts";
import { durableIdempotency } from "../../src/features/idempotency/edge/keys.ts";
import type {} from "../../src/features/lists/edge.ts";
import { isolateMinters } from "../../src/features/mint/edge/minters.ts";
import { durableSequences } from "../../src/features/mint/edge/sequences.ts";
import { kvPacks } from "../../src/features/packs/edge/packs.ts";
import { keyedPublicIds } from "../../src/features/public-ids/edge.ts";
import { NO_PUBLIC_KEYS, type PublicKeys, parsePublicKeys } from "../../src/features/public-ids/table/codec.ts";
import { isolateShadows } from "../../src/features/shadow/edge.ts";
import { ok } from "../../src/ids/result.ts";
import type { Fetch, Gateway, RequestLine } from "../../src/ports/gateway.ts";
import { fieldRules } from "../../src/proxy/headers.ts";
import { pseudonymOf } from "../../src/proxy/origin-request.ts";
import { retryBudget } from "../../src/proxy/origins.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";

const { DIRECTORY, IDEMPOTENCY, TABLE_KV, TABLE_TRUTH, SEQUENCES } = env as Env;

/** IDs that the declared table of the fixtures routes, by where they go. Minted 2025-09-03 or so, or without a time. */
export const IDS = {
  orderKz: "01990f04-d900-8005-8040-000000000001",
  orderBr: "01990f04-d900-8007-8040-000000000001",
  orderDe: "01990f04-d900-8009-8040-000000000001",
  orderAq: "01990f04-d900-80c8-8040-000000000001",
  orderUnknownCountry: "01990f04-d900-80fe-8040-000000000001",
  rideKz: "01990f04-d900-8005-8080-000000000001",
  parcelEu: "6347eb00-bbaa-01cc-0201-0203d0000000",
  parcelUs: "6347eb00-bbaa-01cc-0201-0203e8030000",
  parcelUnassigned: "6347eb00-bbaa-01cc-0201-0203ffffffff",
} as const;

/** Requests that a fake origin saw. */
export interface Seen {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string;
}

interface Options {
  readonly declared?: unknown;
  /** Answers for the origins; by default 200 with the region's host in the body. */
  readonly origin?: (request: Request) => Response | Promise<Response>;
  readonly nowMs?: number;
  readonly deadlines?: Partial<Gateway["deadlines"]>;
  readonly gateway?: Partial<Gateway>;
  readonly fit?: FitTable | undefined;
  readonly publicKeys?: PublicKeys;
}

/** The whole gateway with the real KV and Durable Objects, and origins that are functions. */
export function setUp(options: Options = {}) {
  const seen: Seen[] = [];
  const lines: RequestLine[] = [];
  const defects: unknown[] = [];
  const broken: string[] = [];
  const mirrored: string[] = [];
  const compared: DirectoryComparison[] = [];
  const origin = options.origin ?? ((request) => new Response(`from ${new URL(request.url).host}`));
  const fetch: Fetch = async (target, init) => {
    const request = new Request(target, init);
    const copy = request.clone();
    seen.push({
      url: request.url,
      method: request.method,
      headers: new Headers(request.headers),
      body: await copy.text(),
    });
    return origin(request);
  };
  const clock = { nowMs: () => options.nowMs ?? Date.now() };
  const entropy = pooledEntropy();
  const metrics = isolateMetrics({
    store: undefined,
    reportMs: 0,
    keepsSamples: true,
    table: () => undefined,
    entropy: pooledEntropy(),
    clock,
    pause: () => new Promise(() => undefined),
    onBreaker: () => undefined,
    onReportFailure: (why) => defects.push(why),
  });
  const truth = durableDirectory(DIRECTORY, (error) => defects.push(error));
  const directory = isolateDirectory({
    truth: options.gateway?.directoryTruth ?? truth,
    copies: kvCopies({
      truth: options.gateway?.directoryTruth ?? truth,
      kv: TABLE_KV,
      cache: undefined,
      namespace: "one",
      clock,
      entropy,
      retryMsMax: 30_000,
      report: (failure) => defects.push(failure),
      waitUntil: () => undefined,
    }),
    clock,
    cache: undefined,
    namespace: "one",
    waitUntil: () => undefined,
    counters: options.gateway?.counters ?? metrics.counters,
    report: (comparison) => compared.push(comparison),
  });
  const gateway: Gateway = {
    clock,
    pause: systemPause,
    entropy,
    tables: new IsolateTable({
      kv: TABLE_KV,
      cache: undefined,
      namespace: "one",
      bundled: options.declared ?? DECLARED_TABLE,
      clock,
      entropy,
      refreshMs: 30_000,
      report: () => undefined,
      fit: options.fit,
      waitUntil: () => undefined,
    }),
    controlPlane: controlPlane(TABLE_TRUTH, (refused) => defects.push(refused)),
    moving: async () => movingCalls(env as Env),
    packs: kvPacks({
      kv: TABLE_KV,
      cache: undefined,
      namespace: "one",
      clock,
      entropy,
      retryMsMax: 30_000,
      report: (failure) => defects.push(failure),
      waitUntil: () => undefined,
    }),
    minters: isolateMinters({ clock, entropy, sequences: durableSequences(SEQUENCES) }),
    subtle: crypto.subtle,
    hashOf: runningHash,
    cursorKeys: [new TextEncoder().encode("a secret of this test, 32 bytes.")],
    clientClaims: async () => ok(undefined),
    idempotency: durableIdempotency(IDEMPOTENCY),
    directory,
    directoryTruth: truth,
    directoryCopies: copyStore(TABLE_KV, (why) => defects.push(why)),
    publicIds: keyedPublicIds(options.publicKeys ?? NO_PUBLIC_KEYS),
    fetch,
    isOnEdge: false,
    clientOf: clientReader("cf-connecting-ip"),
    deadlines: { firstByteMs: 0, idleMs: 0, totalMs: 0, ...options.deadlines },
    beginSpan: undefined,
    earlyAnswers: { bytesMax: 1024 * 1024, holdMs: 5_000 },
    originHealth: metrics.originHealth,
    counters: metrics.counters,
    metrics,
    fieldRules: fieldRules(),
    pseudonym: pseudonymOf("waybill"),
    retryBudget: retryBudget(),
    movedMemory: movedMemory({ clock, cache: undefined, namespace: "one", waitUntil: () => undefined }),
    shadows: isolateShadows({
      clock,
      count: (region, outcome) => mirrored.push(`${region} ${outcome}`),
      log: () => undefined,
    }),
    sign: undefined,
    rateLimits: { client: undefined, entity: undefined, lookup: undefined },
    authenticate: async () => ok({ name: "anybody", scope: "operator", by: "open-pages" }),
    console: undefined,
    mintDoor: "open",
    mustSign: false,
    invalidSettings: [],
    trustsForwarded: false,
    observe(line, waitUntil, decidedBy) {
      lines.push(line);
      metrics.observe(line, waitUntil, decidedBy);
    },
    logDefect: (error) => defects.push(error),
    logBrokenBody: (entity, reason) => broken.push(`${entity}: ${reason}`),
    ...options.gateway,
  };
  const app = createApp(gateway);
  const take = (asked: Request): Promise<Response> => Promise.resolve(app.fetch(asked, env, createExecutionContext()));
  const request = (path: string, init?: RequestInit) => take(new Request(`http://gw.test${path}`, init));
  const { routes } = createPages(gateway);
  return { app: { ...app, routes }, gateway, request, take, seen, lines, defects, broken, mirrored, compared };
}

/** The problem document of an answer, after checking that it is one. */
export async function problemOf(response: Response): Promise<Record<string, unknown> & { readonly type: string }> {
  const type = response.headers.get("content-type");
  if (type !== "application/problem+json") throw new Error(`not a problem: ${response.status} ${type}`);
  const problem = await response.json<Record<string, unknown> & { readonly type: string }>();
  if (problem["status"] !== response.status) throw new Error("the problem's status is not the response's");
  return problem;
}

export const slug = (problem: { readonly type: string }): string => problem.type.replace("/-/problems/", "");

/** The keys of a secret that is right. */
export function publicKeysOf(secret: string): PublicKeys {
  const keys = parsePublicKeys(secret);
  if (!keys.ok) throw new Error(keys.error);
  return keys.value;
}
