import type { LoadFigures, LoadRequest } from "../gateway/load.process.ts";
import { processorMs } from "./process-usage.ts";
import { startClients } from "./processes.ts";
import { ratios, spread } from "./sample.ts";

/** Figures of one turn. */
export interface Turn {
  readonly perSecond: number;
  readonly processorUs: number | undefined;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A turn spans some garbage collections, which affect a gateway's throughput. */
export const TURN_PER_SAMPLE = 25;

export const startLoad = () =>
  startClients<LoadRequest, LoadFigures>(new URL("../gateway/load.process.ts", import.meta.url));
export type Load = ReturnType<typeof startLoad>;

/** `pid`: of the process that answers. */
export async function takeTurn(load: Load, pid: number, request: LoadRequest): Promise<Turn> {
  const before = processorMs(pid);
  const { responses, tookMs, p50Ms, p99Ms } = await load.run(request);
  const after = processorMs(pid);
  const processorUs = before === undefined || after === undefined ? undefined : ((after - before) * 1000) / responses;
  return { perSecond: (responses / tookMs) * 1000, processorUs, p50Ms, p99Ms };
}

export const column = <Figure>(turns: readonly Turn[], read: (turn: Turn) => Figure | undefined) =>
  turns.map(read).filter((figure) => figure !== undefined);
export const processorUsOf = (turn: Turn) => turn.processorUs;

/** Ratios to the same round; none if the system does not report the figure. */
export const ratiosOf = (
  own: readonly Turn[] = [],
  reference: readonly Turn[] = [],
  read: (turn: Turn) => number | undefined,
): number[] => ratios(column(own, read), column(reference, read));

/** The median of processor time of the same against itself differs by no more on a quiet machine. */
const NOISE_MAX = 0.05;

/** The reference against itself: what differs less than that is no finding. */
export function verdict(again: readonly Turn[] | undefined, reference: readonly Turn[], name: string): string {
  if (again === undefined) return "";
  const { median } = spread(ratiosOf(again, reference, processorUsOf));
  if (!(Math.abs(median - 1) > NOISE_MAX)) return "";
  return ` THE MACHINE IS TOO BUSY for a verdict: ${name} takes ${median.toFixed(2)} of its own processor time.`;
}
