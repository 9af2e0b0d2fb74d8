import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createSocket, type Socket, type Server as SocketServer } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { DeclaredTable } from "../../../src/routing/index.ts";
import type { DemoTable } from "../../system/demo/demo.ts";
import { startStack } from "../../system/stack.ts";
import { askAll, freePort, type RunningEngine, requestFor, startEngine } from "../engines.ts";
import { describeEngines } from "./describe-engines.ts";

const ID = "6347eb00-bbaa-01cc-0201-0203d0000000";

describeEngines(
  (engine) => `${engine} when origins fail`,
  (engine) => {
    const stops: (() => Promise<unknown> | unknown)[] = [];
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop();
    });

    const listen = async (server: Server | SocketServer): Promise<string> => {
      const sockets = new Set<Socket>();
      server.on("connection", (socket: Socket) => sockets.add(socket));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      stops.push(() => {
        for (const socket of sockets) socket.destroy();
        server.close();
      });
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };

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
      return { url: await listen(server), asked, server };
    };

    const start = async (regions: DeclaredTable["regions"], withGateway = false): Promise<RunningEngine> => {
      const declared: DeclaredTable = {
        regions,
        entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } },
        routes: [{ when: { entity: "parcel" }, region: "eu" }],
      };
      const stack = withGateway ? await startStack({ countries: {}, moved: {}, ...declared } as DemoTable) : undefined;
      if (stack !== undefined) stops.push(() => stack.stop());
      const running = await startEngine(engine, declared, stack?.url);
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
      // HAProxy leaves a lost region to the gateway.
      const regions = {
        eu: { origins: [{ url: await deadUrl() }], failover: ["us"] },
        us: { origins: [{ url: us.url }] },
      };
      const running = await start(regions, engine === "haproxy");
      // A check has to find out first that the origin is gone.
      await expect.poll(async () => (await ask(running))?.status, { timeout: 40_000, interval: 500 }).toBe(200);
      const read = await ask(running);
      expect(read?.head).toMatch(/waybill-region: us/i);
      expect(await ask(running, "POST", ["content-length: 0"])).toMatchObject({ status: 502 });
      expect(us.asked.every((one) => one.startsWith("GET "))).toBe(true);
    });

    it("an answer that takes too long is a problem", async () => {
      const url = await listen(createServer(() => undefined));
      const answer = await ask(
        await start({ eu: { origins: [{ url }], deadlines: { firstByteMs: 300, idleMs: 300 } } }),
      );
      expect(answer?.status).toBe(504);
      expect(answer?.body).toContain("/-/problems/origin-timeout");
    });

    it("the console's session reaches no origin, and no origin sets it", async () => {
      const got: (string | undefined)[] = [];
      const server = createServer((request, response) => {
        got.push(request.headers.cookie);
        response.setHeader("set-cookie", ["__Host-waybill-session=forged; Secure; Path=/"]);
        response.end("eu");
      });
      const running = await start({ eu: { origins: [{ url: await listen(server) }] } }, true);
      const answer = await ask(running, "GET", ["cookie: a=b; __Host-waybill-session=secret"]);
      expect(await ask(running, "GET", ["cookie: a=b"])).toMatchObject({ status: 200 });
      expect(got).toEqual(["a=b", "a=b"]);
      expect(answer?.head).not.toContain("forged");
    });

    it("what is no final answer passes for none", async () => {
      const heads = [
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nwaybill-region: forged\r\ncontent-length: 2\r\n\r\nok",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nforged",
        "HTTP/1.1 600 Odd\r\ncontent-length: 6\r\n\r\nforged",
        "SSH-2.0-forged\r\n",
      ];
      for (const head of heads) {
        const server = createSocket((socket) =>
          socket.on("error", () => undefined).once("data", () => socket.end(head)),
        );
        const running = await start({ eu: { origins: [{ url: await listen(server) }] } });
        const answer = await ask(running);
        expect(`${answer?.head} ${answer?.body}`, head).not.toContain("forged");
      }
    });

    it("a long head of an answer passes", async () => {
      const long = "x".repeat(12_000);
      const server = createServer((_, response) => response.setHeader("x-long", long).end("eu"));
      const answer = await ask(await start({ eu: { origins: [{ url: await listen(server) }] } }));
      expect([answer?.status, answer?.head.includes(long)]).toEqual([200, true]);
    });

    it("an origin that is silent takes none of the good one's trust", async () => {
      const silent = await listen(createServer(() => undefined));
      const { url } = await startOrigin("eu");
      const deadlines = { firstByteMs: 200, idleMs: 200 };
      const running = await start({ eu: { origins: [{ url: silent }, { url }], deadlines } });
      const paths = Array.from({ length: 40 }, (_, at) => requestFor(`/parcels/${ID.slice(0, -2)}${at + 10}`));
      await askAll(running.port, paths, 20);
      const statuses = (await askAll(running.port, paths, 1)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(engine === "nginx" ? 39 : 10);
    });

    it("origins whose paths differ do not stand in for each other", async () => {
      const one = await startOrigin("one");
      const running = await start(
        { eu: { origins: [{ url: `${await deadUrl()}/dead` }, { url: `${one.url}/live` }] } },
        true,
      );
      expect(await ask(running)).toMatchObject({ status: 200 });
      expect(one.asked.every((asked) => asked.startsWith("GET /live/parcels/"))).toBe(true);
    });

    it("values of a table stay values", async () => {
      const { url, asked } = await startOrigin("eu");
      const running = await start({
        eu: { origins: [{ url: `${url}/q;'x%7D/%25` }], health: { path: "/h'\"\\%#?$x{}" } },
      });
      await ask(running);
      expect(asked.at(-1)).toBe(`GET /q;'x%7D/%25/parcels/${ID}`);
    });
  },
);
