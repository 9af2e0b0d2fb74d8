import type { Bench, Cell, Section } from "../lib/report.ts";
import { BATCH_IDS, batchesOf, KINDS, type Kind } from "./kinds.ts";
import { startPostgres } from "./postgres.ts";
import { startSqlite } from "./sqlite.ts";

/** IDs in their order of arrival; the last batches are measured. */
export interface Batch {
  readonly ids: readonly string[];
  readonly isMeasured: boolean;
}

/** The index after all batches, and how many of its pages each measured batch changed. */
export interface IndexFigures {
  readonly bytes: number;
  readonly pages: number;
  readonly touched: readonly number[];
}

export interface Engine {
  readonly name: string;
  readonly version: string;
  fill(batches: Iterable<Batch>): Promise<IndexFigures>;
  stop(): Promise<void>;
}

/** The cost of an index of a primary key, by the layout of its IDs. */
export const databasesBench: Bench = {
  name: "databases",
  run: async ({ count = IDS_DEFAULT, progress }) => {
    const sections: Section[] = [];
    for (const start of [startPostgres, startSqlite]) {
      const engine = await start();
      try {
        sections.push(await measure(engine, count, (line) => progress(`${engine.name}: ${line}`)));
      } finally {
        await engine.stop();
      }
    }
    return sections;
  },
};

const IDS_DEFAULT = 200_000;
const MEASURED_BATCHES = 10;
const PROGRESS_BATCHES = 50;
/** Rising IDs touch at most this part of the pages that random ones do. */
const RISING_PART_MAX = 0.1;
/** Below this, an index has too few pages to tell rising IDs from random ones. */
const CHECKED_IDS_MIN = 50_000;

interface Measured {
  readonly kind: Kind;
  readonly figures: IndexFigures;
  readonly touched: number;
}

async function measure(engine: Engine, count: number, say: (line: string) => void): Promise<Section> {
  const results: Measured[] = [];
  for (const kind of KINDS) {
    const figures = await engine.fill(arriving(kind, count, say));
    const touched = figures.touched.reduce((sum, pages) => sum + pages, 0) / figures.touched.length;
    say(`${nameOf(kind)}: ${touched.toFixed(0)} of ${figures.pages} index pages for ${BATCH_IDS} IDs`);
    results.push({ kind, figures, touched });
  }
  const random = results[0]?.touched ?? 0;
  const wrong = results.find(({ kind, touched }) => kind.rises && touched > RISING_PART_MAX * random);
  return {
    title: `Databases: ${engine.name} ${engine.version}`,
    note:
      `The index of a primary key after ${count} IDs, ${BATCH_IDS} a second of four minters. Pages touched: those that a ` +
      `transaction of ${BATCH_IDS} more IDs changes, the mean of the last ${MEASURED_BATCHES}.`,
    columns: ["IDs", "pages touched", "index pages", "bytes for an ID"],
    rows: results.map(({ kind, figures, touched }): Cell[] => [
      nameOf(kind),
      touched.toFixed(0),
      `${figures.pages}`,
      (figures.bytes / count).toFixed(1),
    ]),
    ...(wrong === undefined || count < CHECKED_IDS_MIN
      ? {}
      : { failure: `${nameOf(wrong.kind)} touches ${wrong.touched} pages, random IDs ${random}` }),
  };
}

const nameOf = ({ layout: { name }, order }: Kind): string =>
  order === "bytes" ? name : `${name} as uniqueidentifier`;

function* arriving(kind: Kind, count: number, say: (line: string) => void): Generator<Batch> {
  const last = Math.ceil(count / BATCH_IDS);
  let batch = 0;
  for (const ids of batchesOf(kind, count)) {
    if (batch > 0 && batch % PROGRESS_BATCHES === 0) say(`${nameOf(kind)}: ${batch * BATCH_IDS} of ${count} IDs`);
    batch += 1;
    yield { ids, isMeasured: batch > last - MEASURED_BATCHES };
  }
}
