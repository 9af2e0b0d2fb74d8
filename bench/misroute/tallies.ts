import type { Result } from "../../src/ids/index.ts";
import type { IdDecision, RoutingError } from "../../src/routing/index.ts";
import type { Section } from "../lib/report.ts";

export type Resolution = Result<IdDecision, RoutingError>;

type Outcome = "routed" | RoutingError["reason"] | "misrouted" | "wrongly rejected";

/** In report order. */
const OUTCOMES: Readonly<Record<Outcome, string>> = {
  routed: "routed",
  "ambiguous-id": "ambiguous",
  "unassigned-key": "unassigned",
  "unknown-id": "unknown",
  "wrong-entity": "wrong entity",
  "layout-mismatch": "layout mismatch",
  "malformed-id": "malformed",
  "entity-gone": "gone",
  "unrouted-path": "no path",
  "table-unavailable": "page not loaded",
  "directory-unavailable": "not looked up",
  "unknown-key": "unknown key",
  "malformed-key": "malformed key",
  misrouted: "misrouted",
  "wrongly rejected": "wrongly rejected",
};

/** Counts outcomes by the source of the text. */
export class Tallies {
  readonly #bySource = new Map<string, Map<Outcome, number>>();
  #failure: string | undefined;
  misrouted = 0;

  /** `expected`: the region; `undefined` if the text must be rejected. */
  record(source: string, text: string, resolution: Resolution, expected: string | undefined): void {
    const region = resolution.ok ? resolution.value.target.region.name : undefined;
    const outcome =
      region === expected ? outcomeOf(resolution) : region === undefined ? "wrongly rejected" : "misrouted";
    const own = this.#bySource.get(source) ?? new Map<Outcome, number>();
    this.#bySource.set(source, own.set(outcome, (own.get(outcome) ?? 0) + 1));
    if (region === expected) return;
    if (region !== undefined) this.misrouted += 1;
    const actual = region ?? "nowhere";
    const wanted = expected ?? "nowhere";
    this.#failure ??= `${JSON.stringify(text)} (${source}) was routed to ${actual}, expected ${wanted}`;
  }

  report(): Pick<Section, "columns" | "rows" | "failure"> {
    const outcomes = Object.keys(OUTCOMES) as Outcome[];
    const rowOf = (name: string, counts: ReadonlyMap<Outcome, number>) => [
      name,
      ...outcomes.map((outcome) => String(counts.get(outcome) ?? 0)),
    ];
    const rows = [...this.#bySource]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, counts]) => rowOf(name, counts));
    const all = new Map(
      outcomes.map((outcome) => [
        outcome,
        [...this.#bySource.values()].reduce((sum, counts) => sum + (counts.get(outcome) ?? 0), 0),
      ]),
    );
    return {
      columns: ["texts", ...Object.values(OUTCOMES)],
      rows: [...rows, rowOf("all", all)],
      ...(this.#failure === undefined ? {} : { failure: this.#failure }),
    };
  }
}

const outcomeOf = (resolution: Resolution): Outcome => (resolution.ok ? "routed" : resolution.error.reason);
