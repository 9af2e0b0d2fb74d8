import { SUBJECTS } from "../misroute/subjects.ts";
import { mintText, mutateText, randomText } from "../misroute/texts.ts";
import type { Dice } from "./dice.ts";
import { COUNTRY_CODES, HOSTS, idOf, KEYS, PATHS_WITHOUT_ID, type RandomEntity, type RandomTable } from "./tables.ts";

/** Random requests for a random table: most of them mean one of its endpoints. */

export interface RandomRequest {
  /** The kind of endpoint that was meant, for the report. */
  readonly kind: string;
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** As the platform says it. */
  readonly country: string | undefined;
  readonly laterMs: number;
}

/** Token of a caller who may see the gateway's own pages. */
export const OPERATOR_TOKEN = "operator-token-of-the-decide-benchmark";

type Part = Partial<RandomRequest> & Pick<RandomRequest, "kind" | "target">;

const READS = ["GET", "GET", "GET", "GET", "HEAD"];
const METHODS = [...READS, "PUT", "POST", "PATCH", "DELETE", "OPTIONS"];

export function randomRequest(dice: Dice, table: RandomTable, tokens: readonly string[]): RandomRequest {
  const part = dice.pick(MAKERS)(dice, table);
  const country = dice.chance(80) ? dice.pick(COUNTRY_CODES) : undefined;
  return {
    method: dice.pick(METHODS),
    host: dice.pick(HOSTS),
    body: undefined,
    country,
    laterMs: dice.pick([0, 0, 0, 3_600_000, 400 * 86_400_000]),
    ...part,
    headers: { ...ambient(dice, table, tokens), ...part.headers },
  };
}

type AmbientFields = Partial<Record<"authorization" | "cookie" | "id-layout" | "origin" | `x-${string}`, string>>;

/** Fields that sources, places and hints read. */
function ambient(dice: Dice, table: RandomTable, tokens: readonly string[]): AmbientFields {
  const value = (): string => dice.pick(["a", "ab", "b", "c", "abc", "", ...table.regions]);
  const headers: AmbientFields = {};
  const cookies: string[] = [];
  if (dice.chance(15)) headers["x-region"] = value();
  if (dice.chance(15)) headers["x-home"] = value();
  if (dice.chance(10)) headers["x-tier"] = dice.pick(["gold", "silver", "tin"]);
  if (dice.chance(15)) cookies.push(`home=${value()}`);
  if (dice.chance(5)) cookies.push(`stick=${value()}`, "wrote=1");
  if (dice.chance(5)) headers.authorization = `Bearer ${dice.pick([...tokens, "x.y.z"])}`;
  if (dice.chance(5)) headers["x-ref"] = encodeURI(anyText(dice, table));
  if (dice.chance(5)) cookies.push(`ref=${encodeURIComponent(anyText(dice, table))}`);
  if (dice.chance(5))
    headers["id-layout"] = dice.pick([...dice.pick(table.entities).subjects.map(({ name }) => name), "nothing"]);
  if (dice.chance(3)) headers.origin = dice.pick(["https://app.example.com", "https://evil.example.com"]);
  if (cookies.length > 0) headers.cookie = cookies.join("; ");
  return headers;
}

/** An ID, a key, or a text that is none. */
function anyText(dice: Dice, table: RandomTable, entity = dice.pick(table.entities)): string {
  if (entity.directory !== undefined) return dice.pick(KEYS);
  const known = table.overridden.filter((each) => each.entity === entity);
  if (known.length > 0 && dice.chance(30)) return dice.pick(known).id;
  const subject = dice.pick(entity.subjects);
  if (dice.chance(75)) return idOf(dice, entity);
  if (dice.chance(40)) return mutateText(subject, mintText(subject, dice.words), dice.words);
  if (dice.chance(50)) return mintText(dice.pick(SUBJECTS), dice.words).text;
  return randomText(subject, dice.words);
}

