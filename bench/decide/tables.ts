import { PACKS } from "../misroute/packs.ts";
import { declaredLayouts, epochText, SUBJECTS, type Subject } from "../misroute/subjects.ts";
import { mintText } from "../misroute/texts.ts";
import type { Dice } from "./dice.ts";

/** Random declared tables with every feature. Many have faults: the caller keeps those that load. */

type Json = Record<string, unknown>;

export interface RandomEntity {
  readonly name: string;
  readonly subjects: readonly Subject[];
  /** The service of its iUIDs, and the group of its LUUIDs. */
  readonly number: number;
  readonly isPublic: boolean;
  /** Patterns as they are declared. */
  readonly patterns: readonly string[];
  readonly hosts: readonly string[];
  readonly directory: string | undefined;
}

/** The members that requests are made for. */
export interface Declared extends Json {
  readonly entities: Readonly<Record<string, object>>;
  readonly routes: readonly Json[];
  readonly withoutId?: Readonly<Record<string, { readonly path: string }>>;
  readonly graphql?: object;
  readonly packs?: object;
}

export interface RandomTable {
  readonly declared: Declared;
  readonly entities: readonly RandomEntity[];
  /** IDs that the table names one by one. */
  readonly overridden: readonly { readonly entity: RandomEntity; readonly id: string }[];
  readonly regions: readonly string[];
}

const REGIONS = ["eu", "us", "ap", "sa", "af"];
/** No route leads to it otherwise: a canary in the region of its route is a fault. */
const CANARY_REGION = "canary";
export const HOSTS = ["api.example.com", "eu.example.com", "us.example.com", "x.tenant.example.com"];
export const COUNTRIES = { KZ: 5, UZ: 6, BR: 7, DE: 9 };
export const COUNTRY_CODES = ["KZ", "UZ", "BR", "DE", "US", "JP", "XX", "T1"];
const CONTINENTS = ["EU", "AS", "NA", "SA", "AF"];
export const KEYS = ["acme", "Ünïcode", "group/project", "a", "nobody", "x".repeat(60)];

/** Layouts that most tables have come more often. */
const COMMON = [
  "iuid",
  "iuid",
  "iuid",
  "hotguid",
  "luuid",
  "uuid-v7",
  "ulid",
  "own-prefixed",
  "snowflake",
  "ksuid",
  "uuid-v4",
];

const subjectNamed = (name: string): Subject => SUBJECTS.find((one) => one.name === name) as Subject;

const anySubject = (dice: Dice): Subject => (dice.chance(70) ? subjectNamed(dice.pick(COMMON)) : dice.pick(SUBJECTS));

/** An ID of an entity in one of its texts, or in its canonical one. */
export function idOf(dice: Dice, { subjects, number }: RandomEntity, isCanonical = false): string {
  const subject = dice.pick(subjects);
  const minted = mintText(subject, dice.words);
  const own = NUMBER_FIELDS[subject.name];
  if (own === undefined && !isCanonical) return minted.text;
  const words = minted.words.slice();
  subject.layout.fields.find(({ name }) => name === own)?.write(words, number);
  return subject.layout.format(words);
}

/** Fields that tell entities of one layout apart. */
const NUMBER_FIELDS: Readonly<Record<string, string>> = { iuid: "service", luuid: "group" };

