import type { TableFeature } from "../../../routing/feature.ts";
import { hasMember } from "../../../routing/schema/member.ts";
import { type DeclaredValues, valuesOf } from "../../../routing/schema/records.ts";
import type { IdDecision, PlainDecision, Region, Regions, Rule } from "../../../routing/table.ts";
import type { DeclaredReadCopies, ReadCopies } from "./schema.ts";

const copiesOf = (declared: DeclaredReadCopies | undefined, regions: Regions): ReadCopies | undefined => {
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
 * So are those of a canary: copies of the route's own region lack its writes. So are those whose owner is not known for
 * certain.
 */
const hasCopies = (rule: Rule): boolean => !OF_OWNER.has(rule.kind) && !hasMember(rule, "state");

const OF_OWNER: ReadonlySet<string> = new Set(["moved", "moving", "canary", "source"] satisfies Rule["kind"][]);

/** Whether some client reads the entity from a copy. */
export const mayReadCopy = ({ entity: { copies }, target: { region, rule, move } }: IdDecision): boolean =>
  copies !== undefined && move === undefined && hasCopies(rule) && copies.owners?.has(region.name) !== false;

/** For people: the regions that an entity may be read from beside its owner. */
const plainCopies = (decision: IdDecision): Partial<PlainDecision> => {
  const { copies } = decision.entity;
  if (copies === undefined || !mayReadCopy(decision)) return {};
  const all = [...copies.byCountry.values(), ...copies.byContinent.values()].map(({ name }) => name);
  const regions = [...new Set(all)].filter((name) => name !== decision.target.region.name);
  return regions.length === 0 ? {} : { readCopies: { regions, lagSeconds: copies.lagSeconds } };
};

/** The copy that is nearest to a client; `undefined` where it is the owner, or not known. */
export const nearestCopy = (
  decision: IdDecision,
  country: string | undefined,
  continent: () => string | undefined,
): Region | undefined => {
  const { copies } = decision.entity;
  if (copies === undefined || !mayReadCopy(decision)) return undefined;
  const byCountry = country === undefined ? undefined : copies.byCountry.get(country);
  const nearest = byCountry ?? copies.byContinent.get(continent() ?? "");
  return nearest?.name === decision.target.region.name ? undefined : nearest;
};

export const copiesTable: TableFeature = {
  name: "copies",
  plain: plainCopies,
  compile: ({ regions }) => ({
    // Requests of an entry without an ID are of no copy, whatever entity their ID is of.
    forwarding: () => ({ copies: undefined }),
    entity: (_, declared) => ({ copies: copiesOf(declared?.readCopies, regions) }),
  }),
};

declare module "../../../routing/table.ts" {
  interface Entity {
    /** `undefined`: all reads go to the owner. */
    readonly copies?: ReadCopies | undefined;
  }
  interface PlainDecision {
    /** The regions that some clients read it from, and how far they may be behind. */
    readonly readCopies?: { readonly regions: readonly string[]; readonly lagSeconds: number };
  }
}
