import { listOf } from "../../../routing/schema/records.ts";
import type { DeclaredEntity, DeclaredEntityId, DeclaredTable } from "../../../routing/schema/table.ts";
import type { DeclaredSource, DeclaredWithoutId } from "../../../routing/schema/without-id.ts";
import { plural } from "../../app/words.ts";
import { eitherOf } from "../condition-words.ts";

/** Entities and paths without an ID in words: one entry for each member of the schema, or this does not compile. */

type Members = Omit<Required<DeclaredEntity>, "path" | "ids" | "directory">;

type OfMember = { readonly [Name in keyof Members]: (value: Members[Name]) => string };

const OF_MEMBER: OfMember = {
  methods: (value) => `${eitherOf(listOf(value))} alone`,
  otherMethods: (value) => (value === "next" ? "other methods go on to the next pattern" : "other methods get 405"),
  hosts: (value) => `on ${eitherOf(value)}`,
  removePrefix: (value) => `origins do not get ${value}`,
  regionsInstead: (value) =>
    Object.entries(value)
      .map(([from, to]) => `${to} in place of ${from}`)
      .join(", "),
  any: (value) => (value === "redirect" ? "found at /any by redirect" : "found at /any"),
  public: () => "clients see public IDs",
  publicFields: (value) => `public IDs in ${plural(value.length, "place")} of answers`,
  otherBodies: (value) => (value === "refuse" ? "bodies that cannot be searched are refused" : "other bodies pass"),
  deadlines: () => "deadlines of its own",
  wholeAnswers: (value) => (value ? "small answers are read whole" : "answers pass as they come"),
  replayBytesMax: (value) => `bodies up to ${value.toLocaleString("en")} bytes can be sent again`,
  rememberMovedSeconds: (value) => `moves are remembered for ${value} s`,
  fields: (value) => `${value} header fields`,
  readCopies: () => "reads go to the nearest copy",
  idIn: (value) => `IDs in ${plural(value.length, "more place")} of requests`,
  create: () => "created through the gateway",
  list: () => "listed through the gateway",
};

export const ENTITY_MEMBERS = Object.keys(OF_MEMBER);

export function alsoOf(entity: DeclaredEntity): readonly string[] {
  return (Object.keys(OF_MEMBER) as (keyof Members)[]).flatMap((name) => wordsOf(name, entity[name]));
}

const wordsOf = <Name extends keyof Members>(name: Name, value: Members[Name] | undefined): readonly string[] =>
  value === undefined ? [] : [OF_MEMBER[name](value)];

export function pathsOf({ path }: DeclaredEntity): readonly string[] {
  return listOf<string | { readonly path: string; readonly layout?: string; readonly below?: boolean }>(
    path as never,
  ).map((each) =>
    typeof each === "string"
      ? each
      : `${each.path}${each.layout === undefined ? "" : ` (${each.layout})`}${each.below === false ? ", nothing below" : ""}`,
  );
}

export const idWords = ({ layout, service, class: name, group }: DeclaredEntityId): string =>
  [layout, service === undefined ? "" : `service ${service}`, name ?? "", group === undefined ? "" : `group ${group}`]
    .filter((each) => each !== "")
    .join(", ");

/** `the header x-region, then the client's country, then eu`. */
export function sourcesOf({ sources }: DeclaredWithoutId, table: DeclaredTable): string {
  const all = sources ?? table.sources ?? [];
  return all.length === 0 ? "IDs in the request alone" : all.map(sourceWords).join(", then ");
}

type Source = Omit<Required<DeclaredSource>, "values" | "prefixes" | "unlisted">;

type OfSource = { readonly [Name in keyof Source]: (value: Source[Name]) => string };

const OF_SOURCE: OfSource = {
  jwtClaim: (value) => `the claim ${value}`,
  header: (value) => `the header ${value}`,
  cookie: (value) => `the cookie ${value}`,
  headers: (value) => `the headers ${Object.keys(value).join(" and ")}`,
  clientCountry: () => "the client's country",
  clientContinent: () => "the client's continent",
  query: (value) => `the parameter ${value}`,
  pathSegment: (value) => `segment ${value} of the path`,
  hostLabel: (value) => `the label of ${value}`,
  host: () => "the host",
  region: (value) => value,
};

export const SOURCE_MEMBERS = Object.keys(OF_SOURCE);

function sourceWords(source: DeclaredSource): string {
  const name = (Object.keys(OF_SOURCE) as (keyof Source)[]).find((each) => source[each] !== undefined);
  if (name === undefined) return "nothing";
  const first = (OF_SOURCE[name] as (value: unknown) => string)(source[name]);
  return name === "headers" && source.region !== undefined ? `${first}: ${source.region}` : first;
}
