import type { RequestLine } from "../../ports/gateway.ts";
import type { Rule } from "../../routing/table.ts";

/** Requests of one isolate, by the revision of the table and its rule. `other`: those for which it had no room. */
export type RouteCount = readonly [revision: number | undefined, rule: Rule | "other" | undefined, requests: number];

/** One request, as isolates report it and as it is stored: members may be added, none may change. */
export interface SampledRequest {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly region: string | undefined;
  readonly status: number;
}

/** By problem. */
export type SampledProblems = readonly (readonly [slug: string, requests: readonly SampledRequest[]])[];

/** Routes by their place in the table that are counted one by one. So each of their figures is whole. */
export const ROUTES_SHOWN = 200;

/** Stands for all routes behind them. */
const BEYOND: Rule = { kind: "route", index: ROUTES_SHOWN };

/** Rules of one revision, and revisions, between two reports. Beyond, requests are counted together. */
const RULES_MAX = 1_000;
const REVISIONS_MAX = 8;

/** Stands for all revisions behind them. */
const FURTHER = -1;

export const SAMPLES_MAX = 5;

/** UTF-16 units. */
const PATH_LENGTH_MAX = 200;

type Cells = Map<Rule | "other" | undefined, { count: number }>;

/** An isolate's requests by the rule that decided them, and those with a problem, since its last report. */
export class RequestShares {
  readonly #keepsSamples: boolean;
  #revisions = new Map<number | undefined, Cells>();
  /** Those of the last request: most are decided by the same revision, and cost one look-up. */
  #revision: number | undefined;
  #cells: Cells | undefined;
  #problems = new Map<string, SampledRequest[]>();

  constructor(keepsSamples: boolean) {
    this.#keepsSamples = keepsSamples;
  }

  add(line: RequestLine): void {
    const { revision, rule, outcome } = line;
    const cells = revision === this.#revision && this.#cells !== undefined ? this.#cells : this.#choose(revision);
    const key = rule !== undefined && "index" in rule && rule.index >= ROUTES_SHOWN ? BEYOND : rule;
    (cells.get(key) ?? cellOf(cells, key)).count++;
    if (outcome !== "answered" && this.#keepsSamples) this.#keep(line);
  }

  drain() {
    const routes = Array.from(this.#revisions).flatMap(([revision, cells]) =>
      Array.from(cells, ([rule, { count }]): RouteCount => [revision, revision === FURTHER ? "other" : rule, count]),
    );
    const problems = [...this.#problems];
    this.#revisions = new Map();
    this.#problems = new Map();
    this.#cells = undefined;
    return { routes, problems };
  }

  #choose(revision: number | undefined): Cells {
    const isKept = this.#revisions.has(revision) || this.#revisions.size < REVISIONS_MAX;
    const own = isKept ? revision : FURTHER;
    const cells = this.#revisions.get(own) ?? new Map();
    this.#revisions.set(own, cells);
    this.#revision = revision;
    this.#cells = cells;
    return cells;
  }

  #keep({ outcome, atMs, method, path, region, status }: RequestLine): void {
    const kept = this.#problems.get(outcome) ?? [];
    const shown = path.length > PATH_LENGTH_MAX ? `${path.slice(0, PATH_LENGTH_MAX)}…` : path;
    kept.push({ atMs, method, path: shown, region, status });
    if (kept.length > SAMPLES_MAX) kept.shift();
    this.#problems.set(outcome, kept);
  }
}

function cellOf(cells: Cells, rule: Rule | undefined): { count: number } {
  const key = cells.size < RULES_MAX ? rule : "other";
  const cell = cells.get(key) ?? { count: 0 };
  cells.set(key, cell);
  return cell;
}
