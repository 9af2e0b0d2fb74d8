import type { MetricsHistory, RouteRequests } from "../../../formats/console-api.ts";
import { pointerTo } from "../../../routing/schema/faults.ts";
import { memberOf } from "../../../routing/schema/member.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { textOf } from "../condition-words.ts";
import { goesText, type RouteWords, routeWords } from "../route-words.ts";

/** The rows of the page of routes, in the order in which they are asked. Pure. */

export interface RouteRow {
  readonly words: RouteWords;
  /** All that a search finds, in lower case. */
  readonly text: string;
}

/** The routes; then keys of directories, requests without an ID, and all other IDs. */
export function rowsOf(table: DeclaredTable): readonly RouteRow[] {
  const directories = Object.values(table.entities ?? {}).flatMap(({ directory }) => directory ?? []);
  const hasOthers = table.withoutId !== undefined || memberOf(table, "graphql") !== undefined;
  const pointers = [
    ...table.routes.map((_, at) => pointerTo(["routes", at])),
    ...[...new Set(directories)].map((name) => pointerTo(["directory", name])),
    ...(hasOthers ? ["/sources"] : []),
    "/default",
  ];
  return pointers.flatMap((pointer) => {
    const words = routeWords(table, pointer);
    return words === undefined ? [] : [{ words, text: searchText(words) }];
  });
}

const searchText = ({ number, takes, goes, entities }: RouteWords): string =>
  `${number === undefined ? "" : `route ${number} `}${textOf(takes)} ${entities.join(" ")} ${goesText(goes)}`.toLowerCase();

export interface Filter {
  readonly region: string;
  readonly entity: string;
  readonly search: string;
}

/** Empty: all. Every word of the search must be there. */
export function filtered(rows: readonly RouteRow[], { region, entity, search }: Filter): readonly RouteRow[] {
  const asked = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return rows.filter(
    ({ words, text }) =>
      (region === "" || words.regions.includes(region)) &&
      (entity === "" || words.entities.includes(entity)) &&
      asked.every((word) => text.includes(word)),
  );
}

/** Requests by what decided them, as counted for one revision. */
export interface Shares {
  readonly revision: number;
  /** All of that revision. */
  readonly total: number;
  /** `undefined`: it is not counted alone. */
  readonly of: (words: RouteWords) => number | undefined;
  /** Those that entries of single entities decided. */
  readonly single: number;
  /** Those of routes that are not counted alone. */
  readonly others: number;
}

/** Routes beyond are counted together. */
export const COUNTED_ROUTES = 200;

/** `undefined` where nothing is counted by route: an older gateway, or counters that cannot be read. */
export function sharesOf(history: MetricsHistory | undefined, revision: number): Shares | undefined {
  if (history?.source !== "all" || history.routes === undefined) return undefined;
  const own = history.routes.filter((entry) => entry.revision === revision);
  const total = sum(own);
  const by = (is: (pointer: string) => boolean): number => sum(own.filter(({ pointer }) => is(pointer)));
  return {
    revision,
    total,
    single: by((pointer) => pointer === "/moved" || pointer === "/moves"),
    others: by((pointer) => pointer === "(other)"),
    of: ({ number, pointer, region }) => {
      if (number !== undefined && number > COUNTED_ROUTES) return undefined;
      // IDs that no route takes get no decision.
      if (pointer === "/default" && region === undefined) return undefined;
      const counted = pointer === "/sources" ? "/withoutId" : pointer;
      return by((each) => each === counted || each === `${counted}/canary`);
    },
  };
}

const sum = (entries: readonly RouteRequests[]): number => entries.reduce((all, { requests }) => all + requests, 0);