export function randomTable(dice: Dice): RandomTable {
  const regions = REGIONS.slice(0, dice.between(2, REGIONS.length));
  const region = (): string => dice.pick(regions);
  const withDirectory = dice.chance(30);
  const entities = Array.from({ length: dice.between(1, 5) }, (_, at) => randomEntity(dice, at, withDirectory));
  const ofIds = entities.filter(({ directory }) => directory === undefined);
  const overridden = ofIds.length === 0 ? [] : randomOverrides(dice, ofIds);
  const subjects = [
    ...new Map(entities.flatMap((each) => each.subjects.map((one) => [one.name, one] as const))).values(),
  ];
  const routes = subjects.flatMap((subject) => routesOf(dice, subject, regions));
  const packs = [...new Set(routes.flatMap(({ pack }) => (typeof pack === "string" ? [pack] : [])))];
  const packRegions = packs.flatMap((name) => PACKS.get(name)?.declared.regions ?? []);
  const own = Object.fromEntries(
    subjects.flatMap(({ name }) => (name in declaredLayouts ? [[name, declaredLayouts[name]]] : [])),
  );
  const declared: Declared = {
    ...dice.maybe(40, () => ({ gateway: { hosts: ["gateway.example.com"] } })),
    regions: Object.fromEntries(
      [...regions, CANARY_REGION, ...packRegions].map((name) => [name, regionOf(dice, name, regions)]),
    ),
    countries: COUNTRIES,
    entities: Object.fromEntries(entities.map((entity) => [entity.name, declare(dice, entity, entities, region)])),
    ...dice.maybe(30, () => ({ fields: dice.pick(["full", "minimal", "standard"]) })),
    ...(entities.some(({ isPublic }) => isPublic)
      ? {}
      : dice.maybe(70, () => ({ graphql: graphqlOf(dice, entities, region) }))),
    ...dice.maybe(25, () => ({ cors: { origins: ["https://app.example.com"] } })),
    ...dice.maybe(30, () => ({ sources: sourcesOf(dice, region) })),
    ...dice.maybe(60, () => ({ withoutId: withoutIdOf(dice, entities, region) })),
    ...(Object.keys(own).length === 0 ? {} : { layouts: own }),
    ...(packs.length === 0
      ? {}
      : { packs: Object.fromEntries(packs.map((name) => [name, PACKS.get(name)?.declared])) }),
    ...(withDirectory ? { directory: directoriesOf(dice, region) } : {}),
    routes: [...entityRoutes(dice, entities, region, withDirectory), ...routes],
    ...overridesOf(dice, overridden, regions),
    ...dice.maybe(50, () => ({ default: region() })),
  };
  return { declared, entities, overridden, regions };
}

function regionOf(dice: Dice, name: string, regions: readonly string[]): Json {
  const count = dice.chance(30) ? 2 : 1;
  const origins = Array.from({ length: count }, (_, at) => ({
    url: `https://${name.toLowerCase()}-${at}.test${dice.chance(20) ? "/base/" : ""}`,
    ...dice.maybe(20, () => ({ weight: dice.pick([1, 3, 100]) })),
  }));
  const others = regions.filter((other) => other !== name);
  return { origins, ...dice.maybe(30, () => ({ failover: dice.some(others, 2) })) };
}

function randomEntity(dice: Dice, at: number, withDirectory: boolean): RandomEntity {
  const name = `thing${at}`;
  const directory = withDirectory && dice.chance(30) ? dice.pick(["names", "groups"]) : undefined;
  const first = anySubject(dice);
  const subjects = directory !== undefined ? [] : dice.chance(30) ? [...new Set([first, anySubject(dice)])] : [first];
  const isPublic = subjects.length === 1 && first.layout.table.text.bits === 128 && dice.chance(12);
  const own = dice.pick([
    [`/${name}/:id`],
    [`/${name}/:id`],
    [`/${name}/:id`, `/v2/*/${name}/:id`],
    [`/{v1,v3}/${name}/:id`],
    [`/tenant/${name}/:id/**`],
    ["/shared/:id"],
    [`/${name}/:id/detail`, `/files/*/:id/${name}`],
  ]);
  const hosts = own[0] === "/shared/:id" || dice.chance(10) ? [HOSTS[at % HOSTS.length] as string] : [];
  return { name, subjects, number: at + 1, isPublic, patterns: own, hosts, directory };
}

