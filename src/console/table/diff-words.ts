import type { MetricsHistory } from "../../formats/console-api.ts";
import {
  formatCount,
  formatPercent,
  type KeyNumbers,
  keyNumbers,
  keyWords,
  partsOf,
  shareCells,
  UNDONE,
} from "../../formats/console-diff.ts";
import type { KeyChange } from "../../routing/diff/key-changes.ts";
import { formatPlace } from "../../routing/diff/overrides.ts";
import type { PartDiff } from "../../routing/diff/parts.ts";
import type { TableDiff } from "../../routing/index.ts";
import { ownOf } from "../app/own.ts";

/** A difference of two tables as the page shows it, in the words of `waybill table diff`. Pure. */

export interface DiffWords {
  /** Keys of IDs that go elsewhere. */
  readonly keys: readonly KeyLine[];
  readonly keysLeft: number;
  /** Parts of the table that say something else. */
  readonly parts: readonly string[];
  readonly entities: readonly string[];
  readonly warnings: readonly string[];
}

export interface KeyLine {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly numbers: KeyNumbers;
  /** The most that these can be of the last hour's requests; absent where nothing was counted. */
  readonly ofRequests: string | undefined;
}

const KEYS_MAX = 100;

export function diffInWords(diff: TableDiff, traffic?: MetricsHistory): DiffWords {
  const { keys, overrides, routes, shares } = diff;
  return {
    keys: keys.slice(0, KEYS_MAX).map((change) => keyLine(change, traffic)),
    keysLeft: Math.max(0, keys.length - KEYS_MAX),
    parts: [
      ...partsOf(diff).flatMap(({ name, entries, whole }) =>
        entries !== undefined ? partLines(name, entries) : whole === undefined ? [] : [`${name} is another one`],
      ),
      ...(routes.differ ? [`routes: ${routes.before} before, ${routes.after} after`] : []),
      ...shares.map((share) => shareCells(share).join(": ")),
    ],
    entities: overrides.listed.map(
      ({ id, entity, before, after }) => `${entity ?? "ID"} ${id}: ${formatPlace(before)} → ${formatPlace(after)}`,
    ),
    warnings: overrides.undone.map(
      ({ kind, entities }) => `${formatCount(entities)} of the moved entities: ${UNDONE[kind]}`,
    ),
  };
}

const NAMES_MAX = 5;

function partLines(name: string, part: PartDiff<unknown>): readonly string[] {
  return (["added", "removed", "changed"] as const).flatMap((how) => {
    const names = Object.keys(part[how]);
    if (names.length === 0) return [];
    const rest = names.length > NAMES_MAX ? ` and ${formatCount(names.length - NAMES_MAX)} more` : "";
    return [`${name} ${how}: ${names.slice(0, NAMES_MAX).join(", ")}${rest}`];
  });
}

function keyLine(change: KeyChange, traffic: MetricsHistory | undefined): KeyLine {
  const { whose, which, from, to } = keyWords(change);
  const region = change.before?.region;
  const most = region === undefined ? undefined : shareOfRegion(traffic, region);
  return {
    what: `${whose} ${which}`,
    from,
    to,
    numbers: keyNumbers(change),
    ofRequests: most === undefined ? undefined : formatPercent(most * 100),
  };
}

/** The region's share of all requests: what leaves it can be no more. Keys are not counted. */
function shareOfRegion(traffic: MetricsHistory | undefined, region: string): number | undefined {
  const sum = (counts: readonly number[] = []) => counts.reduce((all, count) => all + count, 0);
  const all = sum(traffic?.total.requests);
  return all === 0 ? undefined : sum(ownOf(traffic?.regions, region)?.requests) / all;
}
