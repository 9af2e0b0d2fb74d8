import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TOKEN_LENGTH_MAX } from "../../../src/routing/limits.ts";
import { chooseRegion, type RequestSays, stickyCookie } from "../../../src/routing/resolve/region-sources.ts";
import type { DeclaredSource } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { load, sampleTable } from "../tables.ts";

interface Said {
  readonly headers?: Readonly<Record<string, string>>;
  readonly country?: string;
  readonly continent?: string;
  readonly host?: string;
  readonly path?: string;
  readonly query?: string;
}

const saysOf = ({ headers = {}, country, continent, host = "", path = "/w", query = "" }: Said): RequestSays => ({
  host,
  path,
  query,
  header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
  country: () => country,
  continent: () => continent,
});

const sourcesOf = (sources: readonly DeclaredSource[], entry: object = {}) => {
  const table = { ...sampleTable(), withoutId: { w: { path: "/w", sources: [...sources], ...entry } } };
  return load(table).withoutId.entries[0]?.sources ?? [];
};

/** `ap`, `ap, assumed`, or the reason of the error and its evidence. */
const choose = (sources: readonly DeclaredSource[], said: Said, entry: object = {}): string => {
  const choice = chooseRegion(sourcesOf(sources, entry), saysOf(said));
  if (choice.ok) return choice.value.region + (choice.value.isAssumed ? ", assumed" : "");
  const { error } = choice;
  if (error.reason === "unknown-name" && error.source !== undefined) {
    return `no value ${error.name} of ${error.source}: ${error.known.join()}`;
  }
  if (error.reason === "unknown-name") return `no ${error.what} ${error.name}: ${error.known.join()}`;
  return error.reason;
};

const header = (value: string): Said => ({ headers: { "x-home": value } });
const cookie = (value: string): Said => ({ headers: { cookie: value } });

describe("a header field", () => {
  const plain = [{ header: "X-Home" }, { region: "us" }];
  const mapped = [{ header: "x-home", values: { kz: "ap", de: "eu" } }, { region: "us" }];
  test.each([
    [plain, header("eu"), "eu"],
    [plain, header("EU"), "no region EU: eu,us,ap"],
    [plain, header(""), "no region : eu,us,ap"],
    [plain, header("eu, eu"), "no region eu, eu: eu,us,ap"],
    [plain, header("constructor"), "no region constructor: eu,us,ap"],
    [plain, header("__proto__"), "no region __proto__: eu,us,ap"],
    [plain, {}, "us, assumed"],
    [mapped, header("kz"), "ap"],
    [mapped, header("eu"), "no value eu of header x-home: kz,de"],
    [mapped, {}, "us, assumed"],
  ])("%# says what it says, or nothing", (sources, said, expected) => {
    expect(choose(sources, said)).toBe(expected);
  });
});

describe("a cookie that names no region is passed over", () => {
  const sources = [{ cookie: "home" }, { cookie: "old", values: { "1": "ap" } }];
  test.each([
    ["home=eu", "eu"],
    ["a=b; home=eu; c", "eu"],
    ["home=eu;old=1", "eu"],
    ["home=mars; old=1", "ap"],
    ["old=1; home=mars", "ap"],
    ["home=mars; home=us", "us"],
    ["home=us; home=eu", "us"],
    [" home = eu ", "eu"],
    ["home=eu=us", "region-unknown"],
    ['home="eu"', "region-unknown"],
    ["home", "region-unknown"],
    ["home=", "region-unknown"],
    ["=eu", "region-unknown"],
    ["xhome=eu; homex=eu; HOME=eu", "region-unknown"],
    ["home=eu, old=1", "eu"],
    ["a=b, home=eu", "eu"],
    ["home=eu,old=1", "region-unknown"],
    ["a=b,home=eu; home=us", "us"],
    ["a=b, home=eu; home=us", "malformed-request"],
    ["a=b, home=us; home=us", "us"],
    ["home=__proto__; old=constructor", "region-unknown"],
    ["", "region-unknown"],
    [";;;===;", "region-unknown"],
    [`${"home=x; ".repeat(5000)}home=ap`, "ap"],
  ])("%# %.40s", (field, expected) => {
    expect(choose(sources, cookie(field))).toBe(expected);
  });
});

const encode = (text: string | Uint8Array): string => Buffer.from(text).toString("base64url");
const tokenOf = (claims: unknown): string => `${encode('{"alg":"HS256"}')}.${encode(JSON.stringify(claims))}.c2ln`;
const bearer = (token: string): Said => ({ headers: { authorization: `Bearer ${token}` } });

