import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { FAULTS, type FaultPoint, type OriginStore, type World, worldOf } from "./fault-points.ts";

const { IDEMPOTENCY } = env as Env;
const KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324";
/** The object of the key: a digest of the key says so. */
const stub = () => IDEMPOTENCY.get(IDEMPOTENCY.idFromName("keys-23"));

const LEASE_SECONDS = 10;
const declaredWith = (idempotency: object, routes: readonly object[] = DECLARED_TABLE.routes) => ({
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    order: {
      ...DECLARED_TABLE.entities.order,
      create: {
        key: { country: [{ jwtClaim: "country" }, { header: "x-country" }] },
        idempotency: { leaseSeconds: LEASE_SECONDS, ...idempotency },
      },
    },
  },
  routes,
});

const KEPT = { keepAnswer: {} };
const DECLARED = declaredWith(KEPT);
const [, ...OTHER_ROUTES] = DECLARED_TABLE.routes;

/** Events between the attempt that goes wrong and the client's next one. */
const MEANWHILE = {
  "nothing happens": DECLARED,
  "no answer is kept": declaredWith({}),
  "the object is evicted": DECLARED,
  "the country moves": declaredWith(KEPT, [{ when: { layout: "iuid", country: "KZ" }, region: "us" }, ...OTHER_ROUTES]),
  "the country goes": declaredWith(KEPT, OTHER_ROUTES),
} as const;
type Meanwhile = keyof typeof MEANWHILE;

/** Moves all times of the object into the past: it reads the platform's clock. */
const elapse = (seconds: number): Promise<void> =>
  runInDurableObject(stub(), (_, { storage }) => {
    const ms = seconds * 1000;
    storage.sql.exec("UPDATE keys SET lease_until_ms = lease_until_ms - ?, until_ms = until_ms - ?", ms, ms);
  });

interface Answer {
  readonly status: number;
  readonly id: string | null;
  readonly retryAfterSeconds: number;
  /** `undefined` where it broke off. */
  readonly body: string | undefined;
}

async function create(world: World): Promise<Answer> {
  const response = await world.request("/orders", {
    method: "POST",
    body: world.upload('{"total":1}'),
    headers: { "content-type": "application/json", "x-country": "KZ", "idempotency-key": KEY },
  });
  return {
    status: response.status,
    id: response.headers.get("waybill-entity-id"),
    retryAfterSeconds: Number(response.headers.get("retry-after") ?? 0),
    body: await response.text().catch(() => undefined),
  };
}

const isDone = ({ status, body }: Answer): boolean => status < 300 && body !== undefined;

/** It stands until the table has the country again. */
const isRefused = ({ status }: Answer): boolean => status === 404;

/** More than a lease takes at one answer each 5 s. */
const TRIES_MAX = 6;

/** A client that tries again until it has an answer. */
async function createUntilDone(world: World): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = await create(world);
    answers.push(answer);
    if (isDone(answer) || isRefused(answer)) return answers;
    // A torn answer has the status of a good one. Whatever else is no answer must say that trying again helps.
    expect([409, 500, 502, 503, 200, 201]).toContain(answer.status);
    await elapse(answer.retryAfterSeconds);
  }
  throw new Error(`no answer after ${TRIES_MAX} tries: ${JSON.stringify(answers)}`);
}

interface Plan {
  readonly meanwhile?: Meanwhile;
  readonly isUnique?: boolean;
  readonly isMeasured?: boolean;
  /** Fault points of the attempts in turn. */
  readonly points: readonly FaultPoint[];
}

