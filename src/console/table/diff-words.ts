import type { MetricsHistory } from "../../published/console-api.ts";
import type { KeyChange, KeyOutcome } from "../../routing/diff/key-changes.ts";
import type { Undone } from "../../routing/diff/overrides.ts";
import { formatPlace } from "../../routing/diff/overrides.ts";
import type { TableDiff } from "../../routing/index.ts";
import { ownOf } from "../app/own.ts";
import { countText } from "../app/words.ts";

/** A difference of two tables, in words and in numbers. Pure. */

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
  readonly keys: string;
  /** Shares; absent where they are not known. */
  readonly ofSpace: string | undefined;
  readonly ofTheirIds: string | undefined;
  readonly ofRequests: string | undefined;
}

const KEYS_MAX = 100;

export function diffInWords(diff: TableDiff, traffic?: MetricsHistory): DiffWords {
  const { keys, overrides, routes, shares } = diff;
  return {
    keys: keys.slice(0, KEYS_MAX).map((change) => keyLine(change, traffic)),
    keysLeft: Math.max(0, keys.length - KEYS_MAX),
    parts: [
      ...PARTS.flatMap((name) => partLines(name, diff[name])),
      ...VALUES.flatMap((name) => (diff[name] === undefined ? [] : [`${name} is another one`])),
      ...(routes.differ ? [`routes: ${routes.before} before, ${routes.after} after`] : []),
      ...shares.map(
        ({ part, before, after }) =>
          `${part} of ${(after ?? before)?.route}: ${shareText(before)} → ${shareText(after)}`,
      ),
    ],
    entities: overrides.listed.map(
      ({ id, entity, before, after }) => `${entity ?? "ID"} ${id}: ${formatPlace(before)} → ${formatPlace(after)}`,
    ),
    warnings: overrides.undone.map(
      ({ kind, entities }) => `${countText(entities)} of the moved entities: ${UNDONE[kind]}`,
    ),
  };
}

const PARTS = ["regions", "countries", "entities", "layouts", "packs", "moved", "moves", "gone", "withoutId"] as const;
const VALUES = ["hosts", "epochFloor", "default", "fields", "cors", "sources"] as const;

const UNDONE: Readonly<Record<Undone, string>> = {
  "move-lost": "the entry of a move is missing, so the routes decide again",
  "epoch-falls": "the epoch falls, so regions refuse requests",
  "epoch-stands": "two steps have the same epoch",
  "no-longer-gone": "it was removed for ever, and now is not",
};

const NAMES_MAX = 5;

function partLines(
  name: string,
  part: { readonly added: object; readonly removed: object; readonly changed: object },
): readonly string[] {
  return (["added", "removed", "changed"] as const).flatMap((how) => {
    const names = Object.keys(part[how]);
    if (names.length === 0) return [];
    const rest = names.length > NAMES_MAX ? ` and ${countText(names.length - NAMES_MAX)} more` : "";
    return [`${name} ${how}: ${names.slice(0, NAMES_MAX).join(", ")}${rest}`];
  });
}

const shareText = (share: { readonly region: string; readonly percent: number } | undefined): string =>
  share === undefined ? "none" : `${share.percent} % to ${share.region}`;

function keyLine(change: KeyChange, traffic: MetricsHistory | undefined): KeyLine {
  const { layout, where, mintedFrom, mintedBefore, before, after, keys, percentOfSpace, percent } = change;
  const entities = [...new Set([before?.entity, after?.entity].filter((entity) => entity !== undefined))].join(" → ");
  const conditions = [
    ...Object.entries(where).map(([name, values]) => `${name} ${values}`),
    ...(mintedFrom === undefined ? [] : [`minted from ${mintedFrom}`]),
    ...(mintedBefore === undefined ? [] : [`minted before ${mintedBefore}`]),
  ];
  const most = before?.region === undefined ? undefined : shareOfRegion(traffic, before.region);
  return {
    what: `${entities} (${layout})${conditions.length === 0 ? "" : ` ${conditions.join(", ")}`}`,
    from: outcomeText(before),
    to: outcomeText(after),
    keys: countText(Number(keys)),
    ofSpace: percentOf(percentOfSpace),
    ofTheirIds: percentOf(percent),
    ofRequests: percentOf(most && most * 100),
  };
}

const percentOf = (percent: number | undefined): string | undefined =>
  percent === undefined ? undefined : `${countText(percent)} %`;

function outcomeText(outcome: KeyOutcome | undefined): string {
  const { region = "nowhere", canary, split, directory } = outcome ?? {};
  const own =
    directory !== undefined ? `directory ${directory}` : split === undefined ? region : `split ${split.join(", ")}`;
  return canary === undefined ? own : `${own} (${canary.percent} % ${canary.region})`;
}

/** The region's share of all requests: what leaves it can be no more. */
function shareOfRegion(traffic: MetricsHistory | undefined, region: string): number | undefined {
  const sum = (counts: readonly number[] = []) => counts.reduce((all, count) => all + count, 0);
  const all = sum(traffic?.total.requests);
  return all === 0 ? undefined : sum(ownOf(traffic?.regions, region)?.requests) / all;
}
