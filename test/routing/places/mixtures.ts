import fc from "fast-check";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

/** Requests with IDs in any of their places, and where they go by a plain reading of what was put there. */

/** IDs of orders by region, and texts that are none. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  ap: ["01990f04-d900-8005-8040-000000000001", "01990f04-d900-8005-8040-000000000002"],
  us: ["01990f04-d900-8007-8040-000000000001", "01990F04-D900-8007-8040-0000000000AA"],
  eu: ["01990f04-d900-8009-8040-000000000001"],
};
const NO_ORDERS = ["", "17", "01990f04-d900-8005-8080-000000000001", "01990f04-d900-80fe-8040-000000000001", "%", "é"];

const KINDS = ["query", "header", "cookie", "json", "form", "jwtClaim"] as const;
type Kind = (typeof KINDS)[number];

/** Each kind once for one ID and once for a list, and a name that the table does not read. */
const DECLARED = KINDS.flatMap((kind) => [
  { entity: "order", [kind]: nameOf(kind, "one") },
  { entity: "order", [kind]: nameOf(kind, "many"), list: true },
]);

function nameOf(kind: Kind, name: string): string {
  return kind === "json" ? `/a/${name}` : kind === "header" ? `x-${name}` : name;
}

export const MIXED_TABLE = {
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    order: { ...DECLARED_TABLE.entities.order, idIn: DECLARED.map(({ entity: _, ...place }) => place) },
  },
  withoutId: { mixed: { path: "/mixed", idIn: DECLARED, sources: [{ header: "x-home" }] } },
};

interface Put {
  readonly kind: Kind;
  readonly name: "one" | "many" | "other";
  readonly texts: readonly string[];
}

export interface Mixture {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** `undefined`: a problem. */
  readonly region: string | undefined;
}

const goodText = fc.constantFrom(...Object.values(ORDERS).flat());
const anyText = fc.oneof({ weight: 12, arbitrary: goodText }, { weight: 1, arbitrary: fc.constantFrom(...NO_ORDERS) });
/** Mostly of one region, so that many requests go somewhere. */
const texts = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(...Object.values(ORDERS))
      .chain((own) => fc.array(fc.constantFrom(...own), { minLength: 1, maxLength: 2 })),
  },
  { weight: 1, arbitrary: fc.array(anyText, { minLength: 1, maxLength: 3 }) },
);
const put = fc.record({
  kind: fc.constantFrom(...KINDS),
  name: fc.constantFrom("one", "many", "other"),
  texts,
}) as fc.Arbitrary<Put>;

export const mixture: fc.Arbitrary<Mixture> = fc
  .record({
    puts: fc.uniqueArray(put, { maxLength: 4, selector: ({ kind, name }) => `${kind} ${name}` }),
    inPath: fc.option(goodText, { nil: undefined }),
    home: fc.option(fc.constantFrom("eu", "us"), { nil: undefined }),
    bodyKind: fc.constantFrom("json", "form"),
    isEncoded: fc.boolean(),
  })
  .map(({ puts: all, inPath, home, bodyKind, isEncoded }) => {
    // A body is of one type.
    const puts = all.filter(({ kind }) => (kind !== "json" && kind !== "form") || kind === bodyKind);
    const of = (kind: Kind) => puts.filter((one) => one.kind === kind);
    const pairsOf = (kind: Kind) =>
      of(kind).flatMap(({ name, texts: own }) =>
        (name === "many" ? [own.join()] : own).map(
          (text) => `${isEncoded ? escaped(name) : name}=${encodeURIComponent(text)}`,
        ),
      );
    const query = pairsOf("query");
    const headers: (readonly [string, string])[] = of("header").map(({ name, texts: own }) => [
      `x-${name}`,
      own.join(", "),
    ]);
    const cookies = of("cookie").map(({ name, texts: own }) =>
      name === "many" ? [`${name}=${own.join("|")}`] : own.map((text) => `${name}=${text}`),
    );
    if (cookies.length > 0) headers.push(["cookie", cookies.flat().join("; ")]);
    if (home !== undefined) headers.push(["x-home", home]);
    const members = of("json").map(({ name, texts: own }) => [name, name === "many" ? own : own[0]] as const);
    const json =
      members.length === 0 ? "" : JSON.stringify({ b: { one: ORDERS["eu"]?.[0] }, a: Object.fromEntries(members) });
    const body = bodyKind === "json" ? json : pairsOf("form").join("&");
    if (body !== "")
      headers.push(["content-type", bodyKind === "json" ? "application/json" : "application/x-www-form-urlencoded"]);
    const claims = Object.fromEntries(
      of("jwtClaim").map(({ name, texts: own }) => [name, name === "many" ? own : own[0]]),
    );
    return {
      method: body === "" ? "GET" : "POST",
      url: `${inPath === undefined ? "/mixed" : `/orders/${inPath}`}${query.length === 0 ? "" : `?${query.join("&")}`}`,
      headers,
      body,
      claims,
      region: expected(puts, inPath, home),
    };
  });

const escaped = (name: string): string => `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;

/** One region for all that was put where the table reads; else the word of the source; else none. */
function expected(puts: readonly Put[], inPath: string | undefined, home: string | undefined): string | undefined {
  const read = puts.filter(({ name }) => name !== "other");
  const seen: string[] = inPath === undefined ? [] : [inPath];
  for (const { kind, name, texts: own } of read) {
    const isFirstOnly = name === "one" && (kind === "json" || kind === "jwtClaim");
    const values = isFirstOnly ? own.slice(0, 1) : own;
    // A header is one text, and a cookie has no list but between commas, which end it.
    if (kind === "cookie" && name === "many" && own.length > 1) return undefined;
    if (name === "one" && new Set(values).size > 1) return undefined;
    if (name === "one" && kind === "header" && values.length > 1) return undefined;
    seen.push(...values);
  }
  if (seen.length === 0) return home;
  const regions = new Set(seen.map((text) => Object.keys(ORDERS).find((region) => ORDERS[region]?.includes(text))));
  const [first, second] = regions;
  return second === undefined && regions.size === 1 ? first : undefined;
}
