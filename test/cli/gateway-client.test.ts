import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { openGateway } from "../../src/cli/client/client.ts";
import { formatFailure, gatewayAddress, mayBeDone, sendRequest } from "../../src/cli/client/http.ts";
import type { Runtime } from "../../src/cli/runtime.ts";
import { FakeClock } from "./fake-runtime.ts";

/** A network, and a clock for its deadlines. */
const over = (fetch: Runtime["fetch"], clock = new FakeClock()) => ({
  fetch,
  deadline: (ms: number) => clock.deadline(ms),
});

/** As much of a runtime as a client needs. */
const worldWith = (variables: Readonly<Record<string, string>>, network: Runtime["fetch"] = fetch) =>
  ({ env: (name: string) => variables[name], ...over(network) }) as Runtime;

describe("which gateway a command works with", () => {
  const token = { WAYBILL_TOKEN: "t" };

  it.each([
    [{ gateway: "https://gw.test/" }, token, { url: "https://gw.test", token: "t" }],
    [{ gateway: "https://gw.test/base/" }, {}, { url: "https://gw.test/base", token: undefined }],
    [{}, { WAYBILL_GATEWAY: "https://gw.test:8443" }, { url: "https://gw.test:8443", token: undefined }],
    [{ gateway: "https://a.test" }, { WAYBILL_GATEWAY: "https://b.test" }, { url: "https://a.test", token: undefined }],
    [{ gateway: "http://127.0.0.1:8787" }, token, { url: "http://127.0.0.1:8787", token: "t" }],
    [{ gateway: "http://[::1]:8787" }, token, { url: "http://[::1]:8787", token: "t" }],
    [{ gateway: "http://gw.localhost" }, token, { url: "http://gw.localhost", token: "t" }],
    [{ gateway: "http://gw.test" }, {}, { url: "http://gw.test", token: undefined }],
    [{ gateway: "http://gw.test", insecure: true }, token, { url: "http://gw.test", token: "t" }],
  ])("%o and %o", (options, variables, value) => {
    expect(gatewayAddress(options, worldWith(variables))).toEqual({ ok: true, value });
  });

  it.each([
    [{}, {}, "no gateway given; use --gateway or WAYBILL_GATEWAY (`waybill start` runs one at http://127.0.0.1:8787)"],
    [{ gateway: "gw.test" }, {}, "write it like https://api.example.com"],
    [{ gateway: "ftp://gw.test" }, {}, "neither http nor https"],
    [{ gateway: "https://u:p@gw.test" }, {}, "it contains a user name or password"],
    [{ gateway: "https://gw.test/?a=1" }, {}, "it contains a query or a fragment"],
    [{ gateway: "http://gw.test" }, token, "refusing to send the token over plain http to "],
    [{ gateway: "http://127.0.0.1.evil.test" }, token, "refusing to send the token over plain http to "],
    [{ gateway: "http://10.0.0.1" }, token, "refusing to send the token over plain http to "],
    [{ gateway: "https://gw.test" }, { WAYBILL_TOKEN: "secret\nx" }, "WAYBILL_TOKEN contains white space"],
  ])("refuses %o and %o", (options, variables, sentence) => {
    const address = gatewayAddress(options, worldWith(variables));
    expect(address).toEqual({ ok: false, error: expect.stringContaining(sentence) });
    expect(JSON.stringify(address)).not.toContain("secret");
  });
});