function declare(dice: Dice, entity: RandomEntity, all: readonly RandomEntity[], region: () => string): Json {
  const { name, subjects, patterns, hosts, directory, number, isPublic } = entity;
  const [first = ""] = patterns;
  const paths = patterns.map((path, at) =>
    subjects.length > 1 && at > 0 && dice.chance(50) ? { path, layout: dice.pick(subjects).name } : path,
  );
  const ids = subjects.map((one) => {
    const own = NUMBER_FIELDS[one.name];
    return { layout: one.name, ...(own !== undefined && { [own]: number }) };
  });
  const isPlain = first === `/${name}/:id` && hosts.length === 0 && directory === undefined;
  return {
    path: paths.length === 1 ? paths[0] : paths,
    ...(directory === undefined ? { ids } : { directory }),
    ...(hosts.length === 0 ? {} : { hosts }),
    ...dice.maybe(10, () => ({
      methods: dice.pick([["GET"], ["GET", "PUT"], ["POST", "DELETE"]]),
      ...dice.maybe(30, () => ({ otherMethods: "next" })),
    })),
    ...(first.startsWith("/tenant/") && dice.chance(50) ? { removePrefix: "/tenant" } : {}),
    ...(directory === undefined ? dice.maybe(30, () => ({ any: dice.pick(["redirect", "proxy"]) })) : {}),
    ...(isPublic ? { public: true, publicFields: ["/id"] } : {}),
    ...dice.maybe(15, () => ({ idIn: placesOf(dice, all) })),
    ...dice.maybe(15, () => ({ fields: dice.pick(["full", "minimal", "standard"]) })),
    ...(directory === undefined ? dice.maybe(10, () => ({ readCopies: copiesOf(dice, region) })) : {}),
    ...(isPlain && !isPublic ? dice.maybe(45, () => ({ list: listOf(dice) })) : {}),
    ...(isPlain && CREATABLE.includes(subjects[0]?.name ?? "")
      ? dice.maybe(60, () => ({ create: createOf(dice, subjects) }))
      : {}),
  };
}

const copiesOf = (dice: Dice, region: () => string): Json => ({
  ...dice.pick([
    { clientCountry: { KZ: region(), DE: region() } },
    { clientContinent: { EU: region(), AS: region() } },
  ]),
  lagSeconds: 10,
  ...dice.maybe(30, () => ({ afterWriteCookie: "wrote" })),
});

const listOf = (dice: Dice): Json => ({
  items: "/items",
  order: dice.pick(["none", { by: { member: "/at", type: "number" }, direction: "asc" }]),
  ...dice.maybe(50, () => ({ next: { cursor: "/next", query: "after" } })),
  ...dice.maybe(60, () => ({ filters: dice.pick([{ region: "region" }, { region: "region", country: "country" }]) })),
  ...dice.maybe(20, () => ({ partial: "refuse" })),
});

const CREATABLE = ["iuid", "hotguid", "uuid-v7", "ulid", "ksuid"];

function createOf(dice: Dice, subjects: readonly Subject[]): Json {
  const [{ name } = { name: "" }] = subjects;
  const country = dice.pick([
    [{ header: "x-country" }, { clientCountry: true }],
    [{ member: "/country" }, { value: "KZ" }],
    [{ clientCountry: true }],
    { header: "x-country", values: { kz: "KZ", br: "BR" } },
  ]);
  const shardKey = dice.pick([{ header: "x-shard" }, [{ member: "/shard" }, { value: 7 }], { value: 12 }]);
  const key = name === "iuid" ? { country } : name === "hotguid" ? { shardKey } : undefined;
  return {
    layout: name,
    ...(key === undefined ? {} : { key }),
    ...dice.maybe(20, () => ({ bulk: { array: "/items", max: 5 } })),
    ...dice.maybe(20, () => ({
      clientId: { member: "/id", header: "x-id", beforeSeconds: 1_000_000_000, afterSeconds: 60 },
    })),
  };
}

const placesOf = (dice: Dice, all: readonly RandomEntity[]): Json[] =>
  dice
    .some(
      [{ query: "ref" }, { header: "x-ref" }, { cookie: "ref" }, { json: "/ref" }, { form: "ref" }],
      dice.between(1, 3),
    )
    .map((place) => ({
      ...place,
      ...dice.maybe(50, () => ({ entity: dice.pick(all).name })),
      ...dice.maybe(20, () => ({ list: true })),
    }));

