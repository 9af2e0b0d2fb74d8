import { Hono } from "hono";
import { html } from "hono/html";
import { chooseType } from "../src/gateway/negotiate.ts";
import { problemResponse } from "../src/gateway/problem-response.ts";
import { CATALOGUE, PROBLEM_SLUGS, type ProblemSlug, problemTypePath } from "../src/problems/index.ts";
import { describeProblem } from "../src/problems/texts.ts";
import { jsonResponse } from "./lib/http.ts";

const TYPES = ["text/html", "application/json"] as const;
const VARIED = { vary: "accept" };

/** `GET /-/problems/:slug`: what a problem type means and what to do, for people, or as JSON where that is asked for. */
export const problems = () =>
  new Hono()
    .get("/-/problems", () => jsonResponse(PROBLEM_SLUGS.map(describe)))
    .get("/-/problems/:slug", (c) => {
      const slug = c.req.param("slug");
      if (!isSlug(slug)) return problemResponse({ reason: "not-found", path: c.req.path });
      const type = chooseType(c.req.raw.headers.get("accept"), TYPES);
      if (type !== "text/html") return jsonResponse(describe(slug), VARIED);
      const { title, status, meaning, remedy } = describeProblem(slug);
      // The text changes with a deployment alone.
      c.header("cache-control", "no-cache");
      c.header("vary", VARIED.vary);
      // Nothing is loaded and nothing runs: the page is text.
      c.header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
      return c.html(html`<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>${slug} — Waybill</title>
<style>body{font:1rem/1.5 system-ui;max-width:42rem;margin:3rem auto;padding:0 1rem}</style>
<h1>${title}</h1>
<p><code>${slug}</code>, status ${status}</p>
<p>${withCode(meaning)}</p>
<p><strong>Remedy.</strong> ${withCode(remedy)}</p>
</html>
`);
    });

function isSlug(text: string): text is ProblemSlug {
  return Object.hasOwn(CATALOGUE, text);
}

const describe = (slug: ProblemSlug) => ({ type: problemTypePath(slug), slug, ...describeProblem(slug) });

/** The catalogue writes code between backticks, as the document of the problems does. */
const withCode = (text: string) =>
  text.split("`").map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));
