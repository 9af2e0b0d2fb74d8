import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask } from "./ask.ts";
import { countersOf } from "./counters.ts";
import { type FaultyRegion, lines, ok } from "./faults/fault.ts";
import { type HostileStack, originOf, startHostileStack } from "./gateway.ts";
import { fieldOf, type Message } from "./message.ts";
import { settles } from "./settle.ts";

/** An answer that nobody asked for, on a connection that is kept open. */
const FOREIGN = `${ok("content-length: 7")}foreign`;
const PATIENCE_MS = 10_000;

/** The answer to a request names it, so that one to another request is known. */
const own = (request: Message): string => {
  const target = request.startLine.split(" ")[1] ?? "";
  return `${ok(`content-length: ${target.length}`)}${target}`;
};
const ownInChunks = (request: Message): string => {
  const target = request.startLine.split(" ")[1] ?? "";
  return `${ok("transfer-encoding: chunked")}${target.length.toString(16)}\r\n${target}\r\n0\r\n\r\n`;
};
const bodiless = (status: string) => (request: Message) =>
  lines(`HTTP/1.1 ${status}`, `x-target: ${request.startLine.split(" ")[1]}`);
const onlyHead = (request: Message): string =>
  lines("HTTP/1.1 200 OK", `x-target: ${request.startLine.split(" ")[1]}`, "content-length: 7");

interface Split extends FaultyRegion {
  readonly method: "GET" | "HEAD" | "POST";
  /** Between two rounds, so that the connection is at rest when more comes. */
  readonly restMs?: number;
}

/** Each is a split answer: what follows it looks like another one (RFC 9112 §11.1). */
const SPLITS: readonly Split[] = [
  { name: "after-length", method: "GET", origin: { steps: [(request) => own(request) + FOREIGN] } },
  { name: "after-upload", method: "POST", origin: { steps: [(request) => own(request) + FOREIGN] } },
  { name: "after-chunks", method: "GET", origin: { steps: [(request) => ownInChunks(request) + FOREIGN] } },
  { name: "after-204", method: "GET", origin: { steps: [(request) => bodiless("204 No Content")(request) + FOREIGN] } },
  {
    name: "after-304",
    method: "GET",
    origin: { steps: [(request) => bodiless("304 Not Modified")(request) + FOREIGN] },
  },
  { name: "after-head", method: "HEAD", origin: { steps: [(request) => onlyHead(request) + FOREIGN] } },
  { name: "a-moment-later", method: "GET", restMs: 100, origin: { steps: [own, { pauseMs: 20 }, FOREIGN] } },
  {
    name: "half-a-head-later",
    method: "GET",
    restMs: 100,
    origin: { steps: [own, { pauseMs: 20 }, "HTTP/1.1 200 OK\r\nx-foreign: "] },
  },
  { name: "blank-lines", method: "GET", origin: { steps: [(request) => `${own(request)}\r\n\r\n`] } },
];
const ROUNDS = 8;
const AT_ONCE = 3;

const HANGS: readonly FaultyRegion[] = [
  { name: "silent", origin: { steps: ["hang!"] } },
  { name: "silent-in-body", origin: { steps: [ok("content-length: 10"), "hello", "hang!"] } },
];
const SELF = "self";

let relay: Relay;
let stack: HostileStack;
beforeAll(async () => {
  relay = await startRelay();
  const itself = { name: SELF, origin: { steps: [] }, url: () => relay.url };
  stack = await startHostileStack([...SPLITS, ...HANGS, itself]);
  relay.leadTo(stack.gateway.port);
});
afterAll(async () => {
  await stack?.stop();
  await relay?.stop();
});

const request = (method: string, path: string, ...fields: readonly string[]) =>
  lines(`${method} ${path} HTTP/1.1`, "host: gw.test", "connection: close", ...fields);

describe("an answer that was not asked for is nobody's", () => {
  it.concurrent.each(SPLITS)("$name", async ({ name, method, restMs }) => {
    const { requests, busy } = originOf(stack.origins, name);
    let sent = 0;
    const one = async () => {
      const path = `${stack.pathTo(name)}?${sent++}`;
      const fields = method === "POST" ? ["content-length: 0"] : [];
      const answer = await ask(stack.gateway.port, request(method, path, ...fields), { patienceMs: PATIENCE_MS });
      return { path, answer };
    };
    for (let round = 0; round < ROUNDS; round++) {
      for (const { path, answer } of await Promise.all(Array.from({ length: AT_ONCE }, one))) {
        const { message, status, end, surplus } = answer;
        // A kept connection may break under an unsafe request, which is never sent again: then it is a problem, and no answer.
        if (method === "POST" && status === 502) continue;
        const named = message && (fieldOf(message, "x-target") ?? message.body);
        const isForeign = message?.fields.some(([field]) => field === "x-foreign");
        expect({ named, end, surplus, isForeign }).toEqual({
          named: path,
          end: "whole",
          surplus: "",
          isForeign: false,
        });
      }
      if (restMs === undefined) continue;
      await settles("not at rest", busy, (count) => count === 0, 5_000);
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    const paths = requests.map(({ startLine }) => startLine);
    if (method === "POST") expect(new Set(paths).size).toBe(paths.length);
    expect(new Set(paths).size).toBeLessThanOrEqual(sent);
  });
});

describe("a region that is the gateway itself", () => {
  it("is found out at the second visit, and costs one connection", async () => {
    const answer = await ask(stack.gateway.port, request("GET", stack.pathTo(SELF)), { patienceMs: PATIENCE_MS });
    expect([answer.status, answer.end]).toEqual([508, "whole"]);
    expect(JSON.parse(answer.message?.body ?? "").type).toBe("/-/problems/loop-detected");
    expect(relay.connections()).toBe(1);
  });
});

describe("a client that leaves", () => {
  it("is counted when it has left before its answer", async () => {
    const seen = originOf(stack.origins, "silent").requests.length;
    const client = connect(stack.gateway.port, "127.0.0.1");
    client.on("error", () => undefined);
    client.write(`GET ${stack.pathTo("silent")} HTTP/1.1\r\nhost: gw.test\r\n\r\n`);
    await settles(
      "not asked",
      () => originOf(stack.origins, "silent").requests.length,
      (count) => count > seen,
      5_000,
    );
    client.resetAndDestroy();
    const left = async () =>
      (await countersOf(stack.url, "waybill_requests_total")).get("parcel silent client-left") ?? 0;
    expect(await settles("not counted", left, (count) => count > 0, 15_000)).toBe(1);
  });

  it.each(HANGS)("frees an origin that is $name", async ({ name }) => {
    const origin = originOf(stack.origins, name);
    const client = connect(stack.gateway.port, "127.0.0.1");
    client.on("error", () => undefined);
    client.write(request("GET", stack.pathTo(name)));
    await settles(
      "not asked",
      () => origin.busy(),
      (busy) => busy === 1,
      5_000,
    );
    client.resetAndDestroy();
    expect(
      await settles(
        "still busy",
        () => origin.busy(),
        (busy) => busy === 0,
        2_000,
      ),
    ).toBe(0);
  });
});

interface Relay {
  readonly url: string;
  readonly connections: () => number;
  leadTo(port: number): void;
  stop(): Promise<void>;
}

/** Leads to a port that is only known later. */
async function startRelay(): Promise<Relay> {
  let target = 0;
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    const other = connect(target, "127.0.0.1");
    socket.on("error", () => other.destroy()).pipe(other);
    other.on("error", () => socket.destroy()).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    leadTo: (port) => {
      target = port;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
