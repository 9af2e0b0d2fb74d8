import { afterAll, beforeAll, expect, it } from "vitest";
import { whyNoNamespaces } from "../hosts/namespaces.ts";
import { type Rig, startRig } from "../rig/rig.ts";
import { rowsOf } from "./rows.ts";
import { runRow, SHORT } from "./trial.ts";

/**
 * Failures of machines under load, with shortened times. All of them, with real times: `npm run bench -- machines`. Without
 * root the hosts are addresses of loopback, and rows that cut hosts apart are skipped.
 */

const RATES = { getsPerSecond: 50, createsPerSecond: 8, mintsPerSecond: 3, publicationsPerSecond: 0.5 };
const DEADLINE_MS = 240_000;
const whyNot = whyNoNamespaces();
let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ states: 3, edges: 2, needsCuts: whyNot === undefined, ...SHORT });
}, DEADLINE_MS);
afterAll(() => rig?.stop());

it.for(rowsOf(["state-killed", "bucket-500", "owner-cut-off", "edge-cold", "states-upgraded", "edges-upgraded"]))(
  "$title: nothing is lost, doubled or misrouted, and proxied requests know nothing of it",
  { timeout: DEADLINE_MS },
  async (row, { skip, annotate }) => {
    if (row.needs === "cuts" && rig.cuts === undefined) return skip(whyNot);
    const { load, lost, keysWithTwo, misroutes, isHealed, healedMs, notes } = await runRow(rig, row, {
      isShort: true,
      rates: RATES,
    });
    const { gets, creates, mints, publications } = load;
    expect({ ...gets.outcomes, misroutes: gets.misroutes + misroutes }).toEqual({ 200: gets.asked, misroutes: 0 });
    expect({ lost, keysWithTwo, givenUp: creates?.givenUp }).toEqual({ lost: [], keysWithTwo: [], givenUp: 0 });
    expect(mints?.duplicates).toEqual([]);
    expect(publications?.backwards).toBe(0);
    expect(isHealed).toBe(true);
    // The load was there.
    expect(gets.asked).toBeGreaterThan(20);
    expect(creates?.acknowledged).toBeGreaterThan(5);
    await annotate(`${gets.asked} GETs, ${creates?.acknowledged} creates, healed: ${healedMs} ms; ${notes.join("; ")}`);
  },
);
