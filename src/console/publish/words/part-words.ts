import { partsOf } from "../../../formats/console/diff.ts";
import { canonical } from "../../../routing/diff/key-space.ts";
import type { Changed, PartDiff, RouteShare } from "../../../routing/diff/parts.ts";
import type { TableDiff } from "../../../routing/index.ts";
import type { DeclaredRegion } from "../../../routing/schema/table.ts";
import { plural } from "../../app/words.ts";
import { plain, strong } from "../../routing/condition-words.ts";
import { listText, type Words } from "./words.ts";

export interface PartLine {
  readonly how: "added" | "removed" | "changed";
  readonly words: Words;
  readonly detail?: string;
  /** A region whose requests go to other servers. */
  readonly region?: string;
}

/** Routes of the two tables that are the same one, changed or not. */
export interface PairedRoutes {
  /** By the index after, the index before. */
  readonly before: ReadonlyMap<number, number>;
  /** By the index before, the index after. */
  readonly after: ReadonlyMap<number, number>;
}

/** Parts of the table that say something else, in words. Pure. */

const NAMES_MAX = 5;

/** One of them, and several. Those of features have the name that the table gives them. */
const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  countries: ["Country", "Countries"],
  entities: ["Entity", "Entities"],
  layouts: ["Layout", "Layouts"],
  "without ID": ["Request without an ID", "Requests without an ID"],
};

/** They are shown by where their entities go. */
const OVERRIDES = new Set(["moved", "moves", "gone"]);

export function partsInWords(diff: TableDiff, routes: PairedRoutes): readonly PartLine[] {
  return [
    ...diff.shares.map(({ part, before, after }): PartLine => {
      const how = before === undefined ? "added" : after === undefined ? "removed" : "changed";
      const index = Number((after ?? before)?.route.split("/").at(-1));
      const number = (after === undefined ? (routes.after.get(index) ?? index) : index) + 1;
      const words = [plain(part === "canary" ? "Canary of " : "Shadow of "), strong(`route ${number}`)];
      return { how, words, detail: `${shareText(before)} → ${shareText(after)}` };
    }),
    ...partsOf(diff).flatMap(({ name, entries, whole }) => {
      if (name === "regions") return regionLines(diff.regions);
      if (OVERRIDES.has(name)) return [];
      if (entries !== undefined) return entryLines(name, entries);
      return whole === undefined ? [] : [wholeLine(name, whole)];
    }),
  ];
}

const shareText = (share: RouteShare | undefined): string =>
  share === undefined ? "none" : `${share.region} ${share.percent} %`;

function wholeLine(name: string, { before, after }: Changed<unknown>): PartLine {
  const how = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const words = [strong(name)];
  const isShort = [before, after].every((value) => value === undefined || typeof value !== "object");
  return isShort ? { how, words, detail: `${String(before ?? "none")} → ${String(after ?? "none")}` } : { how, words };
}

function entryLines(name: string, part: PartDiff<unknown>): readonly PartLine[] {
  const [one, many] = NOUNS[name] ?? [`${name}:`, `${name}:`];
  return (["added", "removed", "changed"] as const).flatMap((how): readonly PartLine[] => {
    const names = Object.keys(part[how]);
    if (names.length === 0) return [];
    const noun = names.length === 1 ? one : many;
    const members = how === "changed" && names.length === 1 ? membersOf(part.changed[names[0] ?? ""]) : [];
    const detail = members.length === 0 ? {} : { detail: `${listText(members, NAMES_MAX)} changed` };
    return [{ how, words: [plain(`${noun} `), strong(listText(names, NAMES_MAX))], ...detail }];
  });
}

/** Names of members that differ. */
function membersOf(change: Changed<unknown> | undefined): readonly string[] {
  const [before, after] = [change?.before, change?.after].map((value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : {},
  );
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].filter((name) => canonical(before?.[name] ?? null) !== canonical(after?.[name] ?? null));
}

const regionWords = (name: string): Words => [plain("Region "), strong(name)];

function regionLines({ added, removed, changed }: PartDiff<DeclaredRegion>): readonly PartLine[] {
  return [
    ...Object.entries(added).map(([name, { origins }]): PartLine => {
      const detail = `${plural(origins.length, "origin")}: ${listText(origins.map(hostOf), NAMES_MAX)}`;
      return { how: "added", words: regionWords(name), detail };
    }),
    ...Object.keys(removed).map((name): PartLine => ({ how: "removed", words: regionWords(name) })),
    ...Object.entries(changed).map(([name, { before, after }]): PartLine => {
      const servers = originWords(before.origins, after.origins);
      const others = membersOf({ before, after }).filter((member) => member !== "origins");
      const detail = [...servers, ...(others.length === 0 ? [] : [`${listText(others, NAMES_MAX)} changed`])].join(
        "; ",
      );
      return { how: "changed", words: regionWords(name), detail, ...(servers.length > 0 && { region: name }) };
    }),
  ];
}

type Origins = DeclaredRegion["origins"];

const hostOf = ({ url }: Origins[number]): string => {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
};

function originWords(before: Origins, after: Origins): readonly string[] {
  const [left, right] = [before, after].map((origins) => new Map(origins.map((origin) => [origin.url, origin])));
  const come = after.filter(({ url }) => !left?.has(url)).map(hostOf);
  const gone = before.filter(({ url }) => !right?.has(url)).map(hostOf);
  const weights = after.flatMap((origin) => {
    const was = left?.get(origin.url);
    const [old, now] = [was?.weight ?? 1, origin.weight ?? 1];
    if (was === undefined || old === now) return [];
    return [now === 0 ? `${hostOf(origin)} is drained` : `weight of ${hostOf(origin)} ${old} → ${now}`];
  });
  const bindings = after.filter(({ url, binding }) => left?.has(url) && left.get(url)?.binding !== binding).map(hostOf);
  return [
    ...(come.length === 0 ? [] : [`new ${come.length === 1 ? "origin" : "origins"} ${listText(come, NAMES_MAX)}`]),
    ...(gone.length === 0 ? [] : [`without ${listText(gone, NAMES_MAX)}`]),
    ...weights,
    ...(bindings.length === 0 ? [] : [`another binding for ${listText(bindings, NAMES_MAX)}`]),
  ];
}