describe("a claim", () => {
  const top = { jwtClaim: "region" };
  const nested = { jwtClaim: "/app/a~1b/0" };
  const url = { jwtClaim: "https://example.com/region" };
  const kazakh = { jwtClaim: "region", values: { Қазақстан: "ap", "5": "us", true: "eu" } };
  test.each<[DeclaredSource, unknown, string]>([
    [top, { region: "eu" }, "eu"],
    [top, { region: "mars" }, "no region mars: eu,us,ap"],
    [top, { region: "" }, "no region : eu,us,ap"],
    [top, { region: 5 }, "no region 5: eu,us,ap"],
    [top, { region: false }, "no region false: eu,us,ap"],
    [top, { region: ["eu"] }, "no region […]: eu,us,ap"],
    [top, { region: { eu: 1 } }, "no region {…}: eu,us,ap"],
    [top, { region: null }, "region-unknown"],
    [top, {}, "region-unknown"],
    [top, ["region", "eu"], "region-unknown"],
    [top, "region", "region-unknown"],
    [top, null, "region-unknown"],
    [{ jwtClaim: "constructor" }, {}, "region-unknown"],
    [{ jwtClaim: "/app/length" }, { app: ["eu"] }, "region-unknown"],
    [{ jwtClaim: "/app/length" }, { app: "eu" }, "region-unknown"],
    [{ jwtClaim: "/app/00" }, { app: ["eu"] }, "region-unknown"],
    [nested, { app: { "a/b": ["ap", "eu"] } }, "ap"],
    [nested, { app: { "a/b": [] } }, "region-unknown"],
    [nested, { "/app/a~1b/0": "eu" }, "region-unknown"],
    [{ jwtClaim: "/a/b" }, { a: null }, "region-unknown"],
    [{ jwtClaim: "/" }, { "": "us" }, "us"],
    [url, { "https://example.com/region": "us" }, "us"],
    [kazakh, { region: "Қазақстан" }, "ap"],
    [kazakh, { region: 5 }, "us"],
    [kazakh, { region: true }, "eu"],
  ])("%j of %j: %s", (source, claims, expected) => {
    expect(choose([source], bearer(tokenOf(claims)))).toBe(expected);
  });

  const good = tokenOf({ region: "eu" });
  const [head = "", payload = ""] = good.split(".");
  test.each([
    ["any case of the scheme, several spaces", `bEARER   ${good}`, "eu"],
    ["no signature", `Bearer ${head}.${payload}.`, "eu"],
    ["another scheme", `Basic ${good}`, "region-unknown"],
    ["no scheme", good, "region-unknown"],
    ["no token", "Bearer ", "region-unknown"],
    ["an opaque token", "Bearer 0123456789abcdef", "region-unknown"],
    ["two parts", `Bearer ${head}.${payload}`, "region-unknown"],
    ["five parts, as of an encrypted token", `Bearer ${good}.a.b`, "region-unknown"],
    ["an empty payload", `Bearer ${head}..c2ln`, "region-unknown"],
    ["padding", `Bearer ${head}.${Buffer.from('{"region":"eu"}').toString("base64")}==.c2ln`, "region-unknown"],
    ["a tab in front", `Bearer \t${good}`, "region-unknown"],
    ["a space behind", `Bearer ${good} `, "region-unknown"],
    ["two tokens", `Bearer ${good}, Bearer ${good}`, "region-unknown"],
    ["a length that base64 has not", `Bearer ${head}.${payload}A.c2ln`, "region-unknown"],
    // 16 bytes leave four bits over.
    ["bits left over", `Bearer ${head}.${encode('{"region":"eu"} ').slice(0, -1)}B.c2ln`, "region-unknown"],
    ["the same octets in their one spelling", `Bearer ${head}.${encode('{"region":"eu"} ')}.c2ln`, "eu"],
    ["no JSON", `Bearer ${head}.${encode("{region:eu}")}.c2ln`, "region-unknown"],
    ["JSON and more", `Bearer ${head}.${encode('{"region":"eu"}{}')}.c2ln`, "region-unknown"],
    ["a byte order mark", `Bearer ${head}.${encode('\ufeff{"region":"eu"}')}.c2ln`, "region-unknown"],
    [
      "a lone surrogate in UTF-8",
      `Bearer ${head}.${encode(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))}.c2ln`,
      "region-unknown",
    ],
    ["an overlong form", `Bearer ${head}.${encode(Uint8Array.of(0x7b, 0xc0, 0x80, 0x7d))}.c2ln`, "region-unknown"],
    ["percent signs", `Bearer ${head}.${encode('{"%41":1,"region":"eu","b":"%zz"}')}.c2ln`, "eu"],
    ["deep nesting", `Bearer ${head}.${encode(`${"[".repeat(5000)}${"]".repeat(5000)}`)}.c2ln`, "region-unknown"],
    [
      "deep nesting under the claim",
      `Bearer ${head}.${encode(`{"region":${"[".repeat(5000)}${"]".repeat(5000)}}`)}.c`,
      "no region […]: eu,us,ap",
    ],
    [
      "the longest token",
      `Bearer ${head}.${payload}.${"a".repeat(TOKEN_LENGTH_MAX - head.length - payload.length - 2)}`,
      "eu",
    ],
    ["a longer one", `Bearer ${"a".repeat(TOKEN_LENGTH_MAX + 1)}`, "malformed-request"],
  ])("%s", (_, authorization, expected) => {
    expect(choose([{ jwtClaim: "region" }], { headers: { authorization } })).toBe(expected);
  });

  test.each([
    [good, "eu"],
    [`Bearer ${good}`, "eu"],
    [`Basic ${good}`, "region-unknown"],
  ])("in a field of its own the scheme may be missing: %#", (value, expected) => {
    expect(choose([{ jwtClaim: "region", header: "X-Token" }], { headers: { "x-token": value } })).toBe(expected);
  });
});

