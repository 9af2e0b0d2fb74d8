import { randomUUID } from "node:crypto";
import { answerCalls } from "./agent.ts";
import { ask, type Target } from "./load/ask.ts";
import { Creates } from "./load/creates.ts";
import { Gets, type GetsOptions } from "./load/gets.ts";
import { Mints } from "./load/mints.ts";
import { Publications, type Publishing } from "./load/publications.ts";

/** All kinds of requests at once, from one process. */

export interface LoadOptions {
  readonly targets: readonly Target[];
  readonly gets: GetsOptions;
  readonly createsPerSecond?: number;
  readonly mintsPerSecond?: number;
  readonly publishing?: Publishing;
}

interface Running {
  readonly gets: Gets;
  readonly creates: Creates | undefined;
  readonly mints: Mints | undefined;
  readonly publications: Publications | undefined;
}

const IDS_A_MINT = 20;
/** Primary keys of all LUUIDs of this process's life. */
const minted = new Set<string>();
let running: Running | undefined;

const now = (): Running => {
  if (running === undefined) throw new Error("there is no load");
  return running;
};

const calls = {
  start: ({ targets, gets, createsPerSecond, mintsPerSecond, publishing }: LoadOptions) => {
    running = {
      gets: new Gets(targets, gets),
      creates: createsPerSecond === undefined ? undefined : new Creates(targets, createsPerSecond),
      mints: mintsPerSecond === undefined ? undefined : new Mints(targets, mintsPerSecond, IDS_A_MINT, minted),
      publications: publishing && new Publications(targets, publishing),
    };
  },
  report: () => {
    const { gets, creates, mints, publications } = now();
    return {
      gets: gets.report(),
      creates: creates?.report(),
      oldestOpenMs: creates?.oldestOpenMs() ?? 0,
      mints: mints?.report(),
      publications: publications?.report(),
    };
  },
  /** All edges create with state behind them. */
  createAtAll: async (targets: readonly Target[]) => {
    const answers = targets.map((target) => {
      const headers = { "idempotency-key": randomUUID(), "x-country": "DE" };
      return ask(target, { method: "POST", path: "/orders", headers, body: '{"key":"warm-up"}', deadlineMs: 5_000 });
    });
    return (await Promise.all(answers)).map(({ outcome }) => outcome);
  },
  stop: async () => {
    const { gets, creates, mints, publications } = now();
    await Promise.all([gets, creates, mints, publications].map((each) => each?.stop()));
  },
  /** One GET, from where the clients are. */
  ask: async (target: Target, path: string) => {
    const { status, outcome, ms } = await ask(target, { method: "GET", path, deadlineMs: 10_000 });
    return { status, outcome, ms };
  },
  firstCreateFrom: (fromMs: number) => now().creates?.firstFrom(fromMs),
  /** Keys of the creates that were acknowledged. */
  acknowledgedKeys: () => now().creates?.keys() ?? [],
  verify: (entities: readonly (readonly string[])[]) =>
    now().creates?.verify(entities) ?? { lost: [], keysWithTwo: [] },
};

export type LoadCalls = typeof calls;
export type LoadReport = ReturnType<typeof calls.report>;

answerCalls(calls);
