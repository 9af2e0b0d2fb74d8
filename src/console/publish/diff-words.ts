import { UNDONE } from "../../formats/console/diff.ts";
import type { KeyChange, KeyOutcome } from "../../routing/diff/key-changes.ts";
import { canonical } from "../../routing/diff/key-space.ts";
import { isSame } from "../../routing/diff/parts.ts";
import { diffRules, type RuleName } from "../../routing/diff/rules.ts";
import { diffTables, type TableDiff } from "../../routing/index.ts";
import { listOf } from "../../routing/schema/records.ts";
import type { DeclaredConditions, DeclaredRoute, DeclaredTable } from "../../routing/schema/table.ts";
import { countText, plural } from "../app/words.ts";
import { type Hunk, hunksOf } from "./text/sequences.ts";
import { keysInWords, kindsOf } from "./words/key-words.ts";
import { type PairedRoutes, type PartLine, partsInWords } from "./words/part-words.ts";
import type { Words } from "./words/words.ts";

/** Effects of a change of the table, in words. Pure. */

export interface ChangesInWords {
  /** Neither an ID nor a word of the table changes. */
  readonly isEmpty: boolean;
  /** IDs that go elsewhere, by the rule that sends them there. */
  readonly ways: readonly Way[];
  /** Single entities that go elsewhere. */
  readonly entities: readonly EntityWay[];
  /** Everything else that the table says otherwise. */
  readonly parts: readonly PartLine[];
  /** Steps of moves that are undone. */
  readonly warnings: readonly string[];
  /** Routes of the table before whose IDs all go elsewhere. */
  readonly whole: ReadonlySet<RuleName>;
}

/** Some IDs of one route that go to one other place. */
export interface Way {
  readonly before: RuleName;
  readonly after: RuleName;
  /** `Route 3`, `New route 4`, `Route 3, removed`, `Default`, `No route`. */
  readonly title: string;
  readonly words: Words;
  /** Each kind of keys by itself, where `words` leaves some out. */
  readonly kinds: readonly Words[];
  readonly from: Target;
  readonly to: Target;
  readonly keys: readonly KeyChange[];
}

/** Where IDs go: a region, or what else decides. */
export interface Target {
  readonly region?: string;
  readonly words: string;
}

export interface EntityWay {
  /** `2 orders`. */
  readonly title: string;
  /** Their IDs, where they are few. */
  readonly ids: readonly string[];
  readonly from: Target;
  readonly to: Target;
}

const IDS_MAX = 3;

export function changesInWords(before: DeclaredTable, after: DeclaredTable, nowMs: number): ChangesInWords {
  const diff = diffTables(before, after, undefined, nowMs);
  const rules = diff.keys.length === 0 ? { changes: [], whole: new Set<RuleName>() } : diffRules(before, after);
  const routes = pairedRoutes(before, after);
  const groups = Map.groupBy(rules.changes, ({ keys, before: from, after: to }) =>
    JSON.stringify([from, to, targetOf(keys.before), targetOf(keys.after)]),
  );
  const ways = [...groups.values()].flatMap((changes) => {
    const [first] = changes;
    if (first === undefined) return [];
    const keys = changes.map((change) => change.keys);
    const kinds = kindsOf(keys);
    const way: Way = {
      before: first.before,
      after: first.after,
      title: titleOf(first.before, first.after, routes),
      words: keysInWords(keys),
      kinds,
      from: targetOf(first.keys.before),
      to: targetOf(first.keys.after),
      keys,
    };
    return [way];
  });
  return {
    isEmpty: diff.isEmpty,
    ways: ways.toSorted((a, b) => placeOf(a) - placeOf(b)),
    entities: entitiesOf(diff),
    parts: [...routeLines(before, after, routes, ways), ...partsInWords(diff, routes)],
    warnings: diff.overrides.undone.map(
      ({ kind, entities }) => `${plural(entities, "moved entity", "moved entities")}: ${UNDONE[kind]}.`,
    ),
    whole: rules.whole,
  };
}

const placeOf = ({ before, after }: Way): number =>
  typeof after === "number" ? after : typeof before === "number" ? before : Number.POSITIVE_INFINITY;

function targetOf(outcome: KeyOutcome | undefined): Target {
  const { region, canary, split, directory, packs } = outcome ?? {};
  const isPlain = canary === undefined && split === undefined && packs === undefined;
  if (region !== undefined && isPlain) return { region, words: region };
  const own =
    split !== undefined
      ? `split over ${[...new Set(split)].join(", ")}`
      : directory === undefined
        ? (region ?? "no region")
        : `what directory ${directory} says`;
  const shared = canary === undefined ? own : `${own}, and ${canary.percent} % of them to ${canary.region}`;
  return { words: packs === undefined ? shared : `what packs say, else ${shared}` };
}

/**
 * Routes with the same conditions are one; so are those in between that are as many before as after, and a route that has gained or lost
 * values of one list.
 */