describe("what came of a request", () => {
  const address = { url: "https://gw.test", token: "t" };
  const ask = (fetch: Runtime["fetch"]) => sendRequest(address, { method: "GET", path: "/-/table" }, over(fetch));
  const answering = (response: Response) => ask(async () => response);

  it("sends the token, and follows no redirect with it", async () => {
    const sent: RequestInit[] = [];
    await ask(async (url, init) => {
      expect(url).toBe("https://gw.test/-/table");
      sent.push(init ?? {});
      return new Response("{}");
    });
    expect(sent).toEqual([
      expect.objectContaining({ redirect: "manual", headers: expect.objectContaining({ authorization: "Bearer t" }) }),
    ]);
    const location = "https://team.cloudflareaccess.com/login";
    const redirected = await answering(new Response(null, { status: 302, headers: { location } }));
    expect(redirected).toEqual({ ok: false, error: { reason: "redirected", status: 302, location } });
  });

  it("is a problem, a sentence of the system, or something that no gateway says", async () => {
    const type = { "content-type": "application/problem+json" };
    const body = {
      type: "/-/problems/forbidden",
      title: "",
      status: 403,
      detail: "A viewer may not.",
      needs: "operator",
    };
    const byName = { ...body, detail: "Ask by localhost.", needs: undefined, host: "gw.test" };
    const texts = await Promise.all([
      answering(new Response(JSON.stringify(body), { status: 403, headers: type })),
      answering(new Response(JSON.stringify(byName), { status: 403, headers: type })),
      answering(new Response("<html>", { status: 502 })),
      answering(new Response("[]", { status: 500, headers: type })),
      ask(() => Promise.reject(Object.assign(new TypeError("fetch failed"), { cause: new Error("connect refused") }))),
      ask(() => Promise.reject(new Error("no cause"))),
    ]);
    expect(texts.map((result) => (result.ok ? "" : formatFailure("https://gw.test", result.error)))).toEqual([
      "error: A viewer may not. (forbidden, 403)\n  the token in WAYBILL_TOKEN is a viewer's; changes need an operator's token\n",
      "error: Ask by localhost. (forbidden, 403)\n",
      "error: https://gw.test answers 502: this is not a response of a gateway: is the address correct?\n",
      "error: https://gw.test answers 500: this is not a response of a gateway: is the address correct?\n",
      "error: https://gw.test cannot be reached: connect refused\n",
      "error: https://gw.test cannot be reached: no cause\n",
    ]);
  });

  it("is refused for a reason that the command knows better than the gateway says", async () => {
    const refusal = async (url: string, token: string | undefined, slug: string, more: object, headers = {}) => {
      const body = JSON.stringify({ type: `/-/problems/${slug}`, detail: "No.", ...more });
      const type = { "content-type": "application/problem+json", ...headers };
      const answer = async () => new Response(body, { status: 400, headers: type });
      const asked = await sendRequest({ url, token }, { method: "GET", path: "/-/table" }, over(answer));
      return asked.ok ? "" : formatFailure(url, asked.error).split("\n")[1];
    };
    const url = "https://gw.test";
    const hints = [
      await refusal(url, undefined, "unauthenticated", {}),
      await refusal(url, "t", "unauthenticated", {}),
      await refusal(url, "t", "rate-limited", { limit: "failed-attempts" }, { "retry-after": "41" }),
      await refusal(url, "t", "rate-limited", { limit: "client" }),
      await refusal(url, "t", "not-found", {}),
      await refusal(`${url}/base`, "t", "not-found", {}),
      await refusal(`${url}/base`, "t", "unrouted-path", {}),
    ];
    expect(hints).toEqual([
      "  set a viewer's or operator's token in WAYBILL_TOKEN",
      "  the token in WAYBILL_TOKEN was rejected: the deployment has no entry for it",
      "  wait 41 s: until then every token from this network is rejected, valid ones included",
      "  wait a minute and try again",
      "  this gateway has no such endpoint; it may be older than this command",
      "  the address has a path (/base): is the gateway https://gw.test?",
      "  the address has a path (/base): is the gateway https://gw.test?",
    ]);
  });

  it("is late where the whole answer is not there within a minute", async () => {
    const clock = new FakeClock();
    const held: Runtime["fetch"] = (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    const asked = sendRequest(address, { method: "GET", path: "/-/table" }, over(held, clock));
    await clock.sleep(60_000);
    expect(await asked).toEqual({ ok: false, error: { reason: "late", seconds: 60 } });
  });

  it.each([
    ["http", "https", "HTTP/1.1 400 Bad Request\r\n\r\n", "unreachable", "the server does not speak TLS"],
    ["https", "http", "\u0015\u0003\u0003\u0000\u0002\u0002\u0046", "cut", "the server does not speak HTTP"],
  ])("says in words that a server of %s was asked by %s", async (right, wrong, answer, reason, fault) => {
    const server = createServer((socket) => socket.end(answer));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const asked = await sendRequest(
      { url: `${wrong}://127.0.0.1:${port}`, token: "t" },
      { method: "GET", path: "/-/table" },
      over(fetch),
    );
    server.close();
    expect(asked).toEqual({ ok: false, error: { reason, why: `${fault}; should the address use ${right}?` } });
  });

  it("shows nothing of an answer that a terminal would obey", async () => {
    const type = { "content-type": "application/problem+json" };
    const body = { type: "/-/problems/x\u009b2J", detail: "\u001b[2Jgone" };
    const failed = await answering(new Response(JSON.stringify(body), { status: 400, headers: type }));
    expect(failed.ok ? "" : formatFailure("https://gw.test", failed.error)).toBe(
      "error: \\u{1b}[2Jgone (x\\u{9b}2J, 400)\n",
    );
    const why = "it has \u001b]0;title\u0007";
    const strange = formatFailure("https://gw.test", { reason: "strange", status: 200, why });
    expect(strange).toBe("error: https://gw.test answers 200: it has \\u{1b}]0;title\\u{7}\n");
  });
});

describe("a connection that ends", () => {
  /** Answers so many requests of a connection, then closes it: at once, or when it hears of another. */
  async function withServer<Value>(answers: number, ask: (url: string) => Promise<Value>): Promise<Value> {
    const server = createServer((socket) => {
      let heard = 0;
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => {
        heard += bytes.toString("latin1").split("HTTP/1.1\r\n").length - 1;
        if (heard > answers) socket.destroy();
        else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    try {
      return await ask(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
    } finally {
      server.close();
    }
  }

  const change = { method: "POST", path: "/-/table/rollback", body: "{}" } as const;

  it("between two requests harms neither: each has one of its own", async () => {
    const both = await withServer(1, async (url) => [
      await sendRequest({ url, token: undefined }, { method: "GET", path: "/-/table" }, over(fetch)),
      await sendRequest({ url, token: undefined }, change, over(fetch)),
    ]);
    expect(both).toEqual([expect.objectContaining({ ok: true }), expect.objectContaining({ ok: true })]);
  });

  it("under a request leaves open what became of it, and one that never came about does not", async () => {
    const cut = await withServer(0, (url) => sendRequest({ url, token: undefined }, change, over(fetch)));
    if (cut.ok) throw new Error("no failure");
    expect(cut.error).toEqual({ reason: "cut", why: "other side closed" });
    expect(mayBeDone(cut.error)).toBe(true);
    expect(formatFailure("http://gw.test", cut.error)).toBe(
      "error: http://gw.test closed the connection before responding: other side closed\n",
    );
    const url = await withServer(0, async (closed) => closed);
    const refused = await sendRequest({ url, token: undefined }, change, over(fetch));
    if (refused.ok) throw new Error("no failure");
    expect(refused.error).toMatchObject({ reason: "unreachable", why: expect.stringContaining("ECONNREFUSED") });
    expect(mayBeDone(refused.error)).toBe(false);
    expect(formatFailure(url, refused.error)).toBe(
      `error: no gateway answers at ${url}: connect ECONNREFUSED ${new URL(url).host}\n  ${NOT_RUNNING}\n`,
    );
  });

  it.each([
    ["ECONNREFUSED", NOT_RUNNING],
    ["EHOSTUNREACH", NOT_RUNNING],
    ["ENETUNREACH", NOT_RUNNING],
    ["ETIMEDOUT", NOT_RUNNING],
    ["UND_ERR_CONNECT_TIMEOUT", NOT_RUNNING],
    ["ENOTFOUND", NO_HOST],
    ["EAI_AGAIN", NO_HOST],
  ])("to an address where nothing listens has the remedy: %s", async (code, remedy) => {
    const cause = Object.assign(new Error(`connect ${code}`), { code, syscall: "connect" });
    const refuse = () => Promise.reject(Object.assign(new TypeError("fetch failed"), { cause }));
    const failed = await sendRequest({ url: "https://gw.test", token: undefined }, change, over(refuse));
    if (failed.ok) throw new Error("no failure");
    expect(mayBeDone(failed.error)).toBe(false);
    expect(formatFailure("https://gw.test", failed.error)).toBe(
      `error: no gateway answers at https://gw.test: connect ${code}\n  ${remedy}\n`,
    );
  });
});

const NOT_RUNNING =
  "is it running? `waybill start` starts one with routing-table.json, and `waybill serve BUILD` one of a build; WAYBILL_GATEWAY can name another address";
const NO_HOST =
  "its host name has no address here: correct the gateway's address, or try again if this machine is offline";

describe("what may have been done all the same", () => {
  const problem = (status: number) => ({ status, slug: "x", detail: "", members: {} });
  it.each([
    [{ reason: "late", seconds: 30 }, true],
    [{ reason: "redirected", status: 302, location: "/" }, false],
    [{ reason: "strange", status: 502, why: "" }, true],
    [{ reason: "strange", status: 404, why: "" }, false],
    [{ reason: "strange", status: 201, why: "" }, true],
    [{ reason: "problem", problem: problem(503) }, true],
    [{ reason: "problem", problem: { ...problem(503), members: { outcome: "none" } } }, false],
    [{ reason: "problem", problem: problem(422) }, false],
  ] as const)("%o: %s", (failure, may) => {
    expect(mayBeDone(failure)).toBe(may);
  });
});

describe("answers that cannot be right", () => {
  const client = (response: () => Response) =>
    openGateway(
      { gateway: "https://gw.test" },
      worldWith({}, async () => response()),
    );

  it("a text that is not the one of its digest is not believed", async () => {
    const headers = { "waybill-revision": "4", "waybill-digest": "0".repeat(64) };
    const text = await client(() => new Response("{}", { headers })).text();
    expect(text).toMatchObject({ ok: false, error: { why: "the table does not match its digest" } });
    const unnumbered = await client(() => new Response("{}")).text(4);
    expect(unnumbered).toMatchObject({ ok: false, error: { why: "it does not name the revision" } });
  });

  it("a status without its members is named, and not guessed", async () => {
    const status = await client(() => Response.json({ controlPlane: { revision: 1 } })).status();
    expect(status).toMatchObject({
      ok: false,
      error: { reason: "strange", why: expect.stringContaining("(controlPlane.digest: ") },
    });
    const list = await client(() => Response.json({ revisions: {} })).revisions({ limit: 1 });
    expect(list).toMatchObject({ ok: false, error: { reason: "strange" } });
  });

  it("an isolate that does not name its table gives no version", async () => {
    const ready = await client(() => Response.json({ status: "ready" })).ready();
    expect(ready).toMatchObject({ ok: false, error: { why: "it does not name the table that it routes by" } });
  });
});
