import type { RequestLine } from "../ports.ts";

/**
 * One data point a request for Workers Analytics Engine, sampled there by entity. The positions never change: queries name
 * them. No path and no ID goes in.
 */
export function analyticsWriter(dataset: Pick<AnalyticsEngineDataset, "writeDataPoint">): (line: RequestLine) => void {
  return (line) =>
    dataset.writeDataPoint({
      indexes: [line.entity ?? ""],
      blobs: [line.entity ?? "", line.region ?? "", line.layout ?? "", line.outcome, line.method],
      doubles: [line.status, line.ms, line.originMs ?? NO_ORIGIN_MS, line.attempts, line.revision ?? 0],
    });
}

/** Stands for "no origin answered": an average must leave it out, and a 0 would be a time. */
const NO_ORIGIN_MS = -1;
