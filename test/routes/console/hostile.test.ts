import { describe, expect, it } from "vitest";
import { IDS } from "../harness.ts";
import { OWN, setUpConsole, type TestScope, tokenOf } from "./world.ts";

/** People with a session who try every path by every method, written in every way. */

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const world = setUpConsole({ preview: "all" });

/** Every pattern under `/-/`, with something in place of its parameters, and the other pages of the console's host. */
const PATHS = [
  ...new Set([
    ...world.app.routes
      .map(({ path }) => path)
      .filter((path) => path.startsWith("/-/") && !path.endsWith("*"))
      .map((path) =>
        path
          .replace(/\/:\w+\?$/, "")
          .replace(/:revision/, "0")
          .replace(/:\w+/g, IDS.orderKz),
      ),
    `/-/ids/${IDS.orderKz}`,
    "/",
    "/mint",
    "/any",
    "/any?locate=true",
  ]),
];

const headersFor = async (scope: TestScope) => ({ ...OWN, cookie: await world.signIn(scope), "if-match": '"0"' });

/** The status and the cache's rule of each request, by method and path. */
async function askAll(scope: TestScope, paths: readonly string[], more: Record<string, string> = {}) {
  const headers = { ...(await headersFor(scope)), ...more };
  const answers: { readonly line: string; readonly status: number; readonly cache: string | null }[] = [];
  for (const path of paths) {
    for (const method of METHODS) {
      const hasBody = !["GET", "HEAD", "OPTIONS"].includes(method);
      const answer = await world.ask(path, { method, headers, ...(hasBody && { body: "{}" }) });
      await answer.body?.cancel();
      answers.push({
        line: `${method} ${path.replaceAll(IDS.orderKz, "…")}`,
        status: answer.status,
        cache: answer.headers.get("cache-control"),
      });
    }
  }
  return answers;
}

/** Pages that did not refuse the caller: they answered, or called the request malformed. */
const served = (answers: Awaited<ReturnType<typeof askAll>>) =>
  answers.filter(({ status }) => ![401, 403, 404, 405].includes(status)).map(({ line }) => line);

const readBoth = (...paths: readonly string[]) => paths.flatMap((path) => [`GET ${path}`, `HEAD ${path}`]);

/** Pages that need no session, and two of the session itself. */
const OPEN = [
  ...readBoth("/", "/-/", "/-/console", "/-/health", "/-/ready", "/-/problems"),
  "POST /-/console/session",
  "DELETE /-/console/session",
  // As the deployment's setting MINT says, whoever asks; no region is asked by the other.
  "POST /mint",
  "POST /any?locate=true",
];

const SUPPORT = [
  ...OPEN,
  ...readBoth("/-/ids/…", "/-/regions", "/-/directory/…/…"),
  ...["session", "entity/…", "rule/…", "names"].flatMap((page) => readBoth(`/-/console/${page}`)),
  "POST /-/explain",
];

const VIEWER = [
  ...SUPPORT,
  ...readBoth("/-/openapi.json", "/-/metrics", "/-/metrics/history", "/-/idempotency/…"),
  ...readBoth("/-/events", "/-/events/log", "/-/console/routes"),
  ...["", "/…", "/…/-/counts", "/…/-/copy"].flatMap((page) => readBoth(`/-/directory${page}`)),
  ...["", "/capacity", "/status", "/revisions", "/revisions/0", "/audit"].flatMap((page) =>
    readBoth(`/-/table${page}`),
  ),
  // They say what a table would do, and keep nothing.
  ...["check", "diff", "capacity", "replay"].map((page) => `POST /-/table/${page}`),
];

const REACHED = { support: SUPPORT, viewer: VIEWER };

describe.each(["support", "viewer"] as const)("a session of %s", (scope) => {
  it("reaches what is listed here alone, and changes nothing", async () => {
    const before = await world.ask("/-/table", { headers: await headersFor("operator") });
    expect(served(await askAll(scope, PATHS)).toSorted()).toEqual(REACHED[scope].toSorted());
    const after = await world.ask("/-/table", { headers: await headersFor("operator") });
    expect(after.headers.get("etag")).toBe(before.headers.get("etag"));
  });

  it.each(["PUT", "POST", "DELETE"])("is not taken for %s because a field or the query says so", async (method) => {
    const names = ["x-http-method-override", "x-http-method", "x-method-override"];
    const more = Object.fromEntries(names.map((name) => [name, method]));
    expect(served(await askAll(scope, PATHS, more)).toSorted()).toEqual(REACHED[scope].toSorted());
    const changes = ["/-/table", "/-/table/rollback", "/-/table/canary", "/-/directory/slug/x"];
    const answers = await askAll(
      scope,
      changes.map((path) => `${path}?_method=${method}`),
    );
    expect(served(answers).filter((line) => !/^(?:GET|HEAD) /.test(line))).toEqual([]);
  });

  it.each([
    ["a slash at its end", (path: string) => `${path}/`],
    ["two slashes", (path: string) => path.replace("/-/", "/-//")],
    ["a slash before it", (path: string) => `/${path}`],
    ["an encoded letter", (path: string) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)],
    ["an encoded slash", (path: string) => path.replace("/-/", "/-%2f")],
    ["an encoded slash at its end", (path: string) => `${path}%2f`],
    ["a parameter", (path: string) => `${path};x=1`],
    ["capital letters", (path: string) => path.toUpperCase()],
    ["a suffix", (path: string) => `${path}.json`],
  ])("reaches no change by %s", async (_, written) => {
    const pages = PATHS.filter((path) => /^\/-\/(?:table|directory|metrics|console\/)/.test(path));
    const answers = await askAll(scope, pages.map(written));
    expect(served(answers).filter((line) => !/^(?:GET|HEAD) /.test(line))).toEqual([]);
    // A last segment that is a parameter is any text.
    const found = served(answers).map((line) => line.replace(/^\w+ /, ""));
    expect(found.filter((path) => !/^\/-\/(?:directory|console\/(?:entity|rule))\//.test(path))).toEqual([]);
  });
});

it("no log has a token or a session", async () => {
  const { ask, signIn, lines } = setUpConsole();
  const cookie = await signIn("operator");
  const value = cookie.slice(cookie.lastIndexOf(".") + 1);
  for (const path of [`/-/table?${cookie}`, `/-/console/session?token=${tokenOf("operator")}`, `/orders/${value}`]) {
    await ask(path, { headers: { cookie } });
    await ask(path, { headers: { authorization: `Bearer ${tokenOf("operator")}` } }, "http://gw.test");
  }
  const logged = JSON.stringify(lines);
  expect(lines.length).toBeGreaterThanOrEqual(6);
  expect([logged.includes(tokenOf("operator")), logged.includes(cookie)]).toEqual([false, false]);
});

it("no answer is kept by a cache but the page itself, which has nothing of its user", async () => {
  for (const scope of ["support", "viewer", "operator"] as const) {
    const kept = (await askAll(scope, PATHS)).filter(({ cache }) => cache === null || !cache.includes("no-store"));
    expect([...new Set(kept.map(({ line }) => line))].toSorted()).toEqual(readBoth("/-/console"));
  }
});