/** In a path; a few are written with escapes. */
function segment(dice: Dice, text: string): string {
  const written = encodeURIComponent(text);
  return dice.chance(3)
    ? written.replace(/^./, (first) => `%${first.charCodeAt(0).toString(16).padStart(2, "0")}`)
    : written;
}

function pathOf(dice: Dice, entity: RandomEntity, text: string): string {
  const own = dice.pick(entity.patterns).replace("*", dice.pick(["a", "b", "c"]));
  const path = own.replace("{v1,v3}", dice.pick(["v1", "v3", "v2"])).replace("/**", dice.pick(["", "/x", "/x/y"]));
  return (
    path.replace(":id", () => segment(dice, text)) + dice.pick(["", "", "", "/events", "/", "?a=1", "/events?region=a"])
  );
}

function onEntity(dice: Dice, table: RandomTable): Part {
  const entity = dice.pick(table.entities);
  const ref = dice.chance(15) ? anyText(dice, table) : undefined;
  const path = pathOf(dice, entity, anyText(dice, table, dice.chance(95) ? entity : undefined));
  const target = ref === undefined ? path : `${path.split("?")[0]}?ref=${encodeURIComponent(ref)}`;
  const host = entity.hosts.length > 0 && dice.chance(80) ? { host: dice.pick(entity.hosts) } : {};
  if (dice.chance(75)) return { kind: "entity", target, ...host, method: dice.pick(READS) };
  if (!dice.chance(60)) return { kind: "entity", target, ...host };
  const text = anyText(dice, table);
  const [type, body] = dice.pick([
    ["application/json", JSON.stringify({ ref: dice.chance(80) ? text : [text], n: 1 })],
    ["application/x-www-form-urlencoded", `ref=${encodeURIComponent(text)}`],
    ["text/plain", text],
  ] as const);
  return {
    kind: "entity with a body",
    target,
    ...host,
    method: dice.pick(["PUT", "POST", "PATCH"]),
    headers: { "content-type": type },
    body,
  };
}

function onAny(dice: Dice, table: RandomTable): Part {
  const target = `/any/${segment(dice, anyText(dice, table))}${dice.pick(["", "", "/events", "?a=1"])}`;
  return { kind: "/any", target, method: dice.pick(READS) };
}

const onPageOfId = (dice: Dice, table: RandomTable): Part => ({
  kind: "/-/ids",
  target: `/-/ids/${segment(dice, anyText(dice, table))}`,
  method: "GET",
  headers: { accept: "application/json", authorization: `Bearer ${OPERATOR_TOKEN}` },
});

function withoutId(dice: Dice, table: RandomTable): Part {
  const declared = Object.values(table.declared.withoutId ?? {});
  const own = declared.length > 0 && dice.chance(80) ? declared.map(({ path }) => path) : PATHS_WITHOUT_ID;
  const path = dice
    .pick(own)
    .replace("/**", dice.pick(["", "/x", "/x/y"]))
    .replace("*", dice.pick(["a", "eu", "zz"]));
  const query = dice.pick([
    "",
    "",
    `?region=${dice.pick(["a", "b", ...table.regions])}`,
    `?ref=${encodeURIComponent(anyText(dice, table))}`,
  ]);
  return { kind: "without an ID", target: (path === "" ? "/" : path) + query };
}

