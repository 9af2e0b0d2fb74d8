import { describe, expect, it } from "vitest";
import { FakeClock, type RuntimeOptions, waybill } from "../fake-runtime.ts";

const READY = { "/-/ready": { status: "ready" }, "/-/health": { status: "ok" } };

/** A gateway that answers with JSON by path, and what it was asked. */
const gateway = (pages: Readonly<Record<string, object>> = READY, status = 200) => {
  const asked: { readonly url: string; readonly headers: Headers }[] = [];
  const fetch: NonNullable<RuntimeOptions["fetch"]> = async (input, init) => {
    const url = String(input);
    asked.push({ url, headers: new Headers(init?.headers) });
    const page = pages[new URL(url).pathname];
    const type = status === 200 ? "application/json" : "application/problem+json";
    return page === undefined
      ? new Response("", { status: 404 })
      : Response.json(page, { status, headers: { "content-type": type } });
  };
  return { asked, fetch };
};

describe("waybill health", () => {
  it.each([
    [[], {}, "http://127.0.0.1:8787/-/ready", "http://127.0.0.1:8787: ready\n"],
    [["--ready"], {}, "http://127.0.0.1:8787/-/ready", "http://127.0.0.1:8787: ready\n"],
    [["--live"], {}, "http://127.0.0.1:8787/-/health", "http://127.0.0.1:8787: live\n"],
    [
      [],
      { WAYBILL_GATEWAY: "https://gw.example.com/" },
      "https://gw.example.com/-/ready",
      "https://gw.example.com: ready\n",
    ],
    [[], { WAYBILL_GATEWAY: "" }, "http://127.0.0.1:8787/-/ready", "http://127.0.0.1:8787: ready\n"],
    [["http://[::1]:9"], { WAYBILL_GATEWAY: "http://a" }, "http://[::1]:9/-/ready", "http://[::1]:9: ready\n"],
  ])("%j with %j asks %s", async (args, env, url, stdout) => {
    const { fetch, asked } = gateway();
    expect(await waybill(["health", ...args], { fetch, env })).toEqual({ code: 0, stdout, stderr: "" });
    expect(asked.map((each) => each.url)).toEqual([url]);
  });

  it("sends no token, also to another machine by plain http", async () => {
    const { fetch, asked } = gateway();
    const env = { WAYBILL_TOKEN: "waybill_secret", WAYBILL_GATEWAY: "http://10.0.0.1" };
    expect((await waybill(["health"], { fetch, env })).code).toBe(0);
    expect(asked[0]?.headers.get("authorization")).toBeNull();
  });

  it("tells of invalid settings, which stop only what needs them", async () => {
    const { fetch } = gateway({ "/-/ready": { status: "ready", invalidSettings: ["MINT", "ADMIN_TOKENS"] } });
    const { code, stdout } = await waybill(["health"], { fetch });
    expect([code, stdout]).toEqual([0, "http://127.0.0.1:8787: ready; invalid settings: MINT, ADMIN_TOKENS\n"]);
  });

  it("fails with the gateway's own words where it has no table", async () => {
    const problem = { type: "/-/problems/table-unavailable", detail: "No table yet.", status: 503 };
    const { code, stderr } = await waybill(["health"], { fetch: gateway({ "/-/ready": problem }, 503).fetch });
    expect([code, stderr]).toEqual([1, "error: No table yet. (table-unavailable, 503)\n"]);
  });

  it.each([
    ["another JSON", { "/-/ready": { status: "up" } }, /is no gateway: it has no status/],
    ["a list", { "/-/ready": [] }, /is no gateway/],
    ["another service", {}, /answers 404: this is not a response of a gateway/],
  ])("is not fooled by %s", async (_, pages, words) => {
    const { code, stdout, stderr } = await waybill(["health"], { fetch: gateway(pages).fetch });
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringMatching(words)]);
  });

  it("fails where a redirect answers, and does not follow it", async () => {
    const fetch = async () => new Response(null, { status: 302, headers: { location: "https://login.example.com/" } });
    const { code, stderr } = await waybill(["health"], { fetch });
    expect([code, stderr]).toEqual([1, expect.stringContaining("redirects to https://login.example.com/ (302)")]);
  });

  it("fails after --timeout", async () => {
    const clock = new FakeClock();
    const fetch: NonNullable<RuntimeOptions["fetch"]> = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
        void clock.sleep(1_999).then(() => clock.sleep(1));
      });
    const { code, stderr } = await waybill(["health", "--timeout", "2"], { fetch, clock });
    expect([code, stderr]).toEqual([1, "error: http://127.0.0.1:8787 did not respond within 2 s\n"]);
  });

  it("says how to start a gateway where none listens", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" });
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: refused }));
    const { code, stderr } = await waybill(["health"], { fetch });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: no gateway answers at .*\n {2}is it running/)]);
  });

  it.each([
    [["ftp://a"], /is not a gateway address/],
    [["gateway"], /is not a gateway address/],
    [["http://a/?b"], /is not a gateway address/],
    [["--ready", "--live"], /exclude each other/],
    [["--timeout", "0"], /A number of seconds/],
    [["--timeout", "5s"], /A number of seconds/],
    [["--timeout", "301"], /at most 300/],
    [["http://a", "http://b"], /too many arguments/],
  ])("asks nobody for %j", async (args, words) => {
    const { fetch, asked } = gateway();
    const { code, stderr } = await waybill(["health", ...args], { fetch });
    expect([code, stderr, asked]).toEqual([64, expect.stringMatching(words), []]);
  });
});
