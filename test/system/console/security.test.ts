import { createServer, type IncomingMessage } from "node:http";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SESSION_COOKIE } from "../../../src/proxy/headers.ts";
import { type ConsoleStack, startConsole, TOKENS } from "./console.ts";

/**
 * Pages of others in the same browser as a signed-in operator, with the browser's security on. A weak server stands beside the
 * console and is attacked in the same ways: an attack that fails there too would prove nothing.
 */

const CHANGE = "/-/table/rollback";

/** A server on a port of its own, at whatever host it is asked: hostile pages, and a service that trusts its cookie. */
async function startBeside() {
  const posts: { readonly cookie: string; readonly site: string }[] = [];
  const asked: string[] = [];
  const headerOf = ({ headers }: IncomingMessage, name: string) => String(headers[name] ?? "");
  const server = createServer((request, response) => {
    if (request.url !== "/favicon.ico") asked.push(request.url ?? "");
    if (request.method === "POST")
      posts.push({ cookie: headerOf(request, "cookie"), site: headerOf(request, "sec-fetch-site") });
    if (request.url === "/sign-in")
      response.setHeader("set-cookie", "weak=1; Path=/; HttpOnly; Secure; SameSite=Strict");
    if (request.url === "/plant") response.setHeader("set-cookie", `${SESSION_COOKIE}=operator.AAAA; Path=/; Secure`);
    response.setHeader("content-type", request.url === "/data" ? "text/javascript" : "text/html");
    response.end(request.url === "/data" ? "globalThis.stolen = 1" : "<!doctype html><title>beside</title><p>");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  const at = (host: string) => `http://${host}:${address.port}`;
  const stop = () => new Promise((stopped) => server.close(stopped).closeAllConnections());
  return { posts, asked, at, stop };
}

let stack: ConsoleStack;
let beside: Awaited<ReturnType<typeof startBeside>>;
beforeAll(async () => {
  [stack, beside] = await Promise.all([startConsole(), startBeside()]);
}, 120_000);
afterAll(async () => {
  await Promise.all([stack.stop(), beside.stop()]);
});

/** A browser in which an operator is signed in. */
async function signedIn() {
  const opened = await stack.open("");
  const body = JSON.stringify(JSON.stringify({ token: TOKENS.operator }));
  const status = await opened.page.evaluate(
    `fetch("/-/console/session", { method: "POST", body: ${body} }).then(({ status }) => status)`,
  );
  expect(status).toBe(204);
  return opened;
}

/** The outcome of a page's request: the status that the browser got, whatever it let the page see. */
async function statusOf(page: Page, expression: string, path: string): Promise<number | undefined> {
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === path, { timeout: 3_000 });
  const status = answered.then((response) => response.status()).catch(() => undefined);
  await page.evaluate(`${expression}.catch(() => undefined)`);
  return status;
}

const revisionNow = async (): Promise<string | null> => {
  const headers = { authorization: `Bearer ${TOKENS.operator}` };
  return (await fetch(`${stack.url}/-/table`, { headers })).headers.get("etag");
};

/** Requests that the gateway refused for their sender. */
async function refusedSoFar(): Promise<number> {
  const headers = { authorization: `Bearer ${TOKENS.operator}`, accept: "application/json" };
  const { metrics } = (await (await fetch(`${stack.url}/-/metrics`, { headers })).json()) as {
    readonly metrics: readonly { readonly name: string; readonly samples: readonly { readonly value: number }[] }[];
  };
  const { samples = [] } = metrics.find(({ name }) => name === "waybill_refused_callers_total") ?? {};
  return samples.reduce((sum, { value }) => sum + value, 0);
}

const send = (url: string, more = "") =>
  `fetch("${url}", { method: "POST", mode: "no-cors", credentials: "include", body: '{"to": 1}'${more} })`;

const openAt = async (context: BrowserContext, url: string): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(url);
  return page;
};

/** Where a hostile page may be: on another port of the console's host, on another host, and where regions serve entities. */
const places = () => ({
  "another port of the console's host": beside.at("console.localhost"),
  "a host below the same name": beside.at("evil.localhost"),
  "another host": beside.at("127.0.0.1"),
  "the gateway's own host, where regions serve": `${stack.url}/-/problems`,
});

