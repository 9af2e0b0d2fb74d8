import { describe, expect, it } from "vitest";
import type { Fetch } from "../../src/ports/gateway.ts";
import { pseudonymOf } from "../../src/proxy/origin-request.ts";
import { checkOrigin, checkTargets, MissingBinding, runChecks } from "../../src/proxy/origin-response.ts";
import { loadTable } from "../../src/routing/index.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";

const ORIGIN = { url: "http://eu.test/base", weight: 1, binding: undefined };
const HEALTH = { path: "/healthz", timeoutMs: 50 };
const clock = { nowMs: () => 7 };

const pseudonym = pseudonymOf("waybill");
const check = (fetch: Fetch, isOnEdge = false) => checkOrigin(ORIGIN, HEALTH, { fetch, clock, isOnEdge, pseudonym });
const answering = (status: number) => check(async () => new Response(null, { status }));

describe("a check of an origin", () => {
  it("asks it once, by its own fields, and follows nothing", async () => {
    const asked: unknown[] = [];
    const fetch: Fetch = async (url, init, binding) => {
      const { redirect, headers, method } = init ?? {};
      asked.push({ url, redirect, method, agent: new Headers(headers).get("user-agent"), binding });
      return new Response("fine");
    };
    await checkOrigin({ ...ORIGIN, binding: "EU_MTLS" }, HEALTH, { fetch, clock, isOnEdge: false, pseudonym });
    const url = "http://eu.test/base/healthz";
    expect(asked).toEqual([
      { url, redirect: "manual", method: undefined, agent: "waybill-health", binding: "EU_MTLS" },
    ]);
  });

  it.each([200, 204, 301, 399])("is good at %i", async (status) => {
    expect(await answering(status)).toEqual({ atMs: 7, isGood: true, status, fault: undefined });
  });

  it.each([400, 404, 429, 500, 503, 599])("is not good at %i, though the origin is there", async (status) => {
    expect(await answering(status)).toEqual({ atMs: 7, isGood: false, status, fault: undefined });
  });

  it("takes the platform's statuses for what they mean, where there is a platform", async () => {
    const fetch: Fetch = async () => new Response(null, { status: 521 });
    expect((await check(fetch, true)).fault).toBe("connection_refused");
    expect((await check(fetch, false)).fault).toBeUndefined();
  });

  it("gives up in time", async () => {
    const hanging: Fetch = (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    expect(await check(hanging)).toMatchObject({ isGood: false, status: undefined, fault: "http_response_timeout" });
  });

  it("says why there was no answer", async () => {
    const lost: Fetch = () => Promise.reject(new Error("Network connection lost."));
    expect((await check(lost)).fault).toBe("connection_terminated");
    const unbound: Fetch = () => Promise.reject(new MissingBinding("EU_MTLS"));
    expect((await check(unbound)).fault).toBe("proxy_configuration_error");
  });

  it("does not hold the connection of a body that nobody reads", async () => {
    let isCancelled = false;
    const endless = new ReadableStream({
      cancel: () => {
        isCancelled = true;
      },
    });
    await check(async () => new Response(endless));
    expect(isCancelled).toBe(true);
  });
});

describe("a round of checks", () => {
  const origins = Array.from({ length: 20 }, (_, index) => ({ url: `http://o${index}.test` }));
  const regions = {
    ...DECLARED_TABLE.regions,
    eu: { origins, health: { path: "/a" } },
    us: { origins: origins.slice(0, 2), health: { path: "/a" } },
    ap: { origins: origins.slice(0, 1), health: { path: "/b" } },
  };
  const loaded = loadTable({ ...DECLARED_TABLE, regions }, 1);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  const targets = checkTargets(loaded.value);

  it("asks each origin and path once, though regions share them, and also one that takes no requests", () => {
    expect(targets.length).toBe(21);
  });

  it("has at most six requests under way, and one that hangs holds up no other", async () => {
    let underWay = 0;
    let most = 0;
    const fetch: Fetch = async (url, init) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve, reject) => {
        if (url !== "http://o3.test/a") setTimeout(resolve, 1);
        else init?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
      underWay--;
      return new Response();
    };
    const checked: string[] = [];
    await runChecks(targets, { fetch, clock, isOnEdge: false, pseudonym }, ({ url, path }) => checked.push(url + path));
    expect(most).toBe(6);
    expect(new Set(checked).size).toBe(21);
    expect(checked.at(-1)).toBe("http://o3.test/a");
  });
});
