import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PROBLEM_SLUGS } from "../../src/problems/index.ts";
import { describeProblem } from "../../src/problems/texts.ts";
import { problemsPage } from "../rules/generators/problems-page.ts";

/** Statuses defined by RFC 9110 §15 for the gateway's own responses. */
const STATUSES = [
  400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 421, 422, 428, 429, 431, 500, 501, 502, 503, 504, 507, 508,
];

describe("the catalogue of problems", () => {
  it.each(PROBLEM_SLUGS)("%s has a status, and sentences for people", (slug) => {
    const { status, title, meaning, remedy } = describeProblem(slug);
    expect(slug).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(STATUSES).toContain(status);
    expect(title).toMatch(/^[A-Z].*[^.]$/);
    for (const text of [meaning, remedy]) expect(text).toMatch(/^[A-Z`].*\.$/s);
  });

  it("is what docs/reference/problems.md says; run `npm run generate` when this fails", () => {
    const page = readFileSync(new URL("../../docs/reference/problems.md", import.meta.url), "utf8");
    expect(page).toBe(problemsPage());
  });
});
