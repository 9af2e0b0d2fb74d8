import type { Section } from "./report.ts";

/** How long to measure, and where to say how far it is. */
export interface BenchOptions {
  readonly rounds: number;
  /** How long one candidate is timed in one round. Candidates that answer over the network are timed for longer. */
  readonly sampleMs: number;
  /** How many values a part that draws at random tries; absent: its own number. */
  readonly count?: number;
  readonly progress: (line: string) => void;
}

/** One part of the benchmark, by the name that the command line gives it. */
export interface Bench {
  readonly name: string;
  readonly run: (options: BenchOptions) => Promise<readonly Section[]>;
}
