import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type DeclaredTable, diffTables } from "../../src/routing/index.ts";
import { faultsOf, load, sampleTable } from "./tables.ts";

const withCors = (cors: NonNullable<DeclaredTable["cors"]>) => ({ ...sampleTable(), cors });
const corsOf = (cors: Parameters<typeof withCors>[0]) => {
  const compiled = load(withCors(cors)).cors;
  if (compiled === undefined) throw new Error("the table has no cors");
  return compiled;
};

const ORIGINS = [
  "https://app.example.com",
  "https://*.example.org",
  "http://localhost:3000",
  "capacitor://localhost",
  "http://[::1]:8080",
  "https://*.shops.example.net:8443",
];

describe("which origins may read", () => {
  const cors = corsOf({ origins: ORIGINS });

  test.each([
    "https://app.example.com",
    "https://a.example.org",
    "https://a.b.example.org",
    "https://xn--bcher-kva.example.org",
    "http://localhost:3000",
    "capacitor://localhost",
    "http://[::1]:8080",
    "https://one.shops.example.net:8443",
  ])("%s may", (origin) => {
    expect(cors.allowed(origin)).toBe(origin);
  });

  test.each([
    "",
    "null",
    "*",
    "https://example.com",
    "http://app.example.com",
    "https://app.example.com:444",
    "https://app.example.com/",
    "https://app.example.com.evil.test",
    "https://APP.example.com",
    "https://app.example.com, https://evil.test",
    "https://example.org",
    "https://.example.org",
    "https://a..example.org",
    "https://evilexample.org",
    "https://evil.test/.example.org",
    "https://evil.test#.example.org",
    "https://evil.test?.example.org",
    "https://evil@a.example.org",
    "https://evil.test\\.example.org",
    "https://a.example.org:443",
    "https://a.example.org.",
    "http://a.example.org",
    `https://${"a.".repeat(128)}example.org`,
    "https://*.example.org",
    "http://localhost",
    "http://localhost:30001",
    "https://one.shops.example.net",
    "__proto__",
    "constructor",
  ])("%j may not", (origin) => {
    expect(cors.allowed(origin)).toBeUndefined();
  });

  it("null only where it is declared, and all with a star", () => {
    expect(corsOf({ origins: ["null"] }).allowed("null")).toBe("null");
    const all = corsOf({ origins: ["*"] });
    expect([all.allowed("https://any.test"), all.isVaried]).toEqual(["*", false]);
  });

  it("is what a comparison of parsed URLs says", () => {
    const labels = fc.constantFrom("app", "a", "example", "com", "org", "evil", "localhost", "shops", "net", "x-1");
    const origin = fc
      .tuple(
        fc.constantFrom("https", "http", "capacitor"),
        fc.array(labels, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("", ":3000", ":8443", ":8080"),
      )
      .map(([scheme, host, port]) => `${scheme}://${host.join(".")}${port}`);
    fc.assert(
      fc.property(origin, (text) => {
        expect(cors.allowed(text) !== undefined).toBe(ORIGINS.some((declared) => isAllowed(declared, text)));
      }),
    );
  });
});

/** Slow and obvious. */
function isAllowed(declared: string, origin: string): boolean {
  const rule = new URL(declared.replace("*", "star"));
  const page = new URL(origin);
  if (rule.protocol !== page.protocol || rule.port !== page.port) return false;
  const labels = page.hostname.split(".").toReversed();
  const wanted = rule.hostname.split(".").toReversed();
  if (wanted.at(-1) !== "star") return labels.join() === wanted.join();
  return labels.length >= wanted.length && wanted.slice(0, -1).every((label, at) => label === labels[at]);
}

describe("the check", () => {
  test.each<[cors: unknown, pointer: string, message: RegExp]>([
    [{ origins: [] }, "/cors/origins", /./],
    [{}, "/cors/origins", /missing/],
    [{ origins: ["https://a.test/"] }, "/cors/origins/0", /no origin/],
    [{ origins: ["https://a.test/x"] }, "/cors/origins/0", /no origin/],
    [{ origins: ["a.test"] }, "/cors/origins/0", /no origin/],
    [{ origins: ["https://A.test"] }, "/cors/origins/0", /lower case/],
    [{ origins: ["https://u:p@a.test"] }, "/cors/origins/0", /no origin/],
    [{ origins: ["https://a.*.test"] }, "/cors/origins/0", /no origin/],
    [{ origins: ["https://*a.test"] }, "/cors/origins/0", /no origin/],
    [{ origins: ["https://a.test:443"] }, "/cors/origins/0", /port/],
    [{ origins: ["http://a.test:80"] }, "/cors/origins/0", /port/],
    [{ origins: ["http://a.test:65536"] }, "/cors/origins/0", /port/],
    [{ origins: ["https://*.com"] }, "/cors/origins/0", /top-level/],
    [{ origins: ["https://*"] }, "/cors/origins/0", /no origin/],
    [{ origins: ["capacitor://*.a.test"] }, "/cors/origins/0", /whole origin/],
    [{ origins: ["https://a.test", "https://a.test"] }, "/cors/origins/1", /duplicated/],
    [{ origins: ["*", "https://a.test"] }, "/cors/origins", /remove the others/],
    [{ origins: ["*"], credentials: true }, "/cors/origins/0", /every page/],
    [{ origins: ["null"], credentials: true }, "/cors/origins/0", /sandboxed/],
    [{ origins: ["*"], maxAgeSeconds: 86_401 }, "/cors/maxAgeSeconds", /./],
    [{ origins: ["*"], maxAgeSeconds: -1 }, "/cors/maxAgeSeconds", /./],
    [{ origins: ["*"], headers: ["a b"] }, "/cors/headers/0", /header/],
    [{ origins: ["*"], headers: ["*, x"] }, "/cors/headers/0", /header/],
    [{ origins: ["*"], origin: "x" }, "/cors/origin", /not allowed here/],
    ["*", "/cors", /./],
  ])("%j has a fault at %s", (cors, pointer, message) => {
    const faults = faultsOf({ ...sampleTable(), cors });
    expect(faults.map((fault) => fault.pointer)).toEqual([pointer]);
    expect(faults[0]?.message).toMatch(message);
  });

  it("a difference is seen", () => {
    const before = withCors({ origins: ["null"] });
    const after = withCors({ origins: ["*"] });
    expect(diffTables(before, before).isEmpty).toBe(true);
    const diff = diffTables(before, after);
    expect([diff.isEmpty, diff.cors]).toEqual([false, { before: before.cors, after: after.cors }]);
  });
});

it("the page's example is a table without faults, and its table names each member", () => {
  const page = readFileSync(new URL("../../docs/guides/browsers.md", import.meta.url), "utf8");
  const [, block = ""] = /^```jsonc\n(.*?)^```$/ms.exec(page) ?? [];
  const { cors } = JSON.parse(`{${block}}`) as DeclaredTable;
  expect(corsOf(cors ?? { origins: [] }).credentials).toBe(true);
  for (const member of Object.keys(cors ?? {})) expect(page).toContain(`| \`${member}\` |`);
});
