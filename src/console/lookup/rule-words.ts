import type { Rule } from "../../routing/index.ts";
import type { DeclaredRoute } from "../../routing/schema/table.ts";
import { ownOf } from "../app/own.ts";

/** Requests with such an ID are refused, and the ID alone says so. `isUnsure`: unless the table says more of this very ID. */
export function refusalOf(reason: string | undefined, isUnsure = false): string | undefined {
  switch (reason) {
    case "unassigned-key":
      return isUnsure
        ? "Requests could get 404: no route takes this ID, but the table may name it itself."
        : "Requests get 404: no route takes this ID.";
    case "entity-gone":
      return "Requests get 410: the table says that this entity is gone.";
    default:
      return undefined;
  }
}

/** A rule of the table in words, for people who do not read JSON. `route`: the one that it names, where it is known. */
export function ruleInWords(rule: Rule, route: DeclaredRoute | undefined): string {
  switch (rule.kind) {
    case "moved":
      return "The table says of this very ID that it moved.";
    case "moving":
      return "A move of this very ID is in progress.";
    case "default":
      return "No route names it, so the default region has it.";
    case "source":
      return "The request, not the ID, says the region.";
    case "directory":
      return `Directory ${rule.directory} says the region.${rule.state === undefined ? "" : ` ${DOUBTS[rule.state]}`}`;
    case "canary":
      return `The canary of /routes/${rule.index} takes it${routeText(route)}`;
    case "route": {
      const part = rule.part === undefined ? "" : ` It is in part ${rule.part} of the split.`;
      const pack = rule.pack === undefined ? "" : ` Pack ${rule.pack} has its key.`;
      return `/routes/${rule.index} takes it${routeText(route)}${part}${pack}`;
    }
    default:
      return "The table decides.";
  }
}

const DOUBTS = {
  stale: "It does not answer now: this is what it said last.",
  default: "It does not answer now: this is the region for such a time.",
  unknown: "It has no such key: this is the region for unknown keys.",
};

const routeText = (route: DeclaredRoute | undefined): string =>
  route === undefined ? "." : `: ${routeInWords(route)}`;

/** `IDs of order with country PL or DE go to eu.` */
export function routeInWords(route: DeclaredRoute): string {
  const { entity, layout, mintedFrom, mintedBefore, slices, fields, ...keys } = route.when;
  const conditions = [
    ...Object.entries({ ...keys, ...fields }).map(([name, values]) => `${nameOf(name)} ${eitherOf(values)}`),
    ...Object.entries(slices ?? {}).map(([name, values]) => `${name} ${eitherOf(values)}`),
  ];
  const times = [
    ...(mintedFrom === undefined ? [] : [`from ${mintedFrom}`]),
    ...(mintedBefore === undefined ? [] : [`before ${mintedBefore}`]),
  ];
  const whose = entity === undefined ? "" : ` of ${eitherOf(entity)}`;
  const written = layout === undefined ? "" : ` in layout ${eitherOf(layout)}`;
  const what = conditions.length === 0 ? "" : ` with ${conditions.join(" and ")}`;
  const when = times.length === 0 ? "" : ` minted ${times.join(" and ")}`;
  return `${whose + written + what + when === "" ? "all IDs" : `IDs${whose}${written}${when}${what}`} go to ${destinationOf(route)}.`;
}

const NAMES: Readonly<Record<string, string>> = { shardKey: "shard key", primaryKey: "primary key" };

const nameOf = (name: string): string => ownOf(NAMES, name) ?? name;

const VALUES_MAX = 12;

/** `PL`, `PL or DE`, and of many the first twelve. */
function eitherOf(values: unknown): string {
  const all = (Array.isArray(values) ? values : [values]).map(String);
  const shown = all.slice(0, VALUES_MAX);
  const rest = all.length - shown.length;
  const last = rest > 0 ? `${rest} more` : shown.pop();
  return shown.length === 0 ? `${last}` : `${shown.join(", ")} or ${last}`;
}

function destinationOf({ region, directory, split, pack, canary, shadow }: DeclaredRoute): string {
  const looked = directory === undefined ? `what pack ${pack} says` : `what directory ${directory} says`;
  const own = region ?? (split ? `${split.parts} parts of ${regionsOf(split.regions).join(", ")}` : looked);
  const part = canary === undefined ? "" : `, and ${canary.percent} % of them to ${canary.region}`;
  return (
    own + part + (shadow === undefined ? "" : `; ${shadow.percent} % of the reads are also sent to ${shadow.region}`)
  );
}

const regionsOf = (regions: readonly string[] | Readonly<Record<string, string>>): readonly string[] => [
  ...new Set(Object.values(regions)),
];
