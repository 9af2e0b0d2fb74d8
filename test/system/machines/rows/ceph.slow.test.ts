import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningCeph, startCeph, whyNoCeph } from "../bucket/ceph.ts";
import { type Rig, startRig } from "../rig/rig.ts";
import { rowsOf } from "./rows.ts";
import { RATES, runRow } from "./trial.ts";

/** A cluster on a real S3 store, with real times: two minutes and more. */

const START_DEADLINE_MS = 300_000;
const whyNot = whyNoCeph();
let ceph: RunningCeph | undefined;
let rig: Rig | undefined;
beforeAll(async () => {
  if (whyNot !== undefined) return;
  ceph = await startCeph();
  rig = await startRig({ states: 2, edges: 1, needsCuts: false, timeDivisor: 1, store: ceph.access });
}, START_DEADLINE_MS);
afterAll(async () => {
  await rig?.stop();
  await ceph?.stop();
}, START_DEADLINE_MS);

it.for(rowsOf(["state-killed", "states-upgraded"]))(
  "$title, on Debian's Ceph: nothing is lost, doubled or misrouted",
  async (row, { skip, annotate }) => {
    if (rig === undefined) return skip(whyNot);
    const result = await runRow(rig, row, {
      isShort: false,
      rates: { ...RATES, getsPerSecond: 50, createsPerSecond: 5 },
    });
    const { load, lost, keysWithTwo, misroutes, isHealed, healedMs } = result;
    expect({ ...load.gets.outcomes, misroutes }).toEqual({ 200: load.gets.asked, misroutes: 0 });
    expect({ lost, keysWithTwo, givenUp: load.creates?.givenUp }).toEqual({ lost: [], keysWithTwo: [], givenUp: 0 });
    expect(load.mints?.duplicates).toEqual([]);
    expect(isHealed).toBe(true);
    await annotate(`${load.gets.asked} GETs, ${load.creates?.acknowledged} creates, healed: ${healedMs} ms`);
  },
);
