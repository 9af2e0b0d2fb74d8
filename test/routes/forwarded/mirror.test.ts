import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, setUp } from "../harness.ts";

/** The fixtures' table with a shadow behind every route. */
const shadowed = (percent: number) => ({
  ...DECLARED_TABLE,
  regions: { ...DECLARED_TABLE.regions, shade: { origins: [{ url: "http://shade.test" }] } },
  routes: DECLARED_TABLE.routes.map((route) => ({ ...route, shadow: { region: "shade", percent } })),
});

const isShadow = (request: Request): boolean => new URL(request.url).host === "shade.test";

const until = async (isSo: () => boolean): Promise<void> => {
  for (let turn = 0; turn < 200 && !isSo(); turn++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(isSo()).toBe(true);
};

const PATH = `/orders/${IDS.orderDe}/lines?page=2`;

describe("a shadow behind the whole gateway", () => {
  it("gets every read of a full share after the client's answer, and no write", async () => {
    const { request, seen, mirrored } = setUp({ declared: shadowed(100) });
    const answer = await request(PATH);
    expect(await answer.text()).toBe("from eu.test");
    expect(answer.headers.get("waybill-region")).toBe("eu");
    await until(() => mirrored.length === 1);
    await request(PATH, { method: "POST", body: "x" });
    await request(`/any/${IDS.orderDe}`, { method: "HEAD" });
    await until(() => mirrored.length === 2);
    expect(seen.map(({ method, url }) => `${method} ${url.split("/")[2]}`)).toEqual([
      "GET eu.test",
      "GET shade.test",
      "POST eu.test",
      "HEAD eu.test",
      "HEAD shade.test",
    ]);
    const shadows = seen.filter(({ url }) => url.includes("shade"));
    expect(shadows.map(({ url }) => url)).toEqual([
      `http://shade.test${PATH}`,
      `http://shade.test/orders/${IDS.orderDe}`,
    ]);
    for (const { headers } of shadows) {
      expect([headers.get("waybill-shadow"), headers.get("waybill-region")]).toEqual(["1", "shade"]);
    }
    expect(seen.filter(({ headers }) => headers.has("waybill-shadow"))).toHaveLength(2);
    expect(mirrored).toEqual(["shade match", "shade match"]);
  });

  it("is one trace with the client's own request", async () => {
    const { request, seen, mirrored } = setUp({ declared: shadowed(100) });
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    await request(PATH, { headers: { traceparent } });
    await until(() => mirrored.length === 1);
    expect(seen.map(({ headers }) => headers.get("traceparent"))).toEqual([traceparent, traceparent]);
  });

  it("that hangs or fails is waited for by nobody, and no client sees it", async () => {
    for (const fate of [
      () => new Promise<Response>(() => undefined),
      () => Promise.reject(new Error("Network connection lost.")),
      () => new Response("broken", { status: 500, headers: { "set-cookie": "shadow=1" } }),
    ]) {
      const { request, lines } = setUp({
        declared: shadowed(100),
        origin: (received) => (isShadow(received) ? fate() : new Response("sound")),
      });
      const started = Date.now();
      const answers = await Promise.all(Array.from({ length: 12 }, () => request(PATH)));
      expect(Date.now() - started).toBeLessThan(2_000);
      for (const answer of answers) {
        expect([answer.status, await answer.text(), answer.headers.get("set-cookie")]).toEqual([200, "sound", null]);
      }
      expect(lines.map(({ region, attempts, status }) => `${region} ${attempts} ${status}`)).toEqual(
        new Array(12).fill("eu 1 200"),
      );
    }
  });

  it("with a share of nothing gets nothing", async () => {
    const { request, seen } = setUp({ declared: shadowed(0) });
    await request(PATH);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(seen.map(({ url }) => new URL(url).host)).toEqual(["eu.test"]);
  });
});

describe("a canary behind the whole gateway", () => {
  const ramped = (percent: number) => ({
    ...DECLARED_TABLE,
    routes: DECLARED_TABLE.routes.map((route) =>
      route.region === "us" ? route : { ...route, canary: { region: "us", percent } },
    ),
  });

  it("takes a share of the IDs, the same ones by each path", async () => {
    const { request } = setUp({ declared: ramped(50) });
    const regions: (string | null)[] = [];
    for (let last = 0; last < 40; last++) {
      const id = IDS.orderDe.replace(/01$/, last.toString(16).padStart(2, "0"));
      const [own, any] = await Promise.all([request(`/orders/${id}`), request(`/any/${id}`)]);
      expect(any.headers.get("waybill-region")).toBe(own.headers.get("waybill-region"));
      regions.push(own.headers.get("waybill-region"));
    }
    expect(new Set(regions)).toEqual(new Set(["eu", "us"]));
    expect(regions.filter((region) => region === "us").length).toBeGreaterThan(8);
  });

  it("says of an ID that is minted the region that it will be sent to", async () => {
    const { request } = setUp({ declared: ramped(50) });
    const minted = await request("/mint", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ entity: "order", country: "DE", count: 20 }),
    });
    const { ids, regions, region } = await minted.json<{ ids: string[]; regions?: string[]; region?: string }>();
    expect(ids).toHaveLength(20);
    const sent = await Promise.all(
      ids.map(async (id) => (await request(`/orders/${id}`)).headers.get("waybill-region")),
    );
    expect(regions ?? ids.map(() => region)).toEqual(sent);
  });
});