describe("a session in a browser", () => {
  it("is a cookie that no script reads, of this host alone", async () => {
    const { page, context } = await signedIn();
    const [cookie] = await context.cookies(stack.consoleUrl);
    expect(cookie).toMatchObject({ name: SESSION_COOKIE, httpOnly: true, secure: true, sameSite: "Strict", path: "/" });
    expect(await page.evaluate("document.cookie")).toBe("");
    expect(await context.cookies(stack.url)).toEqual([]);
    expect(await statusOf(page, `fetch("/orders/x")`, "/orders/x")).toBe(404);
    expect(await statusOf(page, `fetch("/-/console/session", { method: "DELETE" })`, "/-/console/session")).toBe(204);
    expect(await context.cookies(stack.consoleUrl)).toEqual([]);
    await context.close();
  });

  it("is used by the console's own page", async () => {
    const { page, context } = await signedIn();
    const before = await revisionNow();
    const own = `fetch("${CHANGE}", { method: "POST", headers: { "if-match": '${before}' }, body: '{"to": 1}' })`;
    expect(await statusOf(page, own, CHANGE)).toBe(201);
    expect(await revisionNow()).not.toBe(before);
    await context.close();
  });

  it("is used by no other page: no change, no sign-out, no sign-in", async () => {
    const { context } = await signedIn();
    const before = await revisionNow();
    const cookies = await context.cookies(stack.consoleUrl);
    for (const [name, url] of Object.entries(places())) {
      const page = await openAt(context, url);
      const refused = await refusedSoFar();
      // The browser hides the answers, so the gateway says that they were asked for.
      const attack = (path: string, more?: string) =>
        page.evaluate(`${send(stack.consoleUrl + path, more)}.catch(() => 0)`);
      await attack(CHANGE);
      // With fields that need a preflight it does not even send them.
      await attack(CHANGE, `, mode: "cors", headers: { "if-match": '${before}' }`);
      await attack("/-/console/session");
      await attack("/-/console/session", ', mode: "cors", method: "DELETE"');
      await page.close();
      expect([name, (await refusedSoFar()) - refused]).toEqual([name, 1]);
    }
    expect(await revisionNow()).toBe(before);
    expect(await context.cookies(stack.consoleUrl)).toEqual(cookies);
    await context.close();
  });

  it("is not used by a form that another page sends as a whole", async () => {
    const { context } = await signedIn();
    for (const [name, url] of Object.entries(places())) {
      const page = await openAt(context, url);
      const answered = page.waitForResponse((response) => response.url().endsWith(CHANGE));
      await page.evaluate(`(() => {
        const form = document.createElement("form");
        Object.assign(form, { method: "POST", action: "${stack.consoleUrl}${CHANGE}", enctype: "text/plain" });
        document.documentElement.append(form);
        form.submit();
      })()`);
      const status = (await answered).status();
      expect([name, status]).toEqual([name, expect.toSatisfy((one) => one === 401 || one === 403)]);
      await page.close();
    }
    await context.close();
  });

  it("gives no other page anything to read: not by fetch, script, frame or stream", async () => {
    const { context } = await signedIn();
    for (const [name, url] of Object.entries(places())) {
      const page = await openAt(context, url);
      const read = (path: string) =>
        page.evaluate(
          `fetch("${stack.consoleUrl}${path}", { credentials: "include" }).then(() => "read", () => "refused")`,
        );
      expect([name, await read("/-/table"), await read("/-/console/session")]).toEqual([name, "refused", "refused"]);
      const load = (tag: string, path: string) =>
        page.evaluate(`new Promise((done) => {
          const one = document.createElement("${tag}");
          one.onload = () => done("loaded");
          one.onerror = () => done("refused");
          one.src = "${stack.consoleUrl}${path}";
          document.documentElement.append(one);
        })`);
      expect([name, await load("script", "/-/table")]).toEqual([name, "refused"]);
      const events = await page.evaluate(`new Promise((done) => {
        const source = new EventSource("${stack.consoleUrl}/-/events", { withCredentials: true });
        source.onopen = () => done("open");
        source.onerror = () => { source.close(); done("refused"); };
      })`);
      expect([name, events]).toEqual([name, "refused"]);
      await page.close();
    }
    const page = await openAt(context, beside.at("console.localhost"));
    await page.evaluate(`(() => {
      const frame = document.createElement("iframe");
      frame.src = "${stack.consoleUrl}/-/console";
      document.body.append(frame);
    })()`);
    await page.waitForTimeout(300);
    expect(page.frames().map((frame) => frame.url())).not.toContain(`${stack.consoleUrl}/-/console`);
    await context.close();
  });

  it("is lost, and no more, when another port of the host plants a cookie", async () => {
    const { page, context } = await signedIn();
    await (await openAt(context, `${beside.at("console.localhost")}/plant`)).close();
    expect(await statusOf(page, `fetch("/-/console/session")`, "/-/console/session")).toBe(401);
    await context.close();
  });
});

