import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { EXPOSED_HEADERS } from "../../src/features/cors/serve.ts";
import { METHOD_OVERRIDE_FIELDS, STOPPED_FIELDS } from "../../src/proxy/headers.ts";
import { README_WORDS_MAX, words } from "./house.ts";
import { brokenLinks } from "./links.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const fileAt = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Tracked files and new ones, without those that git ignores or that are deleted. */
const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(ROOT, path)));
const pages = files.filter((path) => /^(README|docs\/.+)\.md$/.test(path));

describe("links", () => {
  it("of every page lead to a file, and to a heading in it", () => {
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.flatMap((page) => brokenLinks(ROOT, page))).toEqual([]);
  });

  it("that are broken are found", () => {
    const text =
      "# A b\n[a](absent.md) [b](README.md#absent) [c](#a-b) [d](#b) [e](https://example.com/x.md) [f](../README.md)\n";
    expect(brokenLinks(ROOT, "README.md", text)).toEqual([
      "README.md: ](absent.md)",
      "README.md: ](README.md#absent)",
      "README.md: ](#b)",
      "README.md: ](../README.md)",
    ]);
  });
});

it("every file of the project that a page names is there", () => {
  const named = pages.flatMap((page) =>
    [...fileAt(page).matchAll(/`((?:src|routes|test|bench)\/[\w./-]+\.\w+)`/g)].map(([, path = ""]) => ({
      page,
      path,
    })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it("every page that a source file or a test names is there", () => {
  const sources = files.filter((path) => /^((src|routes|bench|test)\/.*\.(ts|mjs)|wrangler\.toml)$/.test(path));
  const named = sources.flatMap((path) =>
    [...fileAt(path).matchAll(/(?:(?<=\.\.\/)|(?<![\w/]))docs\/(?!software-architecture)[\w/-]+\.md\b/g)].map(
      ([page]) => ({
        path,
        page,
      }),
    ),
  );
  expect(named.filter(({ page }) => !existsSync(join(ROOT, page)))).toEqual([]);
});

it("the README takes a few minutes to read", () => {
  expect(words([{ path: "a.md", text: " a\n| b |\t" }])).toBe(4);
  expect(words([{ path: "README.md", text: fileAt("README.md") }])).toBeLessThanOrEqual(README_WORDS_MAX);
});

it("the HTTP reference lists every field of a request that stops at the gateway", () => {
  const page = fileAt("docs/reference/http.md");
  const stopped = [...STOPPED_FIELDS, ...METHOD_OVERRIDE_FIELDS].filter((name) => !name.startsWith("--"));
  expect(stopped.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

it("web pages can read every response header of the HTTP reference", () => {
  const [, table = ""] = /^## Response headers\n(.*?)^## /ms.exec(fileAt("docs/reference/http.md")) ?? [];
  const named = [...table.matchAll(/^\| `([a-z-]+)` /gm)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(8);
  // Nothing in `via` is for scripts.
  const exposed = new Set<string>([...EXPOSED_HEADERS, "via"]);
  expect(named.filter((name) => !exposed.has(name))).toEqual([]);
});
