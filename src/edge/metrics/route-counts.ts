import type { RouteRequests } from "../../formats/console-api.ts";
import { pointerTo } from "../../routing/schema/faults.ts";
import { memberOf } from "../../routing/schema/member.ts";
import type { Rule } from "../../routing/table.ts";
import { OTHER } from "./catalogue.ts";
import { ROUTES_SHOWN, type RouteCount } from "./request-shares.ts";

/** Requests by the rule that decided them. Pure. */

/** Rules of all revisions in one step: a table in force and a canary fit. */
const COUNTS_MAX = 512;

/** Rules of one answer: those of the newest revisions. */
const READ_MAX = 1_000;

/** No single rule decided. */
const NONE = "(none)";

/** Sums by revision and pointer. Whatever finds no room is summed without a revision, so that the total stays correct. */
export class RouteCounts {
  readonly #sums: Map<string, number>;

  constructor(entries: Iterable<StoredCount> = []) {
    this.#sums = new Map(Array.from(entries, ([revision, pointer, requests]) => [keyOf(revision, pointer), requests]));
  }

  get size(): number {
    return this.#sums.size;
  }

  add([revision, rule, requests]: RouteCount): void {
    if (rule === "other") this.#add(NO_ROOM, requests);
    else this.#add(keyOf(revision ?? null, pointerOf(rule)), requests);
  }

  addAll(other: RouteCounts): void {
    for (const [key, requests] of other.#sums) this.#add(key, requests);
  }

  stored(): readonly StoredCount[] {
    return Array.from(this.#sums, ([key, requests]) => [...partsOf(key), requests]);
  }

  #add(key: string, requests: number): void {
    const kept = this.#sums.has(key) || this.#sums.size < COUNTS_MAX ? key : NO_ROOM;
    this.#sums.set(kept, (this.#sums.get(kept) ?? 0) + requests);
  }
}

/** Members of the stored form never change. */
export type StoredCount = readonly [revision: number | null, pointer: string, requests: number];

/** The sums of steps, most requests first. */
export function sumOfCounts(counts: Iterable<RouteCounts>): readonly RouteRequests[] {
  const sums = new Map<string, number>();
  for (const one of counts)
    for (const [revision, pointer, requests] of one.stored()) {
      const key = keyOf(revision, pointer);
      sums.set(key, (sums.get(key) ?? 0) + requests);
    }
  const unplaced = sums.get(NO_ROOM) ?? 0;
  sums.delete(NO_ROOM);
  const all = Array.from(sums, ([key, requests]) => {
    const [revision, pointer] = partsOf(key);
    return { revision, pointer, requests };
  }).toSorted((a, b) => (b.revision ?? 0) - (a.revision ?? 0) || b.requests - a.requests);
  const rest = all.slice(READ_MAX).reduce((sum, { requests }) => sum + requests, unplaced);
  const others = rest === 0 ? [] : [{ revision: null, pointer: OTHER, requests: rest }];
  return [...all.slice(0, READ_MAX), ...others].toSorted((a, b) => b.requests - a.requests);
}

/** The place of a rule in the table, as far as it is counted. Overrides are counted together: their keys are IDs. */
function pointerOf(rule: Rule | undefined): string {
  if (rule === undefined) return NONE;
  switch (rule.kind) {
    case "route":
      return rule.index < ROUTES_SHOWN ? pointerTo(["routes", rule.index]) : OTHER;
    case "canary":
      return rule.index < ROUTES_SHOWN ? pointerTo(["routes", rule.index, "canary"]) : OTHER;
    case "moving":
      return pointerTo(["moves"]);
    case "source":
      return pointerTo(["withoutId"]);
    default: {
      // The rule of a feature names its entry by the member of the table that has it.
      const entry = memberOf(rule, rule.kind);
      return pointerTo(typeof entry === "string" ? [rule.kind, entry] : [rule.kind]);
    }
  }
}

const keyOf = (revision: number | null, pointer: string): string => `${revision ?? ""} ${pointer}`;

function partsOf(key: string): readonly [revision: number | null, pointer: string] {
  const space = key.indexOf(" ");
  return [space === 0 ? null : Number(key.slice(0, space)), key.slice(space + 1)];
}

const NO_ROOM = keyOf(null, OTHER);