function sourcesOf(dice: Dice, region: () => string): Json[] {
  const values = (): Json => ({ a: region(), b: region(), [region()]: ["c", "d"] });
  const all: Json[] = [
    { header: "x-region" },
    { header: "x-home", values: values() },
    { header: "x-home", prefixes: { a: region(), ab: region() } },
    { cookie: "home", ...dice.maybe(50, () => ({ values: values() })) },
    { query: "region", ...dice.maybe(50, () => ({ values: values(), unlisted: dice.pick(["next", "refuse"]) })) },
    { jwtClaim: "region" },
    { jwtClaim: "/app/home", values: values() },
    { headers: { "x-tier": ["gold", "silver"] }, region: region() },
    { clientCountry: { KZ: region(), BR: region() } },
    { clientContinent: Object.fromEntries(dice.some(CONTINENTS, 3).map((name) => [name, region()])) },
    { host: { "eu.example.com": region(), "*.tenant.example.com": region() } },
    { hostLabel: "*.tenant.example.com", values: { x: region() } },
    { pathSegment: 2, values: values() },
  ];
  return [...dice.some(all, dice.between(1, 4)), ...(dice.chance(50) ? [{ region: region() }] : [])];
}

export const PATHS_WITHOUT_ID = ["/login", "/search", "/static/**", "/tenant/*/home", "/things", "/shared/new", "/**"];

function withoutIdOf(dice: Dice, all: readonly RandomEntity[], region: () => string) {
  return Object.fromEntries(
    dice.some(PATHS_WITHOUT_ID, dice.between(1, 4)).map((path, at) => [
      `page${at}`,
      {
        path,
        ...dice.maybe(20, () => ({ methods: dice.pick([["GET"], ["POST"], ["GET", "POST"]]) })),
        ...dice.maybe(15, () => ({ hosts: [dice.pick(HOSTS)] })),
        ...dice.maybe(20, () => ({
          idIn: placesOf(dice, all).map((place) => ({ entity: dice.pick(all).name, ...place })),
        })),
        ...(dice.chance(10)
          ? { sources: [{ cookie: "home" }, { region: region() }], sticky: { cookie: "stick", maxAgeSeconds: 60 } }
          : { sources: sourcesOf(dice, region) }),
        ...dice.maybe(10, () => ({ fields: dice.pick(["full", "minimal"]) })),
      },
    ]),
  );
}

function graphqlOf(dice: Dice, all: readonly RandomEntity[], region: () => string): Json {
  const rules = dice.some(all, 2).map(({ name }) => ({ argument: "id", field: `${name}Of`, entity: name }));
  return {
    path: "/graphql",
    ids: [...rules, { argument: "ids", field: ["many"], entity: dice.pick(all).name, plural: true }],
    ...dice.maybe(40, () => ({ globalId: { form: "base64", types: { Thing: dice.pick(all).name } } })),
    ...dice.maybe(60, () => ({ sources: sourcesOf(dice, region), bySource: ["viewer"] })),
    ...dice.maybe(20, () => ({ introspection: region() })),
  };
}

const directoriesOf = (dice: Dice, region: () => string): Json => ({
  names: {
    key: { text: dice.pick(["nfc", "lower", "ascii-lower"]) },
    ...dice.maybe(30, () => ({ unknown: region() })),
  },
  groups: { key: { text: "nfc", slash: true }, ...dice.maybe(30, () => ({ onFailure: { region: region() } })) },
  randoms: { key: { layout: "uuid-v4" }, ...dice.maybe(30, () => ({ mode: dice.pick(["verify", "write-only"]) })) },
});