describe("where the client is, and the last resort", () => {
  const sources = [
    { clientCountry: { KZ: "ap" } },
    { clientContinent: { EU: "eu", AS: "us" } },
  ] satisfies DeclaredSource[];
  test.each<[Said, string]>([
    [{ country: "KZ", continent: "AS" }, "ap, assumed"],
    [{ country: "UZ", continent: "AS" }, "us, assumed"],
    [{ continent: "EU" }, "eu, assumed"],
    [{ country: "BR", continent: "SA" }, "region-unknown"],
    [{ country: "__proto__", continent: "constructor" }, "region-unknown"],
    [{}, "region-unknown"],
  ])("%j: %s", (said, expected) => {
    expect(choose(sources, said)).toBe(expected);
  });

  test("the error lists what would have been read", () => {
    const all: DeclaredSource[] = [{ header: "X-Home" }, { jwtClaim: "r", header: "X-T" }, { cookie: "c" }, ...sources];
    expect(chooseRegion(sourcesOf(all), saysOf({}))).toEqual({
      ok: false,
      error: {
        reason: "region-unknown",
        sources: [
          "header x-home",
          "claim r of the token in x-t",
          "cookie c",
          "the client's country",
          "the client's continent",
        ],
      },
    });
  });
});

describe("a client that was placed stays where it is", () => {
  const sources: DeclaredSource[] = [{ header: "x-home" }, { clientCountry: { KZ: "ap" } }, { region: "us" }];
  const sticky = { sticky: { cookie: "stay", maxAgeSeconds: 60 } };
  test.each<[Said, string]>([
    [{ country: "KZ" }, "ap, assumed"],
    [{ country: "KZ", headers: { cookie: "stay=eu" } }, "eu"],
    [{ headers: { cookie: "stay=eu" } }, "eu"],
    [{ country: "KZ", headers: { cookie: "stay=gone" } }, "ap, assumed"],
    [{ country: "KZ", headers: { cookie: "stay=eu", "x-home": "us" } }, "us"],
    [{ country: "KZ", headers: { cookie: "stay=eu", "x-home": "mars" } }, "no region mars: eu,us,ap"],
    [{}, "us, assumed"],
  ])("%j: %s", (said, expected) => {
    expect(choose(sources, said, sticky)).toBe(expected);
  });
});

test("the sticky cookie is for https alone where it was set by https", () => {
  const sticky = { cookie: "stay", maxAgeSeconds: 60 };
  expect(stickyCookie(sticky, "eu", false)).toBe("stay=eu; Path=/; Max-Age=60; HttpOnly; SameSite=Lax");
  expect(stickyCookie(sticky, "eu", true)).toBe("stay=eu; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax");
});

test("an order of one's own: the first that says something decides", () => {
  const sources = [{ cookie: "home" }, { header: "x-home" }];
  expect(choose(sources, { headers: { cookie: "home=eu", "x-home": "mars" } })).toBe("eu");
});

