import type { Inputs } from "./inputs.ts";
import { type Location, sumOver } from "./locations.ts";
import { newValueReads, startsPerSecond } from "./renewal.ts";
import { chanceOfMint as chanceOfLook } from "./simulated-blocks.ts";

/** What isolates read of packs: a header when they take up a table, and a page when a request first looks into it. */

export const packPages = ({ packRanges, rangeOctets, pageOctets }: Inputs): number =>
  Math.ceil((packRanges * rangeOctets) / pageOctets);

/** Pages of a pack, and its header. */
export const packParts = (inputs: Inputs): number => 1 + packPages(inputs);

/** Requests of an isolate that look into one page, each second. */
const looksPerSecond = (inputs: Inputs, { isolateRequestsPerSecond }: Location): number =>
  (isolateRequestsPerSecond * inputs.packShare) / packPages(inputs);

/** Reads of KV for a new pack: its header as any new value, and a page after the wait for a request that looks into it. */
export const packReads = (inputs: Inputs, locations: readonly Location[]): number =>
  newValueReads(inputs, locations) +
  packPages(inputs) *
    sumOver(locations, (at) => {
      const cycleSeconds = inputs.refreshSeconds + 1 / at.isolateRequestsPerSecond;
      return laterReads(at.isolates, inputs.bodyFillSeconds, cycleSeconds, 1 / looksPerSecond(inputs, at));
    });

/** Steps of the shorter of the two times that decide. */
const STEPS = 10;

/**
 * Reads by a location of what its isolates ask for at a uniform time of a cycle and after an exponential wait: all that ask
 * within `fillSeconds` after the first. Of n that ask by F, the first one does so at t with n F′(t) (1 − F(t))^(n − 1), and then
 * each of the others with (F(t + w) − F(t)) / (1 − F(t)) before its answer is in the cache.
 */
export function laterReads(isolates: number, fillSeconds: number, cycleSeconds: number, waitSeconds: number): number {
  const step = Math.min(fillSeconds, waitSeconds) / STEPS;
  const share = (seconds: number): number => askedBy(seconds, cycleSeconds, waitSeconds);
  let reads = 0;
  let left = 1;
  for (let at = 0; left > 1e-9; at++) {
    const [from, to] = [share(at * step), share((at + 1) * step)];
    const next = (1 - to) ** isolates;
    const others = from < 1 ? ((isolates - 1) * (share(at * step + fillSeconds) - from)) / (1 - from) : 0;
    reads += (left - next) * (1 + others);
    left = next;
  }
  return reads;
}

/** The share that has asked by then. */
function askedBy(seconds: number, cycleSeconds: number, waitSeconds: number): number {
  const beyond = Math.max(0, seconds - cycleSeconds);
  const waiting = waitSeconds * (Math.exp(-beyond / waitSeconds) - Math.exp(-seconds / waitSeconds));
  return (Math.min(seconds, cycleSeconds) - waiting) / cycleSeconds;
}

/** Headers and pages that isolates load, from wherever, because they have begun: each page with the chance that a life looks into it. */
export const coldPartsPerSecond = (inputs: Inputs, locations: readonly Location[]): number =>
  sumOver(locations, (at) => {
    const chance = chanceOfLook(looksPerSecond(inputs, at), inputs.isolateLifeSeconds);
    return startsPerSecond(inputs, [at]) * (1 + packPages(inputs) * chance);
  });
