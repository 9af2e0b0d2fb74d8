import { ISO_3166_ALPHA_2 } from "../data/iso-3166.ts";
import { isLayoutName } from "../layouts/declared.ts";
import { type Draft, overridesIn } from "../schema/draft.ts";
import { type Place, type Report, reportUnknown } from "../schema/faults.ts";

export const noSuchCountry = (code: string): string =>
  `${JSON.stringify(code)} is not an ISO 3166-1 alpha-2 code, such as "KZ" or, for the United Kingdom, "GB"; correct it.`;

/** Each country has its ISO 3166-1 code and a number of its own. */
export const checkCountries = (draft: Draft, report: Report): void => {
  const byNumber = new Map<number, string>();
  for (const [code, number] of draft.countries) {
    if (!ISO_3166_ALPHA_2.has(code)) report("unknown-name", ["countries", code], noSuchCountry(code));
    const other = byNumber.get(number);
    if (other === undefined) byNumber.set(number, code);
    else report("number-clash", ["countries", code], `Number ${number} is already ${other}; give ${code} another one.`);
  }
};

export const checkRegion = ({ names: { regions } }: Draft, name: string, place: Place, report: Report): void => {
  if (!regions.has(name)) reportUnknown("region", name, regions, place, report);
};

/** Every name that is used must be declared. The conditions of routes are checked where they are read. */
export const checkNames = (draft: Draft, report: Report): void => {
  const region: RegionCheck = (name, place) => checkRegion(draft, name, place, report);
  checkFailovers(draft, region, report);
  for (const { index, route } of draft.routes) {
    if (route.region !== undefined) region(route.region, ["routes", index, "region"]);
    for (const [key, name] of Object.entries(route.split?.regions ?? [])) {
      region(name, ["routes", index, "split", "regions", key]);
    }
    for (const part of ["canary", "shadow"] as const) {
      const share = route[part];
      if (share !== undefined) region(share.region, ["routes", index, part, "region"]);
    }
  }
  checkOverrides(draft, region, report);
  if (draft.fallback !== undefined) region(draft.fallback, ["default"]);
  checkLayoutNames(draft, report);
};

type RegionCheck = (name: string, place: Place) => void;

/** A region fails over to others, each named once. */
const checkFailovers = (draft: Draft, region: RegionCheck, report: Report): void => {
  for (const [name, { failover = [] }] of draft.regions) {
    for (const [index, other] of failover.entries()) {
      const place = ["regions", name, "failover", index];
      region(other, place);
      if (other === name)
        report("region-cycle", place, `${JSON.stringify(name)} cannot be its own failover; remove it.`);
      else if (failover.indexOf(other) < index) {
        report("region-cycle", place, `${JSON.stringify(other)} is duplicated here; remove one of them.`);
      }
    }
  }
};

const checkOverrides = (draft: Draft, region: RegionCheck, report: Report): void => {
  for (const { part, text, entry } of overridesIn(draft)) {
    if (part === "moved") {
      if (typeof entry === "string") region(entry, ["moved", text]);
      else region(entry.region, ["moved", text, "region"]);
    } else if (part === "moves") {
      region(entry.from, ["moves", text, "from"]);
      region(entry.to, ["moves", text, "to"]);
      const message = `It is in ${JSON.stringify(entry.from)} already; name another region.`;
      if (entry.from === entry.to) report("moved-id", ["moves", text, "to"], message);
    }
  }
};

const checkLayoutNames = (draft: Draft, report: Report): void => {
  for (const [entity, { ids }] of draft.entities) {
    for (const [index, { layout }] of ids.entries()) {
      if (isLayoutName(draft, layout)) continue;
      reportUnknown("layout", layout, ownFirst(draft), ["entities", entity, "ids", index, "layout"], report);
    }
  }
  for (const layout of draft.layouts.keys()) {
    if (!isLayoutName(draft, layout)) reportUnknown("layout", layout, ownFirst(draft), ["layouts", layout], report);
  }
};

/** A list of names is cut short, and the table's own layouts are the likeliest to be meant. */
const ownFirst = ({ known, layouts }: Draft): ReadonlySet<string> =>
  new Set([...[...layouts.keys()].filter((name) => known.has(name)), ...known.keys()]);