/** Attempts with a fault each, then a client that tries again, then those that were held go on, then one more try. */
async function runWith({ meanwhile = "nothing happens", isUnique = true, isMeasured = true, points }: Plan) {
  await reset();
  const store: OriginStore = { entities: [], isUnique, isMeasured };
  const answers: Answer[] = [];
  const late: Promise<Answer>[] = [];
  const worlds: World[] = [];
  for (const point of points) {
    // Work that the attempt before left running is taken for dead.
    if (worlds.length > 0) await elapse(LEASE_SECONDS);
    const world = worldOf(meanwhile === "no answer is kept" ? MEANWHILE[meanwhile] : DECLARED, store, point);
    const attempt = create(world);
    worlds.push(world);
    late.push(attempt);
    await Promise.race([attempt, world.held]);
  }
  const [taken] = await entriesOf(worlds[0] as World);
  if (meanwhile === "the object is evicted") await evictDurableObject(stub());
  const changed = worldOf(MEANWHILE[meanwhile], store);
  const retries = await createUntilDone(changed);
  for (const { release } of worlds) release();
  answers.push(...retries, ...(await Promise.all(late)));
  answers.push(...(await createUntilDone(meanwhile === "the country goes" ? worldOf(DECLARED, store) : changed)));
  return {
    name: worlds.map(({ waits }, at) => `${waits[points[at]?.at ?? 0]} ${points[at]?.how}`).join(", "),
    entities: store.entities,
    ids: [...new Set(answers.flatMap(({ id }) => id ?? []))],
    taken,
    retries: retries.map(({ status }) => status),
    isDone: isDone(answers.at(-1) as Answer),
  };
}

const entriesOf = async ({ keys }: World) => {
  const shown = await keys.show(KEY);
  if (!shown.ok) throw new Error(shown.error.why);
  return shown.value;
};

/** All faults of every wait of an attempt, from one on. */
async function pointsFrom(from: string): Promise<readonly FaultPoint[]> {
  const world = worldOf(DECLARED, { entities: [], isUnique: true, isMeasured: true });
  expect(await create(world)).toMatchObject({ status: 201 });
  return world.waits.flatMap((name, at) =>
    at < world.waits.indexOf(from)
      ? []
      : FAULTS.filter((how) => how !== "torn" || name === "origin").map((how) => ({ at, how })),
  );
}

describe("a create whose attempt goes wrong at any point", () => {
  it("waits at these points", async () => {
    const world = worldOf(DECLARED, { entities: [], isUnique: true, isMeasured: true });
    await create(world);
    const before = ["table", "upload", "claims", "digest", "digest", "sample", "mint"];
    expect(world.waits).toEqual([...before, "begin", "origin", "finish"]);
  });

  it.each(Object.keys(MEANWHILE) as Meanwhile[])("makes one entity with one ID: %s", async (meanwhile) => {
    for (const point of await pointsFrom("table")) {
      const run = await runWith({ meanwhile, points: [point] });
      const { name, taken } = run;
      expect(run).toMatchObject({ name, isDone: true, entities: [{ id: run.ids[0] }], ids: [expect.any(String)] });
      // The first attempt's record stands, and a kept answer is given.
      if (taken !== undefined) expect(run).toMatchObject({ name, entities: [{ id: taken.record.id, region: "ap" }] });
      if (taken?.state === "done") expect(run).toMatchObject({ name, retries: [taken.answer?.status] });
    }
  });

  it("makes one entity where the origin's answer is of unknown length", async () => {
    for (const point of await pointsFrom("begin")) {
      const run = await runWith({ points: [point], isMeasured: false });
      const { name } = run;
      expect(run).toMatchObject({ name, isDone: true, entities: [{ id: run.ids[0] }], ids: [expect.any(String)] });
    }
  });

  it.each([0, 1, 2, 3])("makes one entity when the second attempt goes wrong too: quarter %i", async (quarter) => {
    const points = await pointsFrom("begin");
    expect(points.length).toBeGreaterThanOrEqual(4);
    for (const first of points.filter((_, at) => at % 4 === quarter)) {
      for (const second of points) {
        const run = await runWith({ points: [first, second] });
        const { name } = run;
        expect(run).toMatchObject({ name, isDone: true, entities: [{ id: run.ids[0] }], ids: [expect.any(String)] });
      }
    }
  });

  it("makes at most two copies with one ID at an origin that does not look at the ID", async () => {
    const copies: Record<string, number> = {};
    for (const point of await pointsFrom("table")) {
      const { name, ids, entities } = await runWith({ points: [point], isUnique: false });
      expect([name, ids.length, new Set(entities.map(({ id }) => id)).size]).toEqual([name, 1, 1]);
      if (entities.length > 1) copies[name] = entities.length;
    }
    console.log(`entities at an origin that does not look at the ID, by fault: ${JSON.stringify(copies)}`);
    expect(copies).toEqual({
      "begin held after": 2,
      "origin after": 2,
      "origin held before": 2,
      "origin held after": 2,
      "origin torn": 2,
      "finish before": 2,
      "finish held before": 2,
    });
  });
});
