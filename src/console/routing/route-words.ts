import { readSplit } from "../../routing/resolve/match.ts";
import { keysOfPointer } from "../../routing/schema/faults.ts";
import { memberOf } from "../../routing/schema/member.ts";
import { listOf } from "../../routing/schema/records.ts";
import type { DeclaredRoute, DeclaredTable } from "../../routing/schema/table.ts";
import { ownOf } from "../app/own.ts";
import { percentText } from "../app/words.ts";
import {
  type Condition,
  conditionWords,
  eitherOf,
  type Named,
  type Part,
  plain,
  strong,
  textOf,
} from "./condition-words.ts";
import { isLayoutImplied, ownersOf } from "./owners.ts";

/** All that decides about IDs, in words: routes, defaults, entries of single entities, directories, requests without an ID. */

/** Where it leads: words, and regions among them. */
export type Towards = { readonly text: string } | { readonly region: string };

export interface RouteWords {
  /** JSON pointer (RFC 6901) of the entry. */
  readonly pointer: string;
  /** Counted from 1; `undefined` for what is no route. */
  readonly number: number | undefined;
  /** Its IDs: `IDs of Kazakhstan minted before 1 June 2026`. */
  readonly takes: readonly Part[];
  /** Entities with such IDs. */
  readonly entities: readonly string[];
  readonly goes: readonly Towards[];
  /** Set where it is one for all of its IDs, but for a canary's share. */
  readonly region: string | undefined;
  /** All that it may lead to, as the table alone says. */
  readonly regions: readonly string[];
  /** `IDs of Kazakhstan minted before 1 June 2026 go to eu`: behind "because". */
  readonly sentence: readonly Part[];
  readonly line: number | undefined;
}

interface Options {
  readonly lineOf?: ((pointer: string) => number | undefined) | undefined;
  /** In place of "IDs" in the sentence, such as `orders`. */
  readonly subject?: string | undefined;
}

type Own = Omit<RouteWords, "pointer" | "line" | "sentence" | "entities"> &
  Partial<Pick<RouteWords, "sentence" | "entities">>;

/** `undefined` where the table has no such entry: it may be one of another revision. */
export function routeWords(table: DeclaredTable, pointer: string, options: Options = {}): RouteWords | undefined {
  const [part = "", ...rest] = keysOfPointer(pointer);
  const own = ownOf(KINDS, part)?.(table, rest, options.subject);
  if (own === undefined) return undefined;
  const sentence = own.sentence ?? [...lowered(own.takes), plain(" go to "), ...towardsParts(own.goes)];
  return { entities: [], ...own, pointer, sentence, line: options.lineOf?.(pointer) };
}

export const goesText = (goes: readonly Towards[]): string => textOf(towardsParts(goes));

/** `Route 3: IDs of Brazil or Mexico`. */
export const routeTitle = ({ number, takes }: RouteWords): string =>
  number === undefined ? textOf(takes) : `Route ${number}: ${textOf(takes)}`;

const towardsParts = (goes: readonly Towards[]): readonly Part[] =>
  goes.map((each) => ("region" in each ? strong(each.region) : plain(each.text)));

type Kind = (table: DeclaredTable, rest: readonly string[], subject: string | undefined) => Own | undefined;

