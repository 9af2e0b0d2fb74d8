import { judgeCanary } from "../../../src/formats/canary-verdict.ts";
import type { HistorySeries, MetricsHistory } from "../../../src/formats/console-api.ts";

/** Figures as the gateway sends them, for tests of what the page makes of them. */

const NO_CLASSES = { "2xx": 0, "3xx": 0, "404": 0, "421": 0, "4xx": 0, "5xx": 0, elsewhere: 0, left: 0 };
const NO_FIGURES = { requests: 0, errors: 0, classes: NO_CLASSES, p50: null, p99: null };

export const seriesOf = (
  requests: readonly number[],
  errors: readonly number[] = requests.map(() => 0),
  p99: readonly (number | null)[] = requests.map(() => null),
): HistorySeries => {
  const none = requests.map(() => 0);
  return { requests, errors, refused: none, faults: none, busyMs: none, p50: p99, p99, originP50: p99, originP99: p99 };
};

/** Steps of ten seconds from the start of 2026 on. `none`: requests that went to no region. */
export function figuresOf(
  regions: Readonly<Record<string, HistorySeries>>,
  more: { readonly problems?: MetricsHistory["problems"]; readonly none?: HistorySeries } = {},
): MetricsHistory {
  const all = [...Object.values(regions), ...(more.none ? [more.none] : [])];
  const steps = all[0]?.requests.length ?? 0;
  const sum = (of: "requests" | "errors") =>
    Array.from({ length: steps }, (_, at) => all.reduce((total, series) => total + (series[of][at] ?? 0), 0));
  return {
    source: "all",
    span: "hour",
    stepSeconds: 10,
    since: null,
    at: Array.from({ length: steps }, (_, at) => START_SECONDS + at * 10),
    total: seriesOf(sum("requests"), sum("errors")),
    regions,
    problems: more.problems ?? {},
    tables: { stable: NO_FIGURES, canary: NO_FIGURES },
    canaryVerdict: judgeCanary(NO_CLASSES, NO_CLASSES),
    isolates: { count: 0, shown: [] },
  };
}

export const START_SECONDS = Date.UTC(2026, 0, 1) / 1000;

/** As many steps of one count, then as many of another. */
export const steps = (...parts: readonly (readonly [times: number, count: number])[]): readonly number[] =>
  parts.flatMap(([times, count]) => Array.from({ length: times }, () => count));
