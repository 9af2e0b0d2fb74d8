import type { RandomWords } from "../src/ids/index.ts";
import { type CompiledTable, type LayoutHint, resolveAny, resolvePath } from "../src/routing/index.ts";
import type { Bench } from "./bench.ts";
import { onlyRegion, type SlowRoutes, slowByPacksAndSplits, slowByRegions, slowReadings } from "./misroute-oracle.ts";
import { NOW_MS, SUBJECTS, type Subject } from "./misroute-subjects.ts";
import { apartTable, byPacksAndSplits, byRegions, type Plan, patternTable, togetherTable } from "./misroute-table.ts";
import { type Resolution, Tallies } from "./misroute-tallies.ts";
import { mintText, mutateText, randomText } from "./misroute-texts.ts";
import { randomBelow, seededWords } from "./random-words.ts";
import type { Section } from "./report.ts";

/** Whether any text is sent to a region that its own layout does not name. */
export const misrouteBench: Bench = {
  name: "misroute",
  run: async ({ count = TEXTS_DEFAULT, progress }) => [
    tryTexts(BY_REGIONS, count, progress),
    tryTexts(BY_PACKS_AND_SPLITS, count, progress),
  ],
};

/** Tables of one kind, and how the slow resolver reads them. */
export interface Ways {
  readonly title: string;
  /** Whose paths `/<name>/:id` are of one layout each. */
  readonly apart: () => CompiledTable;
  readonly plan: Plan;
  readonly slow: SlowRoutes;
}

export const BY_REGIONS: Ways = {
  title: "regions and canaries, an entity for each layout",
  apart: apartTable,
  plan: byRegions,
  slow: slowByRegions,
};

export const BY_PACKS_AND_SPLITS: Ways = {
  title: "packs and splits, patterns that name the layout",
  apart: patternTable,
  plan: byPacksAndSplits,
  slow: slowByPacksAndSplits,
};

/** For each kind of tables. */
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
  { title, apart: apartTableOf, plan, slow }: Ways,
  count: number,
  progress: (line: string) => void,
  { any, path }: Resolvers = { any: resolveAny, path: resolvePath },
): Section {
  const random = seededWords(count);
  const apart = apartTableOf();
  const together = togetherTable(plan);
  const tallies = new Tallies();
  const regionAmong = (subjects: readonly Subject[], text: string) =>
    onlyRegion(slowReadings(subjects, text, slow), text);
  const byPath = (table: CompiledTable, wholePath: string, said?: LayoutHint): Resolution => {
    const match = table.paths.match(wholePath);
    return match === undefined
      ? { ok: false, error: { reason: "unrouted-path", path: wholePath } }
      : path(table, match, wholePath, NOW_MS, said);
  };
  for (let index = 0; index < count; index++) {
    const { subject, source, text, ownRegion } = trialOf(index, random, slow);
    tallies.judge(source, text, byPath(apart, `/${subject.name}/${text}`), ownRegion);
    const region = regionAmong(together.subjects, text);
    const sourceThere = source === subject.name && !together.subjects.includes(subject) ? FOREIGN : source;
    tallies.judge(sourceThere, text, byPath(together.table, `/things/${text}`), region);
    if (randomBelow(random, ANY_ONE_IN) === 0) {
      tallies.judge(sourceThere, text, any(together.table, text, NOW_MS), region);
      tallies.judge(source, text, any(apart, text, NOW_MS), regionAmong(SUBJECTS, text));
      const said = SUBJECTS[randomBelow(random, 2 * SUBJECTS.length)] ?? subject;
      const saidThere = byPath(apart, `/${subject.name}/${text}`, { enabled: apart.layouts.get(said.name) });
      tallies.judge(source, text, saidThere, said === subject ? ownRegion : undefined);
    }
    if ((index + 1) % Math.ceil(count / PROGRESS_STEPS) === 0) {
      progress(`Misroute, ${title}: ${index + 1} of ${count} texts, ${tallies.misrouted} misrouted`);
    }
  }
  return {
    title: `Misroute: random and minted texts over all layouts; ${title}`,
    note:
      `${count} texts, each on its layout's own path and on the path of an entity with ${together.subjects.length} layouts; one in ` +
      `${ANY_ONE_IN} also without a path, where ${together.subjects.length} and where all ${SUBJECTS.length} layouts are enabled, ` +
      "and on its own path with a request that names a layout.",
    ...tallies.report(),
  };
}

/** Half of the texts are minted, a quarter are minted and then mutated, and a quarter are random. */
function trialOf(index: number, random: RandomWords, slow: SlowRoutes): Trial {
  const subject = SUBJECTS[randomBelow(random, SUBJECTS.length)] as Subject;
  const strange = (source: string, text: string): Trial => ({
    subject,
    source,
    text,
    ownRegion: onlyRegion(slowReadings([subject], text, slow), text),
  });
  if (index % 4 === 3) return strange("random", randomText(subject, random));
  const minted = mintText(subject, random);
  if (index % 4 === 2) return strange("mutated", mutateText(subject, minted, random));
  const ownRegion = slow(subject, minted.words, minted.mintedMs, minted.key);
  return { subject, source: subject.name, text: minted.text, ownRegion };
}