/** Routes of one layout: old IDs, thirds of the keys, a pack, a split or all, some with a canary. */
function routesOf(dice: Dice, subject: Subject, regions: readonly string[]): Json[] {
  const region = (): string => dice.pick(regions);
  const [one = "", other = ""] = dice.some(regions, 2);
  const { name, key, cutMs } = subject;
  const canary = () =>
    dice.maybe(25, () => ({ canary: { region: CANARY_REGION, percent: dice.pick([0, 1, 50, 99.99, 100]) } }));
  const within = (first: number, last: number) => {
    const field = key?.field.name ?? "";
    const isNamed = ["shardKey", "primaryKey", "service", "group"].includes(field);
    return isNamed ? { [field]: `${first}-${last}` } : { fields: { [field]: `${first}-${last}` } };
  };
  const third = key?.third ?? 0;
  const old =
    cutMs !== undefined && dice.chance(40)
      ? [{ when: { layout: name, mintedBefore: epochText(cutMs) }, region: region(), ...canary() }]
      : [];
  const byCountry =
    name === "iuid" && dice.chance(60)
      ? [{ when: { layout: name, country: dice.some(Object.keys(COUNTRIES), 2) }, region: region(), ...canary() }]
      : [];
  const pack = PACKS.has(name) && dice.chance(40) ? [{ when: { layout: name }, pack: name }] : [];
  const keyed =
    third > 0 && dice.chance(70)
      ? [
          { when: { layout: name, ...within(0, third - 1) }, region: region(), ...canary() },
          { when: { layout: name, ...within(third, 2 * third - 1) }, region: region() },
        ]
      : [];
  const rest = dice.pick<() => Json[]>([
    () => [],
    () => [{ when: { layout: name }, region: region(), ...canary() }],
    () => [{ when: { layout: name }, split: { by: "hash", parts: 3, regions: [one, other, one] } }],
  ])();
  return [...old, ...byCountry, ...pack, ...keyed, ...rest];
}

function entityRoutes(dice: Dice, all: readonly RandomEntity[], region: () => string, withDirectory: boolean): Json[] {
  const entity = dice.pick(all);
  const cutMs = entity.subjects[0]?.cutMs;
  const random = entity.subjects.some(({ name }) => name === "uuid-v4");
  return [
    ...(withDirectory && random ? [{ when: { layout: "uuid-v4" }, directory: "randoms" }] : []),
    ...(cutMs !== undefined && dice.chance(50)
      ? [{ when: { entity: entity.name, mintedFrom: epochText(cutMs) }, region: region() }]
      : []),
  ];
}

function randomOverrides(dice: Dice, entities: readonly RandomEntity[]): RandomTable["overridden"] {
  return Array.from({ length: dice.below(6) }, () => {
    const entity = dice.pick(entities);
    return { entity, id: idOf(dice, entity, true) };
  });
}

function overridesOf(dice: Dice, overridden: RandomTable["overridden"], regions: readonly string[]): Json {
  const ways = overridden.map(({ id }, at) => {
    const [from = "", to = ""] = dice.some(regions, 2);
    const epoch = at + 1;
    return dice.pick<() => [string, string, unknown]>([
      () => ["moved", id, dice.chance(50) ? to : { region: to, epoch }],
      () => ["moves", id, { from, to, state: dice.pick(["started", "fenced"]), epoch }],
      () => ["gone", id, { epoch }],
    ])();
  });
  const of = (member: string) =>
    Object.fromEntries(ways.flatMap(([kind, id, value]) => (kind === member ? [[id, value]] : [])));
  return Object.fromEntries(
    ["moved", "moves", "gone"]
      .map((member) => [member, of(member)])
      .filter(([, map]) => Object.keys(map as Json).length > 0),
  );
}

/** Another table for the same entities: what a canary of the whole table may be. */
export function canaryOf(dice: Dice, { declared, regions }: RandomTable): Declared {
  const routes = declared.routes.map((route) => ("region" in route ? { ...route, region: dice.pick(regions) } : route));
  return { ...declared, routes, ...dice.maybe(50, () => ({ default: dice.pick(regions) })) };
}
