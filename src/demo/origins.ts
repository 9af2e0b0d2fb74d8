import { type RunningOrigin, startOrigin } from "./origin.ts";

/** The demo's regions, in the order of their ports. */
export const REGIONS = ["eu", "us", "ap"] as const;

export interface RunningOrigins {
  readonly all: readonly RunningOrigin[];
  /** Throws for a region that the demo does not have. */
  of(region: string): RunningOrigin;
  stop(): Promise<void>;
}

/** Starts one origin for each region on `firstPort` and the ports after it; 0 lets the system choose each. */
export async function startOrigins(firstPort: number): Promise<RunningOrigins> {
  const all: RunningOrigin[] = [];
  const stop = async () => {
    await Promise.all(all.map((origin) => origin.stop()));
  };
  try {
    for (const [index, region] of REGIONS.entries()) {
      all.push(await startOrigin(region, firstPort === 0 ? 0 : firstPort + index));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    all,
    stop,
    of(region) {
      const origin = all.find((candidate) => candidate.region === region);
      if (origin === undefined) throw new RangeError(`the demo has no region ${region}`);
      return origin;
    },
  };
}