describe("cookies of another host of the domain", () => {
  const plant = (names: readonly string[]) =>
    names.map((name) => `document.cookie = "${name}=viewer.AAAA; Domain=console.localhost; Path=/; Secure";`).join("");

  it("do not get in the way of the session, though the browser sends them", async () => {
    const { page, context } = await signedIn();
    const evil = await openAt(context, beside.at("evil.console.localhost"));
    const names = ["", "\\u00a0", "\\u2000", "\\u3000", "\\ufeff", "="].map((first) => first + SESSION_COOKIE);
    await evil.evaluate(plant([...names, "__host-waybill-session", "weak"]));
    const planted = (await context.cookies(stack.consoleUrl)).filter(({ value }) => value === "viewer.AAAA");
    // The browser takes no cookie of the exact name, by its prefix; it takes others.
    expect(planted.map(({ name }) => name)).toEqual(expect.arrayContaining([`\u00a0${SESSION_COOKIE}`, "weak"]));
    expect(planted.map(({ name }) => name)).not.toContain(SESSION_COOKIE);
    expect(await statusOf(page, `fetch("/-/console/session")`, "/-/console/session")).toBe(200);
    await context.close();
  });
});

describe("a script that got into the page", () => {
  // Code that the debugger runs may use eval until it first waits.
  const fails = (attempt: string) => `(async () => {
    await new Promise((later) => setTimeout(later));
    try { ${attempt}; return "done"; } catch { return "failed"; }
  })()`;
  const loads = (tag: string, member: string, url: string) => `new Promise((done) => {
    const one = document.createElement("${tag}");
    one.onload = () => done("done");
    one.onerror = () => done("failed");
    try { ${tag === "link" ? 'one.rel = "stylesheet";' : ""} one.${member} = ${url}; } catch { done("failed"); }
    document.body.append(one);
  })`;
  const blob = `URL.createObjectURL(new Blob(["globalThis.planted = 1"], { type: "text/javascript" }))`;

  it("makes no text a program, not even answers of the gateway itself", async () => {
    const { page, context } = await signedIn();
    const attempts = {
      eval: fails(`(0, eval)("globalThis.planted = 1")`),
      Function: fails(`new Function("globalThis.planted = 1")()`),
      setTimeout: fails(`setTimeout("globalThis.planted = 1")`),
      write: fails(`document.write("<img src=x onerror=alert(1)>")`),
      range: fails(`document.createRange().createContextualFragment("<script>globalThis.planted = 1</script>")`),
      parser: fails(`new DOMParser().parseFromString("<p>", "text/html")`),
      policy: fails(`trustedTypes.createPolicy("x", { createScript: (text) => text })`),
      frame: fails(`document.createElement("iframe").srcdoc = "<script>parent.planted = 1</script>"`),
      blob: fails(`await import(${blob})`),
      data: fails(`await import("data:text/javascript,globalThis.planted = 1")`),
      worker: fails(`new Worker(${blob})`),
      serviceWorker: fails(`await navigator.serviceWorker.register("/-/table")`),
      base: fails(`document.head.append(Object.assign(document.createElement("base"), { href: "http://127.0.0.1/" }));
        if (!document.baseURI.startsWith("http://127.0.0.1")) throw new Error("no base")`),
      answer: loads("script", "src", `"/-/problems"`),
      module: fails(`await import("/-/console/session")`),
      style: loads("link", "href", `"/-/problems"`),
    };
    for (const [name, attempt] of Object.entries(attempts)) {
      expect([name, await page.evaluate(attempt)]).toEqual([name, "failed"]);
    }
    expect(await page.evaluate("globalThis.planted")).toBeUndefined();
    await context.close();
  });

  it("sends nothing to another host", async () => {
    const { page, context } = await signedIn();
    beside.asked.length = 0;
    const away = beside.at("127.0.0.1");
    const attempts = {
      fetch: fails(`await fetch("${away}/x", { mode: "no-cors" })`),
      beacon: fails(`navigator.sendBeacon("${away}/x", "1"); throw new Error("it says nothing")`),
      image: loads("img", "src", `"${away}/x.png"`),
      style: loads("link", "href", `"${away}/x.css"`),
      socket: `new Promise((done) => {
        try {
          const one = new WebSocket("${away.replace("http", "ws")}/x");
          one.onopen = () => done("done");
          one.onerror = () => done("failed");
        } catch { done("failed"); }
      })`,
      events: `new Promise((done) => {
        const one = new EventSource("${away}/x");
        one.onopen = () => done("done");
        one.onerror = () => { one.close(); done("failed"); };
      })`,
      form: fails(`const one = document.createElement("form");
        Object.assign(one, { method: "POST", action: "${away}/x" });
        document.body.append(one);
        one.submit();
        throw new Error("it says nothing")`),
    };
    for (const [name, attempt] of Object.entries(attempts)) {
      expect([name, await page.evaluate(attempt)]).toEqual([name, "failed"]);
    }
    await openAt(context, `${away}/asked`);
    expect(beside.asked).toEqual(["/asked"]);
    await context.close();
  });
});

