import { checkRegion } from "../../../routing/check/names.ts";
import { checkRegions } from "../../../routing/check/sources.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import type { Place, Report } from "../../../routing/schema/faults.ts";
import { type DeclaredValues, valuesOf } from "../../../routing/schema/without-id.ts";
import type { Decision, Region, Regions, Rule } from "../../../routing/table.ts";
import type { DeclaredReadCopies, ReadCopies } from "./schema.ts";

/** Every region that is named must be there, and some client must be able to read from a copy. */
export const checkCopies = (draft: Draft, report: Report): void => {
  for (const [entity, { readCopies }] of draft.entities) {
    if (readCopies === undefined) continue;
    const place: Place = ["entities", entity, "readCopies"];
    const { clientCountry, clientContinent, owners = [] } = readCopies;
    checkRegions(draft, readCopies, place, report);
    for (const [at, owner] of owners.entries()) {
      checkRegion(draft, owner, [...place, "owners", at], report);
      if (owners.indexOf(owner) < at) {
        report("schema", [...place, "owners", at], `${JSON.stringify(owner)} is duplicated; remove one of them.`);
      }
    }
    if (readCopies.countryHeader !== undefined && clientCountry === undefined) {
      report(
        "schema",
        [...place, "countryHeader"],
        "No country has a region here; add `clientCountry`, or remove this.",
      );
    }
    const copies = new Set(
      [clientCountry, clientContinent].flatMap((map) => valuesOf(map).map(({ region }) => region)),
    );
    if (clientCountry === undefined && clientContinent === undefined) {
      report("schema", place, "No client reads from a copy; add `clientCountry` or `clientContinent`.");
    } else if (isAlone(copies, owners.length === 0 ? [...draft.names.regions] : owners)) {
      const message =
        "The only copy is in the only region that owns these entities; name another region, or remove this.";
      report("same-region", place, message);
    }
  }
};

const isAlone = (copies: ReadonlySet<unknown>, owners: readonly string[]): boolean =>
  owners.length === 1 && copies.size === 1 && copies.has(owners[0]);

export const copiesOf = (
  declared: DeclaredReadCopies | undefined,
  regions: Regions,
): ReadCopies<Region> | undefined => {
  if (declared === undefined) return undefined;
  const { clientCountry = {}, clientContinent = {}, countryHeader, lagSeconds, owners, afterWriteCookie } = declared;
  const known = new Map<string, Region>();
  const copyIn = (name: string): Region => {
    const region = regions.get(name);
    if (region === undefined) throw new Error(`region ${name} was not checked`);
    // A failover region has no copy of this entity: its owner is asked instead.
    const copy = known.get(name) ?? Object.freeze({ ...region, failover: [], failoverWrites: false });
    known.set(name, copy);
    return copy;
  };
  const mapOf = (map: DeclaredValues) => new Map(valuesOf(map).map(({ value, region }) => [value, copyIn(region)]));
  return Object.freeze({
    byCountry: mapOf(clientCountry),
    byContinent: mapOf(clientContinent),
    countryHeader: countryHeader?.toLowerCase(),
    lagSeconds,
    owners: owners && new Set(owners),
    cookie: afterWriteCookie,
  });
};

/**
 * Entities that are moving or moved are read from their owner: copies of the region that they left may still have them.
 * So are those of a canary: copies of the route's own region lack its writes. So are those whose owner no layer of a
 * directory knows for certain.
 */
const hasCopies = (rule: Rule): boolean =>
  rule.kind === "route" || rule.kind === "default" || (rule.kind === "directory" && rule.state === undefined);

/** Whether some client reads the entity from a copy. */
export const mayReadCopy = ({ entity: { copies }, target: { region, rule, move } }: Decision): boolean =>
  copies !== undefined && move === undefined && hasCopies(rule) && copies.owners?.has(region.name) !== false;

/** For people: the regions that an entity may be read from beside its owner. */
export const plainCopies = (decision: Decision) => {
  const { copies } = decision.entity;
  if (copies === undefined || !mayReadCopy(decision)) return undefined;
  const all = [...copies.byCountry.values(), ...copies.byContinent.values()].map(({ name }) => name);
  const regions = [...new Set(all)].filter((name) => name !== decision.target.region.name);
  return regions.length === 0 ? undefined : { regions, lagSeconds: copies.lagSeconds };
};

/** The copy that is nearest to a client; `undefined` where it is the owner, or not known. */
export const nearestCopy = (
  decision: Decision,
  country: string | undefined,
  continent: () => string | undefined,
): Region | undefined => {
  const { copies } = decision.entity;
  if (copies === undefined || !mayReadCopy(decision)) return undefined;
  const byCountry = country === undefined ? undefined : copies.byCountry.get(country);
  const nearest = byCountry ?? copies.byContinent.get(continent() ?? "");
  return nearest?.name === decision.target.region.name ? undefined : nearest;
};