const KINDS: Readonly<Record<string, Kind>> = {
  routes: (table, [at = "", member], subject) => {
    const route = ownOf(table.routes as unknown as Record<string, DeclaredRoute>, at);
    if (route === undefined) return undefined;
    const own = wordsOfRoute(route, table, Number(at), subject);
    return member === "canary" ? canaryOf(own, route) : own;
  },
  default: ({ default: region }) => ({
    number: undefined,
    takes: [strong("All other IDs")],
    ...(region === undefined ? { goes: [{ text: "no region: 404" }], region, regions: [] } : toRegion(region)),
    ...(region === undefined && { sentence: [plain("no route takes this ID, and the table has no default region")] }),
  }),
  moved: ({ moved }, [id = ""]) => {
    const entry = ownOf(moved, id);
    const region = typeof entry === "string" ? entry : entry?.region;
    return region === undefined ? undefined : single(id, "moved to", toRegion(region));
  },
  moves: ({ moves }, [id = ""]) => {
    const entry = ownOf(moves, id);
    if (entry === undefined) return undefined;
    const { from, to } = entry;
    const goes = [{ region: from }, { text: ", and is on its way to " }, { region: to }];
    return single(id, "is on its way, and still at", { goes, region: from, regions: [from] });
  },
  gone: ({ gone }, [id = ""]) =>
    ownOf(gone, id) && {
      ...single(id, "", { goes: [{ text: "no region: 410" }], region: undefined, regions: [] }),
      sentence: [plain("the table says of this very ID that it is gone")],
    },
  directory: (table, [name = ""]) =>
    ownOf(memberOf(table, "directory") as Record<string, object> | undefined, name) && {
      number: undefined,
      takes: [plain("Keys of directory "), strong(name)],
      entities: entitiesOfDirectory(table, name),
      ...byDirectory(name),
      sentence: [plain("directory "), strong(name), plain(" says so")],
    },
  packs: (table, [name = ""]) =>
    ownOf(memberOf(table, "packs") as Record<string, object> | undefined, name) && {
      number: undefined,
      takes: [plain("IDs in pack "), strong(name)],
      ...byPack(table, name),
      sentence: [plain("pack "), strong(name), plain(" says so")],
    },
  withoutId: ({ withoutId }, [name = ""]) => {
    const entry = ownOf(withoutId, name);
    return (
      entry && { ...WITHOUT_ID, takes: [plain("Requests without an ID to "), strong(eitherOf(listOf(entry.path)))] }
    );
  },
  sources: () => ({ ...WITHOUT_ID, takes: [plain("Requests without an ID")] }),
};

const BY_REQUEST: readonly Towards[] = [{ text: "the region that the request says" }];
const WITHOUT_ID = {
  number: undefined,
  goes: BY_REQUEST,
  region: undefined,
  regions: [],
  sentence: [plain("the request, not an ID, says the region")],
} satisfies Partial<Own>;

const toRegion = (region: string) => ({ goes: [{ region }], region, regions: [region] });

const single = (id: string, verb: string, to: Pick<Own, "goes" | "region" | "regions">): Own => ({
  number: undefined,
  takes: [plain("The single ID "), strong(id)],
  ...to,
  sentence: [plain(`the table says of this very ID that it ${verb} `), ...towardsParts(to.goes.slice(0, 1))],
});

const byDirectory = (name: string) => ({
  goes: [{ text: `the region that directory ${name} says` }],
  region: undefined,
  regions: [],
});

function byPack({ packs = {} }: Pick<DeclaredTable, "packs">, name: string) {
  const regions = [...new Set(ownOf(packs, name)?.regions ?? [])];
  return { goes: [{ text: `the region that pack ${name} says` }], region: undefined, regions };
}

const entitiesOfDirectory = (table: DeclaredTable, name: string): readonly string[] => [
  ...new Set([
    ...Object.entries(table.entities ?? {}).flatMap(([entity, { directory }]) => (directory === name ? [entity] : [])),
    ...table.routes.flatMap((route) => (route.directory === name ? ownersOf(route.when, table) : [])),
  ]),
];

/** A route alone. Support knows no more of the table than its names. */
export function wordsOfRoute(
  route: DeclaredRoute,
  named: Named & Pick<DeclaredTable, "entities" | "packs">,
  index: number | undefined,
  subject?: string,
): Own {
  const words = conditionWords(route.when, named);
  const isImplied = words.layouts.length > 0 && isLayoutImplied(route.when, named);
  const told = { ...words, layouts: isImplied ? [] : words.layouts };
  const to = destinationOf(route, named);
  return {
    number: index === undefined ? undefined : index + 1,
    takes: takesOf(told),
    entities: ownersOf(route.when, named),
    ...to,
    sentence: [...subjectOf(told, subject), plain(" go to "), ...towardsParts(to.goes)],
  };
}

type Told = ReturnType<typeof conditionWords>;

