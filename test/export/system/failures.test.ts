import { createServer, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { ENGINES } from "../../../src/export/index.ts";
import type { DeclaredTable } from "../../../src/routing/index.ts";
import { askAll, freePort, isInstalled, type RunningEngine, requestFor, startEngine } from "../engines.ts";

const ID = "6347eb00-bbaa-01cc-0201-0203d0000000";

describe.each(ENGINES.filter(isInstalled))("%s when origins fail", (engine) => {
  const stops: (() => Promise<unknown> | unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  const startOrigin = async (
    name: string,
  ): Promise<{ readonly url: string; readonly asked: string[]; readonly server: Server }> => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.setHeader("x-origin", name);
      response.setHeader("x-accel-redirect", "/-/engine/404");
      response.setHeader("waybill-region", "forged");
      response.end(name);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    stops.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, asked, server };
  };

  const start = async (regions: DeclaredTable["regions"]): Promise<RunningEngine> => {
    const declared: DeclaredTable = {
      regions,
      entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } },
      routes: [{ when: { entity: "parcel" }, region: "eu" }],
    };
    const running = await startEngine(engine, declared, undefined);
    stops.push(() => running.stop());
    return running;
  };

  const ask = async ({ port }: RunningEngine, method = "GET", fields: readonly string[] = []) =>
    (await askAll(port, [requestFor(`/parcels/${ID}`, method, fields)]))[0];

  const deadUrl = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

  it("an origin does not steer the engine, nor write the gateway's labels", async () => {
    const { url } = await startOrigin("eu");
    const answer = await ask(await start({ eu: { origins: [{ url }] } }));
    expect(answer).toMatchObject({ status: 200 });
    expect(answer?.head).toMatch(/waybill-region: eu/i);
    expect(answer?.head).not.toContain("forged");
  });

  it("a region without a live origin is a problem of the gateway's status", async () => {
    const answer = await ask(await start({ eu: { origins: [{ url: await deadUrl() }] } }));
    expect(answer?.status).toBe(502);
    expect(answer?.head).toMatch(/application\/problem\+json/);
    expect(answer?.body).toContain("/-/problems/origin-unreachable");
  });

  it("a read goes to the region's other origin, whichever is the ID's own", async () => {
    const { url } = await startOrigin("eu");
    const first = await start({ eu: { origins: [{ url: await deadUrl() }, { url }] } });
    expect(await ask(first)).toMatchObject({ status: 200 });
    const second = await start({ eu: { origins: [{ url }, { url: await deadUrl() }] } });
    expect(await ask(second)).toMatchObject({ status: 200 });
  });

  it("reads fail over to the next region, and writes do not", async () => {
    const us = await startOrigin("us");
    const running = await start({
      eu: { origins: [{ url: await deadUrl() }], failover: ["us"] },
      us: { origins: [{ url: us.url }] },
    });
    // A check has to find out first that the origin is gone.
    await expect.poll(async () => (await ask(running))?.status, { timeout: 40_000, interval: 500 }).toBe(200);
    const read = await ask(running);
    expect(read?.head).toMatch(/waybill-region: us/i);
    expect(await ask(running, "POST", ["content-length: 0"])).toMatchObject({ status: 502 });
    expect(us.asked.every((one) => one.startsWith("GET "))).toBe(true);
  });

  it("an answer that takes too long is a problem", async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    stops.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const answer = await ask(await start({ eu: { origins: [{ url }], deadlines: { firstByteMs: 300, idleMs: 300 } } }));
    expect(answer?.status).toBe(504);
    expect(answer?.body).toContain("/-/problems/origin-timeout");
  });

  it("values of a table stay values", async () => {
    const { url, asked } = await startOrigin("eu");
    const running = await start({
      eu: { origins: [{ url: `${url}/q;'x%7D/%25` }], health: { path: "/h'\"\\%#?$x{}" } },
    });
    await ask(running);
    expect(asked.at(-1)).toBe(`GET /q;'x%7D/%25/parcels/${ID}`);
  });
});
