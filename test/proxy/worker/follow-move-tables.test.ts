import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { movedMemory } from "../../../src/edge/origins/moved-memory.ts";
import { deliver } from "../../../src/proxy/deliver.ts";
import { runs } from "../../setup/property-runs.ts";
import { deps, ORDER, order, proxyRequest, tableWith } from "../passages.ts";

const REGIONS = ["eu", "us", "ap"] as const;
type RegionName = (typeof REGIONS)[number];

/** Tables that decide on each of the regions: by a route, by its canary, and by a move that has begun. */
const TABLES = REGIONS.flatMap((region) => {
  const other = region === "eu" ? "us" : "eu";
  const move = { from: region, to: other, state: "started", epoch: 1 };
  return [
    { routes: [{ when: {}, region }] },
    { routes: [{ when: {}, region: other, canary: { region, percent: 100 } }] },
    { routes: [{ when: {}, region: other }], moves: { [ORDER]: move } },
  ].map((more) => ({ region, table: tableWith({}, { rememberMovedSeconds: 60 }, more) }));
});

type Event =
  | { readonly kind: "request"; readonly method: string; readonly table: number }
  /** From now on a region's origin says that another one has the entity, or has it itself. */
  | { readonly kind: "say"; readonly region: RegionName; readonly has: RegionName }
  | { readonly kind: "wait"; readonly seconds: number };

const name = fc.constantFrom(...REGIONS);
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("request" as const),
      method: fc.constantFrom("GET", "PUT", "POST"),
      table: fc.nat({ max: TABLES.length - 1 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("say" as const), region: name, has: name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const), seconds: fc.nat({ max: 70 }) }) },
);

/** Origins that say what they like, and one memory for isolates with tables and canaries of any kind. */
async function live(events: readonly Event[]): Promise<number> {
  const time = { nowMs: 1_000_000 };
  const clock = { nowMs: () => time.nowMs };
  const memory = movedMemory({ clock, cache: undefined, namespace: "one", waitUntil: () => undefined });
  const has = new Map<string, RegionName>(REGIONS.map((region) => [region, region]));
  /** By the region that the table said: where the last request came to that its region's word led elsewhere. */
  const led = new Map<RegionName, { readonly region: string; readonly untilMs: number }>();
  let detours = 0;
  for (const one of events) {
    if (one.kind === "wait") time.nowMs += one.seconds * 1000;
    if (one.kind === "say") has.set(one.region, one.has);
    if (one.kind !== "request") continue;
    const { region: decided, table } = TABLES[one.table] as (typeof TABLES)[number];
    const asked: string[] = [];
    const origin = (request: Request) => {
      const region = new URL(request.url).host.split(/[.-]/)[0] ?? "";
      asked.push(region);
      const owner = has.get(region) ?? "";
      return owner === region
        ? new Response(region)
        : new Response(null, { status: 421, headers: { "waybill-region": owner } });
    };
    const delivered = await deliver(
      proxyRequest(table, order({ method: one.method })),
      deps(table, origin, { movedMemory: memory, clock }).world,
    );
    const [first, second] = asked;
    const reported = led.get(decided);
    if (first !== decided) {
      detours += 1;
      expect([first, (reported?.untilMs ?? 0) > time.nowMs]).toEqual([reported?.region, true]);
    }
    if (delivered.ok && second !== undefined) led.set(decided, { region: second, untilMs: time.nowMs + 60_000 });
  }
  return detours;
}

describe("what an origin's 421 said", () => {
  it("leads those requests only that a table leads to the region that it was said for", async () => {
    let detours = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 40 }), async (events) => {
        detours += await live(events);
        // Timers of requests end in a turn of the runtime, which refuses more than 10,000 that wait.
        await new Promise((resolve) => setTimeout(resolve, 1));
      }),
      { numRuns: runs(200) },
    );
    // Words are remembered at all.
    expect(detours).toBeGreaterThan(runs(80));
  });
});