export function pairedRoutes(before: DeclaredTable, after: DeclaredTable): PairedRoutes {
  const [left, right] = [before, after].map(({ routes }) => routes.map(({ when }) => JSON.stringify(when))) as [
    string[],
    string[],
  ];
  const pairs: [before: number, after: number][] = [];
  let at = 0;
  let afterAt = 0;
  for (const hunk of [
    ...hunksOf(left, right),
    { at: left.length, end: left.length, afterAt: right.length, afterEnd: right.length },
  ]) {
    while (at < hunk.at) pairs.push([at++, afterAt++]);
    if (hunk.end - hunk.at === hunk.afterEnd - hunk.afterAt)
      for (let step = 0; step < hunk.end - hunk.at; step++) pairs.push([hunk.at + step, hunk.afterAt + step]);
    else pairs.push(...alikeIn(hunk, before.routes, after.routes));
    at = hunk.end;
    afterAt = hunk.afterEnd;
  }
  return { before: new Map(pairs.map(([was, is]) => [is, was])), after: new Map(pairs) };
}

/** In order: a route is the first one behind the last pair that differs by values of one list alone. */
function alikeIn(
  { at, end, afterAt, afterEnd }: Hunk,
  before: readonly DeclaredRoute[],
  after: readonly DeclaredRoute[],
): readonly [before: number, after: number][] {
  const pairs: [number, number][] = [];
  let next = afterAt;
  for (let was = at; was < end; was++) {
    const is = after.slice(next, afterEnd).findIndex((route) => areAlike(before[was] as DeclaredRoute, route));
    if (is === -1) continue;
    pairs.push([was, next + is]);
    next += is + 1;
  }
  return pairs;
}

function areAlike(one: DeclaredRoute, other: DeclaredRoute): boolean {
  const [left, right] = [listsOf(one.when), listsOf(other.when)];
  const isRest = canonical({ ...one, when: {} }) === canonical({ ...other, when: {} });
  if (!isRest || left.size !== right.size) return false;
  const differing = [...left].filter(
    ([name, values]) => values.symmetricDifference(right.get(name) ?? new Set()).size > 0,
  );
  const [[name = "", values] = []] = differing;
  const others = right.get(name);
  if (differing.length !== 1 || values === undefined || others === undefined) return false;
  return values.isSubsetOf(others) || values.isSupersetOf(others);
}

/** Values of each condition by its name, such as `country` and `slices.region`. */
const listsOf = (when: DeclaredConditions): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    Object.entries(when).flatMap(([name, value]) =>
      typeof value === "object" && !Array.isArray(value)
        ? Object.entries(value).map(([inner, own]) => [`${name}.${inner}`, new Set(listOf(own).map(String))] as const)
        : [[name, new Set(listOf(value as string | readonly string[]).map(String))] as const],
    ),
  );

/** Counted from 1: by the table after, of a route that is gone by the one before. */
function titleOf(before: RuleName, after: RuleName, routes: PairedRoutes): string {
  if (typeof after === "number") return `${routes.before.has(after) ? "Route" : "New route"} ${after + 1}`;
  if (typeof before === "number") {
    const now = routes.after.get(before);
    return now === undefined ? `Route ${before + 1}, removed` : `Route ${now + 1}`;
  }
  return after === "default" || before === "default" ? "Default" : "No route";
}

/** Routes that differ and send no ID elsewhere. */
function routeLines(
  before: DeclaredTable,
  after: DeclaredTable,
  routes: PairedRoutes,
  ways: readonly Way[],
): readonly PartLine[] {
  const named = new Set(ways.map((way) => way.after));
  const gone = new Set(ways.map((way) => way.before));
  const lines: PartLine[] = [];
  const NOTHING = "No ID goes elsewhere by it.";
  for (const [index, route] of after.routes.entries()) {
    const was = routes.before.get(index);
    if (named.has(index) || (was !== undefined && gone.has(was))) continue;
    const words = [{ text: `Route ${index + 1}`, isStrong: true }] as const;
    if (was === undefined) lines.push({ how: "added", words, detail: NOTHING });
    else if (!isSame(before.routes[was], route)) lines.push({ how: "changed", words, detail: NOTHING });
  }
  for (const index of before.routes.keys())
    if (!routes.after.has(index) && !gone.has(index))
      lines.push({ how: "removed", words: [{ text: `Route ${index + 1}`, isStrong: true }], detail: NOTHING });
  return lines;
}

function entitiesOf({ overrides }: TableDiff): readonly EntityWay[] {
  return overrides.changes.map(({ entity, from, to, entities }) => {
    const own = overrides.listed.filter((each) => each.entity === entity);
    return {
      title: `${countText(entities)} ${entity ?? "ID"}${entities === 1 ? "" : " entities"}`,
      ids: entities > IDS_MAX ? [] : own.filter((each) => sameWay(each, from, to)).map(({ id }) => id),
      from: placeTarget(from),
      to: placeTarget(to),
    };
  });
}

const sameWay = ({ before, after }: TableDiff["overrides"]["listed"][number], from: string, to: string): boolean =>
  (before.region === undefined || from.startsWith(before.region)) &&
  (after.region === undefined || to.startsWith(after.region));

const NOWHERE = new Set(["nowhere", "gone", "(pack)", "(directory)", "(ambiguous)"]);

const placeTarget = (place: string): Target =>
  NOWHERE.has(place) || place.includes(" ") ? { words: place } : { region: place, words: place };
