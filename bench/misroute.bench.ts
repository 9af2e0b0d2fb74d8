import type { RandomWords } from "../src/ids/index.ts";
import { type CompiledTable, resolveAny, resolvePath } from "../src/routing/index.ts";
import type { Bench } from "./bench.ts";
import { onlyRegion, slowReadings } from "./misroute-oracle.ts";
import { apartTable, NOW_MS, SUBJECTS, type Subject, togetherTable } from "./misroute-table.ts";
import { type Resolution, Tallies } from "./misroute-tallies.ts";
import { mintText, mutateText, randomText } from "./misroute-texts.ts";
import { randomBelow, seededWords } from "./random-words.ts";
import type { Section } from "./report.ts";

/** Whether any text is sent to a region that its own layout does not name. */
export const misrouteBench: Bench = {
  name: "misroute",
  run: async ({ count = TEXTS_DEFAULT, progress }) => [tryTexts(count, progress)],
};

const TEXTS_DEFAULT = 10_000_000;
const PROGRESS_STEPS = 20;
/** Minted in a layout that the table does not enable; another that it does enable may read the text as its own. */
const FOREIGN = "foreign";
/** To refuse a text that a dozen layouts can read takes a hundred times as long as to route one: the answer says why. */
const ANY_ONE_IN = 16;

/** What resolves requests; a test hands in one that is wrong. */
export interface Resolvers {
  readonly any: typeof resolveAny;
  readonly path: typeof resolvePath;
}

/** A text, where it is from, and where the path of the subject's own entity must lead. */
interface Trial {
  readonly subject: Subject;
  /** The layout that minted it, or `mutated`, or `random`. */
  readonly source: string;
  readonly text: string;
  readonly ownRegion: string | undefined;
}

export function tryTexts(
  count: number,
  progress: (line: string) => void,
  { any, path }: Resolvers = { any: resolveAny, path: resolvePath },
): Section {
  const random = seededWords(count);
  const apart = apartTable();
  const together = togetherTable();
  const tallies = new Tallies();
  const byPath = (table: CompiledTable, wholePath: string): Resolution => {
    const match = table.paths.match(wholePath);
    return match === undefined
      ? { ok: false, error: { reason: "unrouted-path", path: wholePath } }
      : path(table, match, wholePath, NOW_MS);
  };
  for (let index = 0; index < count; index++) {
    const { subject, source, text, ownRegion } = trialOf(index, random);
    tallies.judge(source, text, byPath(apart, `/${subject.name}/${text}`), ownRegion);
    const region = onlyRegion(slowReadings(together.subjects, text), text);
    const sourceThere = source === subject.name && !together.subjects.includes(subject) ? FOREIGN : source;
    tallies.judge(sourceThere, text, byPath(together.table, `/things/${text}`), region);
    if (randomBelow(random, ANY_ONE_IN) === 0) {
      tallies.judge(sourceThere, text, any(together.table, text, NOW_MS), region);
      tallies.judge(source, text, any(apart, text, NOW_MS), onlyRegion(slowReadings(SUBJECTS, text), text));
    }
    if ((index + 1) % Math.ceil(count / PROGRESS_STEPS) === 0) {
      progress(`Misroute: ${index + 1} of ${count} texts, ${tallies.misrouted} misrouted`);
    }
  }
  return {
    title: "Misroute: random and minted texts over all layouts",
    note:
      `${count} texts, each on its layout's own path and on the path of an entity with ${together.subjects.length} layouts; one in ` +
      `${ANY_ONE_IN} also without a path, where ${together.subjects.length} and where all ${SUBJECTS.length} layouts are enabled.`,
    ...tallies.report(),
  };
}

/** Half of the texts are minted, a quarter are minted and then mutated, and a quarter are random. */
function trialOf(index: number, random: RandomWords): Trial {
  const subject = SUBJECTS[randomBelow(random, SUBJECTS.length)] as Subject;
  if (index % 4 === 3) return strangeTrial(subject, "random", randomText(subject, random));
  const minted = mintText(subject, random);
  if (index % 4 === 2) return strangeTrial(subject, "mutated", mutateText(subject, minted, random));
  return { subject, source: subject.name, text: minted.text, ownRegion: minted.region };
}

const strangeTrial = (subject: Subject, source: string, text: string): Trial => ({
  subject,
  source,
  text,
  ownRegion: onlyRegion(slowReadings([subject], text), text),
});