/** As a row of a list: it begins with what is most telling. */
function takesOf({ countries, keys, minted, layouts, entities }: Told): readonly Part[] {
  const times = minted.length === 0 ? [] : [plain(" minted "), strong(minted.join(", "))];
  const written = layouts.length === 0 ? [] : [plain(" in layout "), strong(eitherOf(layouts))];
  if (countries.length > 0)
    return [plain("IDs of "), strong(eitherOf(countries)), ...written, ...withKeys(keys, " with "), ...times];
  if (keys.length > 0) {
    const [first, ...rest] = withKeys(keys, "");
    return [
      plain(capitalised(first?.text ?? "")),
      ...rest,
      ...written,
      ...(minted.length === 0 ? [] : [plain(","), ...times]),
    ];
  }
  if (minted.length > 0 || layouts.length > 0)
    return [plain(minted.length > 0 ? "IDs" : "All IDs"), ...written, ...times];
  return entities.length > 0 ? [plain("All IDs of "), strong(eitherOf(entities))] : [strong("All IDs")];
}

/** The subject of a sentence, always of several. */
function subjectOf({ countries, keys, minted, layouts, entities }: Told, subject: string | undefined): readonly Part[] {
  const isAll = countries.length + keys.length + minted.length + layouts.length === 0;
  const own = subject === undefined && entities.length > 0 ? `${eitherOf(entities)} IDs` : (subject ?? "IDs");
  return [
    plain(isAll ? `all ${own}` : own),
    ...(countries.length === 0 ? [] : [plain(" of "), strong(eitherOf(countries))]),
    ...(layouts.length === 0 ? [] : [plain(" in layout "), strong(eitherOf(layouts))]),
    ...withKeys(keys, " with "),
    ...(minted.length === 0 ? [] : [plain(" minted "), strong(minted.join(", "))]),
  ];
}

const withKeys = (keys: readonly Condition[], before: string): readonly Part[] =>
  keys.flatMap(({ noun, values }, at) => [plain(`${at === 0 ? before : " and "}${noun} `), strong(eitherOf(values))]);

const capitalised = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** `IDs` stays as it is. */
const lowered = ([first, ...rest]: readonly Part[]): readonly Part[] =>
  first === undefined
    ? []
    : [{ ...first, text: first.text.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()) }, ...rest];

type Destination = Pick<Own, "goes" | "region" | "regions">;

type OfDestination = {
  readonly [Name in Exclude<keyof DeclaredRoute, "when">]-?: (
    value: NonNullable<DeclaredRoute[Name]>,
    named: Pick<DeclaredTable, "packs">,
  ) => Destination;
};

/** One entry for each member that the schema allows beside the conditions. */
const OF_DESTINATION: OfDestination = {
  region: toRegion,
  directory: byDirectory,
  pack: (name, named) => byPack(named, name),
  split: (split) => {
    const { regions } = readSplit(split);
    const each = [...new Set(regions)];
    const shareOf = (region: string) => regions.filter((one) => one === region).length / regions.length;
    const goes = each.flatMap((region, at): readonly Towards[] => [
      { region },
      { text: ` ${percentText(shareOf(region))}${at + 1 < each.length ? ", " : ""}` },
    ]);
    return { goes, region: undefined, regions: each };
  },
  canary: ({ region, percent }) => ({
    goes: [{ text: `, ${percentText(percent / 100)} of them to ` }, { region }],
    region: undefined,
    regions: [region],
  }),
  shadow: ({ region, percent }) => ({
    goes: [{ text: `; ${percentText(percent / 100)} of the reads are also sent to ` }, { region }],
    region: undefined,
    // Nothing is answered from there.
    regions: [],
  }),
};

export const DESTINATIONS = Object.keys(OF_DESTINATION) as readonly (keyof OfDestination)[];

function destinationOf(route: DeclaredRoute, named: Pick<DeclaredTable, "packs">): Destination {
  const all = DESTINATIONS.flatMap((name) => {
    const value = route[name];
    return value === undefined
      ? []
      : [(OF_DESTINATION[name] as (value: unknown, named: object) => Destination)(value, named)];
  });
  return {
    goes: all.flatMap(({ goes }) => goes),
    region: route.region,
    regions: [...new Set(all.flatMap(({ regions }) => regions))],
  };
}

function canaryOf({ number, takes, entities }: Own, { canary }: DeclaredRoute): Own | undefined {
  if (canary === undefined) return undefined;
  const share = plain(`${percentText(canary.percent / 100)} of `);
  return { number, takes: [share, ...lowered(takes)], ...(entities && { entities }), ...toRegion(canary.region) };
}