function onCollection(dice: Dice, table: RandomTable): Part {
  const isList = dice.chance(40);
  const declared = Object.entries(table.declared.entities);
  const own = declared.filter(([, entity]) => (isList ? "list" : "create") in entity).map(([name]) => name);
  const name = own.length > 0 && dice.chance(85) ? dice.pick(own) : dice.pick(table.entities).name;
  const query = dice.pick(["", "?limit=2", `?region=${dice.pick(table.regions)}`, "?country=KZ,BR", "?cursor=x"]);
  if (isList) return { kind: "list", target: `/${name}${query}`, method: dice.pick(READS) };
  const one = {
    country: dice.pick(["KZ", "BR", "ZZ"]),
    shard: dice.pick([1, 12, "7", -1]),
    ...dice.maybe(20, () => ({ id: anyText(dice, table) })),
  };
  const body = JSON.stringify(dice.chance(80) ? one : { items: [one, one] });
  const headers = {
    "content-type": "application/json",
    ...dice.maybe(50, () => ({ "x-country": dice.pick(["KZ", "kz", "br", "ZZ"]) })),
    ...dice.maybe(20, () => ({ "idempotency-key": '"k1"' })),
    ...dice.maybe(50, () => ({ "x-shard": dice.pick(["1", "1023", "x"]) })),
  };
  return { kind: "create", target: `/${name}`, method: "POST", laterMs: 0, headers, body };
}

function onGraphql(dice: Dice, table: RandomTable): Part {
  if (table.declared.graphql === undefined && !dice.chance(10)) return onEntity(dice, table);
  const entity = dice.pick(table.entities);
  const id = (): string => JSON.stringify(anyText(dice, table, dice.chance(70) ? entity : undefined));
  const globalId = (): string => JSON.stringify(Buffer.from(`Thing:${anyText(dice, table)}`).toString("base64"));
  const query = dice.pick([
    () => `{ ${entity.name}Of(id: ${id()}) { status } }`,
    () => `{ a: ${entity.name}Of(id: ${id()}) { status } b: ${entity.name}Of(id: ${id()}) { status } }`,
    () => `{ many(ids: [${id()}, ${id()}, ${id()}]) { status } }`,
    () => `{ node(id: ${globalId()}) { id } }`,
    () => `{ nodes(ids: [${globalId()}, ${id()}]) { id } }`,
    () => "{ viewer { name } }",
    () => "{ __schema { queryType { name } } }",
    () => `mutation { pay(id: ${id()}) { status } }`,
    () => `{ ${entity.name}Of(id: ${id()} { status } }`,
  ])();
  if (dice.chance(20)) return { kind: "graphql", target: `/graphql?query=${encodeURIComponent(query)}`, method: "GET" };
  const body = JSON.stringify({ query });
  return { kind: "graphql", target: "/graphql", method: "POST", headers: { "content-type": "application/json" }, body };
}

const onMany = (dice: Dice, table: RandomTable): Part => ({
  kind: "POST /any",
  target: "/any",
  method: "POST",
  headers: { "content-type": "application/json", accept: "application/json" },
  body: JSON.stringify({ ids: Array.from({ length: dice.between(1, 4) }, () => anyText(dice, table)) }),
});

const onMint = (dice: Dice, table: RandomTable): Part => {
  const { name, subjects } = dice.pick(table.entities);
  const keys: Readonly<Record<string, object>> = {
    iuid: { country: dice.pick(["KZ", "BR", "ZZ"]) },
    hotguid: { shardKey: 7 },
  };
  return {
    kind: "POST /mint",
    target: "/mint",
    method: "POST",
    laterMs: 0,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ entity: name, ...(dice.chance(90) ? keys[subjects[0]?.name ?? ""] : { country: "KZ" }) }),
  };
};

const nowhere = (dice: Dice, table: RandomTable): Part => ({
  kind: "nowhere",
  target: dice.pick([
    "/",
    "//",
    "/nothing/here",
    `/v9/${dice.pick(table.entities).name}/1`,
    "/any/",
    "/%zz",
    "/-/nothing",
    "/a/../b",
  ]),
});

const MAKERS: readonly ((dice: Dice, table: RandomTable) => Part)[] = [
  ...Array.from({ length: 10 }, () => onEntity),
  onAny,
  onAny,
  onPageOfId,
  withoutId,
  withoutId,
  withoutId,
  onCollection,
  onCollection,
  onGraphql,
  onGraphql,
  onMany,
  onMint,
  nowhere,
];
