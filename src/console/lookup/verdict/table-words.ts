import { pointerOf } from "../../../formats/console-pointers.ts";
import { listOf } from "../../../routing/schema/records.ts";
import type { DeclaredRoute, DeclaredTable } from "../../../routing/schema/table.ts";
import { countryName, utcTime } from "../../app/words.ts";
import { eitherOf } from "../../routing/condition-words.ts";
import { routeTitle, routeWords, wordsOfRoute } from "../../routing/route-words.ts";
import type { RungInWords, TableWords } from "../reader.ts";
import { judgeOf, ladderOf, type Miss, type Rung } from "./ladder.ts";

/** Words of a table about an ID: why a route takes it, and why others do not. Pure. */

export function wordsOfTable(declared: DeclaredTable): TableWords {
  let judge: ReturnType<typeof judgeOf> | undefined;
  const { moved = {}, moves = {}, routes } = declared;
  return {
    sentence: (index, route, subject) =>
      route === undefined
        ? routeWords(declared, pointerOf({ kind: "route", index }, ""), { subject })?.sentence
        : wordsOfRoute(route, declared, index, subject).sentence,
    entry: (rule, texts) => {
      const key = texts.find((each) => Object.hasOwn(moved, each) || Object.hasOwn(moves, each)) ?? texts[0] ?? "";
      return { pointer: pointerOf(rule, key), route: "index" in rule ? routes[rule.index] : undefined };
    },
    ladder: (question) => {
      judge ??= judgeOf(declared);
      return ladderOf({ ...question, declared, judge })?.map((rung) => inWords(rung, declared));
    },
  };
}

/** Support knows names alone: the gateway tells it the route that decides. */
export const wordsOfNames = (named: Pick<DeclaredTable, "entities" | "layouts">): TableWords => ({
  sentence: (index, route, subject) =>
    route && wordsOfRoute(route, JSON.parse(JSON.stringify(named)), index, subject).sentence,
  entry: (rule) => ({ pointer: pointerOf(rule, ""), route: undefined }),
  ladder: () => undefined,
});

function inWords(rung: Rung, declared: DeclaredTable): RungInWords {
  const { kind, region } = rung;
  return { kind, region: kind === "miss" ? undefined : region, ...aboutWords(rung, declared) };
}

type About = Pick<RungInWords, "text" | "small" | "pointer">;

function aboutWords(rung: Rung, declared: DeclaredTable): About {
  if (rung.about === "routes") return routesWords(rung, declared);
  if (rung.about === "overrides") {
    const small = rung.kind === "hit" ? "An entry of its own comes before all routes" : "No entry for this ID";
    return { text: "Moved, moving or gone", small };
  }
  if (rung.kind === "stop") return { text: "No default region", small: "The gateway never guesses: 404" };
  if (rung.region === undefined) return { text: "No default region", small: "Not reached" };
  const small = rung.kind === "hit" ? "No route names it" : "Would take it otherwise";
  return { text: "The default region", small, pointer: "/default" };
}

function routesWords(rung: Rung, declared: DeclaredTable): About {
  const [first, last] = rung.routes ?? [0, 0];
  const missed = rung.kind === "miss" ? missWords(rung, declared) : undefined;
  if (last > first) {
    return { text: `Routes ${first + 1} to ${last + 1}`, small: missed ?? "Not reached: the first that fits wins" };
  }
  const pointer = pointerOf({ kind: "route", index: first }, "");
  const words = routeWords(declared, pointer);
  const text = words === undefined ? `Route ${first + 1}` : routeTitle(words);
  const otherwise = rung.region === undefined ? "Not reached: the first that fits wins" : "Would take it otherwise";
  return { text, pointer, small: missed ?? (rung.kind === "hit" ? "" : otherwise) };
}

const NOUNS: Readonly<Record<string, string>> = {
  country: "countries",
  service: "services",
  shardKey: "shard keys",
  primaryKey: "primary keys",
  group: "groups",
};

function missWords({ routes = [0, 0], misses = [], region }: Rung, table: DeclaredTable): string {
  const [first = { by: "idle" } as const] = misses;
  const isOne = misses.length === 1;
  const would = region === undefined ? "" : `. Would go to ${region}`;
  if (first.by === "value") return valueWords(first, isOne, table) + would;
  if (first.by === "pack") return `Its key is not in pack ${first.pack}`;
  if (first.by === "idle") return isOne ? "It does not decide yet" : "They do not decide yet";
  const named = table.routes.slice(routes[0], routes[1] + 1);
  return `${isOne ? "It is" : "They are"} for ${othersIn(named, misses)}`;
}

const NAMES_MAX = 3;

/** Layouts and entities that the routes name. */
function othersIn(routes: readonly DeclaredRoute[], misses: readonly Miss[]): string {
  const namesOf = (by: "layout" | "entity"): readonly string[] => [
    ...new Set(routes.flatMap(({ when }, at) => (misses[at]?.by === by ? listOf(when[by] ?? []) : []))),
  ];
  const layouts = namesOf("layout");
  const entities = namesOf("entity");
  const parts = [
    ...(layouts.length === 0 ? [] : [`layout ${eitherOf(layouts, NAMES_MAX)}`]),
    ...(entities.length === 0 ? [] : [eitherOf(entities, NAMES_MAX)]),
  ];
  return parts.length === 0 ? "other layouts" : `IDs of ${parts.join(", or of ")}`;
}

function valueWords(miss: Extract<Miss, { by: "value" }>, isOne: boolean, { countries = {} }: DeclaredTable): string {
  const { dimension, value, isBelow } = miss;
  if (dimension === "minted") {
    if (isOne) return `It was minted ${isBelow ? "earlier" : "later"}`;
    return `They name times; it was minted ${utcTime(value)}`;
  }
  const name = dimension.replace(/^(?:slices|fields)\./, "");
  const [code] = (dimension === "country" && Object.entries(countries).find(([, number]) => number === value)) || [];
  const shown = code === undefined ? String(value) : countryName(code);
  const noun = Object.hasOwn(NOUNS, name) ? NOUNS[name] : `values of ${name}`;
  return isOne ? `It names ${noun}, and ${shown} is none of them` : `They name ${noun}; ${shown} is none of them`;
}
