import { effect, signal } from "@preact/signals";
import type { RegionHealth } from "../../formats/region-state.ts";
import { incidentsOf, type Trouble, troubleOf } from "../overview/incident.ts";
import { call, hasExpired, inOrder, isReachable } from "./api.ts";
import { gatewayNow } from "./clock.ts";
import { session } from "./session.ts";

/** The worst that goes wrong now, for the title of the tab: it is seen from other tabs. */
export const trouble = signal<Trouble>({ worst: undefined, words: "" });

const AGAIN_MS = 10_000;

let toldAtMs = 0;

/** By a page that knows it sooner: while it does, nothing else asks. */
export function setTrouble(now: Trouble): void {
  toldAtMs = gatewayNow();
  change(now);
}

function change(now: Trouble): void {
  const { worst, words } = trouble.peek();
  if (worst !== now.worst || words !== now.words) trouble.value = now;
}

export function watchTrouble(): void {
  effect(() => {
    if (!session.value || hasExpired.value || !isReachable.value) return undefined;
    void ask();
    const timer = setInterval(() => {
      if (gatewayNow() - toldAtMs > AGAIN_MS) void ask();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  });
}

const turn = inOrder();

async function ask(): Promise<void> {
  const isNews = turn();
  const answer = await call<{ readonly regions: Readonly<Record<string, RegionHealth>> }>("/-/regions");
  if (!isNews()) return;
  // A gateway that cannot say how its regions are is not called well. One out of reach has a title of its own.
  const unknown: Trouble = { worst: "unknown", words: "Regions not known" };
  if (answer.ok) change(troubleOf(incidentsOf({ regions: answer.value.regions })));
  else if (answer.problem.status >= 500) change(unknown);
}