describe("the host", () => {
  const sources = [
    { host: { "eu.example.com": "eu", "*.us.example.com": "us", "[::1]": "ap", "*": "ap" } },
    { hostLabel: "*.example.net" },
    { hostLabel: "*.example.org", values: { tokyo: "ap" } },
  ] as const;
  test.each([
    ["eu.example.com", "eu"],
    ["EU.Example.COM:8080", "eu"],
    ["eu.example.com.", "eu"],
    ["eu.example.com.:443", "eu"],
    ["eu.example.com..", "region-unknown"],
    ["a.us.example.com", "us"],
    ["us.example.com", "region-unknown"],
    ["a.b.us.example.com", "region-unknown"],
    [".us.example.com", "region-unknown"],
    ["xus.example.com", "region-unknown"],
    ["[::1]:80", "ap"],
    ["localhost:8080", "ap"],
    ["us.example.net", "us"],
    ["mars.example.net", "no region mars: eu,us,ap"],
    ["a.us.example.net", "region-unknown"],
    ["tokyo.example.org", "ap"],
    ["ap.example.org", "no value ap of host *.example.org: tokyo"],
    ["%65u.example.com", "region-unknown"],
  ])("%s", (host, region) => {
    expect(choose(sources, { host })).toBe(region);
  });
});

test.each([
  ["/t/eu/x", "eu"],
  ["/t/us", "us"],
  ["/t/mars", "no region mars: eu,us,ap"],
  ["/t/%65u", "no region %65u: eu,us,ap"],
  ["/t/EU", "no region EU: eu,us,ap"],
  ["/t/", "region-unknown"],
  ["/t", "region-unknown"],
  ["/t//us", "no region /us: eu,us,ap"],
  ["/t//", "region-unknown"],
])("a segment of the path %s", (path, region) => {
  expect(choose([{ pathSegment: 2 }], { path })).toBe(region);
});

test.each([
  ["", "us, assumed"],
  ["?other=eu", "us, assumed"],
  ["?region=eu", "eu"],
  ["?a=1&region=ap&b", "ap"],
  ["?%72egion=ap", "ap"],
  ["?region=%61p", "ap"],
  ["?region=eu&region=eu", "eu"],
  ["?region=eu&region=ap", "malformed-request"],
  ["?region=eu&r%65gion=ap", "malformed-request"],
  ["?region=", "no region : eu,us,ap"],
  ["?region", "no region : eu,us,ap"],
  ["?region=e%zzu", "no region e%zzu: eu,us,ap"],
  ["?Region=eu", "us, assumed"],
])("a query parameter %s", (query, region) => {
  expect(choose([{ query: "region" }, { region: "us" }], { query })).toBe(region);
});

test("a source is asked only when those before it say nothing", () => {
  const asked: string[] = [];
  const note = (what: string, answer?: string) => {
    asked.push(what);
    return answer;
  };
  const sources = sourcesOf([{ header: "a" }, { cookie: "b" }, { clientCountry: { KZ: "ap" } }, { region: "us" }]);
  chooseRegion(sources, {
    ...saysOf({}),
    header: (name) => note(name),
    country: () => note("country", "KZ"),
    continent: () => note("continent"),
  });
  expect(asked).toEqual(["a", "cookie", "country"]);
});

test("nothing that a request says makes it throw, and a region is only ever a declared one", () => {
  const sources = sourcesOf([
    { jwtClaim: "/a/b" },
    { jwtClaim: "region" },
    { header: "x-home", values: { a: "eu" } },
    { cookie: "home" },
    { clientCountry: { KZ: "ap" } },
    { clientContinent: { EU: "eu" } },
  ]);
  const json = fc.json({ maxDepth: 3 }).map((text) => text.replace(/^\{/, '{"region":"eu",'));
  const token = fc.oneof(
    fc.tuple(fc.string(), json, fc.string()).map(([a, b, c]) => `${encode(a)}.${encode(b)}.${encode(c)}`),
    fc.uint8Array().map((bytes) => `a.${encode(bytes)}.b`),
    fc.string({ unit: "binary" }),
  );
  const field = fc.option(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("a", "eu", "home=eu")), {
    nil: undefined,
  });
  const said = fc.record({
    authorization: fc.option(
      fc.oneof(
        token.map((text) => `Bearer ${text}`),
        fc.string(),
      ),
      { nil: undefined },
    ),
    home: field,
    cookies: fc.option(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.string().map((text) => `home=${text}; home=us`),
      ),
      { nil: undefined },
    ),
    country: field,
    continent: field,
  });
  fc.assert(
    fc.property(said, ({ authorization, home, cookies, country, continent }) => {
      const fields: Readonly<Record<string, string | undefined>> = { authorization, "x-home": home, cookie: cookies };
      const choice = chooseRegion(sources, {
        ...saysOf({}),
        header: (name) => fields[name],
        country: () => country,
        continent: () => continent,
      });
      if (choice.ok) expect(["eu", "us", "ap"]).toContain(choice.value.region);
      else expect(["region-unknown", "unknown-name"]).toContain(choice.error.reason);
    }),
    { numRuns: runs(300) },
  );
});
