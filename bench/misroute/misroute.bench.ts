import type { RandomWords } from "../../src/ids/index.ts";
import { type CompiledTable, type LayoutHint, resolveAny, resolvePath } from "../../src/routing/index.ts";
import { randomBelow, seededWords } from "../lib/random.ts";
import type { Bench, Section } from "../lib/report.ts";
import { onlyRegion, type SlowRoutes, slowByPacksAndSplits, slowByRegions, slowReadings } from "./oracle.ts";
import { NOW_MS, SUBJECTS, type Subject } from "./subjects.ts";
import { byPacksAndSplits, byRegions, type Plan, patternTable, separateTable, sharedTable } from "./tables.ts";
import { type Resolution, Tallies } from "./tallies.ts";
import { mintText, mutateText, randomText } from "./texts.ts";

/** Tests whether any text is routed to a region that its layout does not name. */
export const misrouteBench: Bench = {
  name: "misroute",
  run: async ({ count = TEXTS_DEFAULT, progress }) => [
    tryTexts(BY_REGIONS, count, progress),
    tryTexts(BY_PACKS_AND_SPLITS, count, progress),
  ],
};

/** A kind of tables, and the slow resolver's routes for them. */
export interface Scheme {
  readonly title: string;
  /** A table with paths `/<name>/:id`, one per layout. */
  readonly separate: () => CompiledTable;
  readonly plan: Plan;
  readonly slow: SlowRoutes;
}

export const BY_REGIONS: Scheme = {
  title: "regions and canaries, an entity for each layout",
  separate: separateTable,
  plan: byRegions,
  slow: slowByRegions,
};

export const BY_PACKS_AND_SPLITS: Scheme = {
  title: "packs and splits, patterns that name the layout",
  separate: patternTable,
  plan: byPacksAndSplits,
  slow: slowByPacksAndSplits,
};

/** Per scheme. */
const TEXTS_DEFAULT = 10_000_000;
const PROGRESS_STEPS = 20;
/** Minted in a layout that the table does not enable. An enabled layout may still parse the text. */
const FOREIGN = "foreign";
/** Rejecting a text that a dozen layouts can parse takes a hundred times as long as routing one: the error says why. */
const ANY_ONE_IN = 16;

/** The resolvers under test. Tests inject wrong ones. */
export interface Resolvers {
  readonly any: typeof resolveAny;
  readonly path: typeof resolvePath;
}

/** A text, its source, and the expected region on the path of its subject. */
interface Trial {
  readonly subject: Subject;
  /** The layout that minted it, `mutated` or `random`. */
  readonly source: string;
  readonly text: string;
  readonly expected: string | undefined;
}

export function tryTexts(
  { title, separate: makeSeparate, plan, slow }: Scheme,
  count: number,
  progress: (line: string) => void,
  { any, path }: Resolvers = { any: resolveAny, path: resolvePath },
): Section {
  const random = seededWords(count);
  const separate = makeSeparate();
  const shared = sharedTable(plan);
  const tallies = new Tallies();
  const regionAmong = (subjects: readonly Subject[], text: string) =>
    onlyRegion(slowReadings(subjects, text, slow), text);
  const byPath = (table: CompiledTable, wholePath: string, hint?: LayoutHint): Resolution => {
    const match = table.paths.match(wholePath);
    return match === undefined
      ? { ok: false, error: { reason: "unrouted-path", path: wholePath } }
      : path(table, match, wholePath, NOW_MS, hint);
  };
  for (let index = 0; index < count; index++) {
    const { subject, source, text, expected } = trialOf(index, random, slow);
    tallies.record(source, text, byPath(separate, `/${subject.name}/${text}`), expected);
    const region = regionAmong(shared.subjects, text);
    const sharedSource = source === subject.name && !shared.subjects.includes(subject) ? FOREIGN : source;
    tallies.record(sharedSource, text, byPath(shared.table, `/things/${text}`), region);
    if (randomBelow(random, ANY_ONE_IN) === 0) {
      tallies.record(sharedSource, text, any(shared.table, text, NOW_MS), region);
      tallies.record(source, text, any(separate, text, NOW_MS), regionAmong(SUBJECTS, text));
      const named = SUBJECTS[randomBelow(random, 2 * SUBJECTS.length)] ?? subject;
      const hinted = byPath(separate, `/${subject.name}/${text}`, { enabled: separate.layouts.get(named.name) });
      tallies.record(source, text, hinted, named === subject ? expected : undefined);
    }
    if ((index + 1) % Math.ceil(count / PROGRESS_STEPS) === 0) {
      progress(`Misroute, ${title}: ${index + 1} of ${count} texts, ${tallies.misrouted} misrouted`);
    }
  }
  return {
    title: `Misroute: random and minted texts over all layouts; ${title}`,
    note:
      `${count} texts, each on its layout's path and on the path of an entity with ${shared.subjects.length} layouts. One in ` +
      `${ANY_ONE_IN} also without a path, with ${shared.subjects.length} and with all ${SUBJECTS.length} layouts enabled, ` +
      "and on its layout's path with a layout hint.",
    ...tallies.report(),
  };
}

/** Half of the texts are minted, a quarter mutated, a quarter random. */
function trialOf(index: number, random: RandomWords, slow: SlowRoutes): Trial {
  const subject = SUBJECTS[randomBelow(random, SUBJECTS.length)] as Subject;
  const unminted = (source: string, text: string): Trial => ({
    subject,
    source,
    text,
    expected: onlyRegion(slowReadings([subject], text, slow), text),
  });
  if (index % 4 === 3) return unminted("random", randomText(subject, random));
  const minted = mintText(subject, random);
  if (index % 4 === 2) return unminted("mutated", mutateText(subject, minted, random));
  const expected = slow(subject, minted.words, minted.mintedMs, minted.key);
  return { subject, source: subject.name, text: minted.text, expected };
}
