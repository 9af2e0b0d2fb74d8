import type { BenchOptions, Cell, Section } from "./report.ts";
import { inTurn, ratios, type Spread, spread } from "./sample.ts";
import { column, type Load, processorUsOf, TURN_PER_SAMPLE, type Turn, takeTurn, verdict } from "./turns.ts";

/** A subject that answers requests over the network. */
export interface TurnSubject {
  readonly name: string;
  /** The one that its ratios are to. */
  readonly against: string | undefined;
  readonly port: number;
  readonly pid: number;
  /** Complete HTTP requests, sent in turn. */
  readonly requests: readonly string[];
}

/** Requests a second and processor time of subjects in alternating turns, as ratios. The second one is the first again. */
export async function turnSection(
  title: string,
  subjects: readonly TurnSubject[],
  load: Load,
  connections: number,
  { rounds, sampleMs, progress }: BenchOptions,
): Promise<Section> {
  const durationMs = sampleMs * TURN_PER_SAMPLE;
  const turn = ({ port, pid, requests }: TurnSubject) =>
    takeTurn(load, pid, { port, connections, durationMs, requests });
  progress(`${title}: warming up`);
  for (const subject of subjects) await turn(subject);
  const taken = await inTurn(subjects, rounds, turn, (round) => progress(`${title}: round ${round} of ${rounds}`));
  const turnsOf = (name = "") => taken.get(name) ?? [];
  const spreadOf = (figures: readonly number[]): Spread | null => (figures.length === 0 ? null : spread(figures));
  const rows = subjects.map(({ name, against }): Cell[] => {
    const figures = (read: (turn: Turn) => number | undefined) => spreadOf(column(turnsOf(name), read));
    const ratio = (read: (turn: Turn) => number | undefined) =>
      against === undefined
        ? null
        : spreadOf(ratios(column(turnsOf(name), read), column(turnsOf(against), read)).filter((x) => !Number.isNaN(x)));
    return [
      name,
      ...[(each: Turn) => each.perSecond, processorUsOf].flatMap((read) => [figures(read), ratio(read)]),
      against ?? null,
      figures((each) => each.p50Ms),
      figures((each) => each.p99Ms),
    ];
  });
  const [first, again] = subjects;
  const note =
    `Median (range) over ${rounds} round(s), ${durationMs} ms each, ${connections} connections; ratios to the turn of the row named ` +
    `in the same round.${verdict(turnsOf(again?.name), turnsOf(first?.name), first?.name ?? "")}`;
  const columns = ["what", "requests/s", "x", "processor us", "x", "compared with", "p50 ms", "p99 ms"];
  return { title, note, columns, rows };
}