describe("the attacks themselves", () => {
  it("reach a service that trusts its strict cookie, from another port, and not from another host", async () => {
    const context = await stack.browser.newContext({ locale: "en-US" });
    const weak = beside.at("console.localhost");
    await (await openAt(context, `${weak}/sign-in`)).close();
    beside.posts.length = 0;
    const other = await startBeside();
    const own = await openAt(context, other.at("console.localhost"));
    await own.evaluate(`${send(weak)}.catch(() => 0)`);
    const foreign = await openAt(context, beside.at("127.0.0.1"));
    await foreign.evaluate(`${send(weak)}.catch(() => 0)`);
    expect(beside.posts.map(({ cookie, site }) => [cookie, site])).toEqual([
      ["weak=1", "same-site"],
      ["", "cross-site"],
    ]);
    await Promise.all([context.close(), other.stop()]);
  });

  it("read from a server that does not say whose its answers are", async () => {
    const context = await stack.browser.newContext({ locale: "en-US" });
    const page = await openAt(context, beside.at("evil.localhost"));
    const stolen = await page.evaluate(`new Promise((done) => {
      const one = document.createElement("script");
      one.onload = () => done(globalThis.stolen);
      one.onerror = () => done("refused");
      one.src = "${beside.at("127.0.0.1")}/data";
      document.documentElement.append(one);
    })`);
    expect(stolen).toBe(1);
    await context.close();
  });

  it("are seen where the page's policy is broken", async () => {
    const { page, context, faults } = await stack.open("");
    expect(faults).toEqual([]);
    await page.evaluate(`(() => {
      try { document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=alert(1)>"); } catch {}
      const script = document.createElement("script");
      try { script.append("globalThis.planted = 1"); document.body.append(script); } catch {}
      const image = document.createElement("img");
      image.src = "${beside.at("127.0.0.1")}/x.png";
    })()`);
    await expect.poll(() => faults.length).toBeGreaterThanOrEqual(3);
    expect(await page.evaluate("globalThis.planted")).toBeUndefined();
    await context.close();
  });
});
