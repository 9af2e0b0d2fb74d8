import { request as httpRequest } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { randomBelow, seededWords } from "../../../bench/lib/random.ts";

/** A network that loses, cuts, repeats and reorders, the same way for the same seed. Nothing here waits. */

const FATES = ["pass", "refused", "left", "unanswered", "cut", "late", "twice"] as const;
type Fate = (typeof FATES)[number];

export interface FlakyNetwork {
  readonly port: number;
  /** How often each happened. */
  readonly fates: ReadonlyMap<Fate, number>;
  stop(): Promise<void>;
}

/**
 * One request a connection. `left`: the client is gone as soon as the request was sent. `unanswered`: the answer is lost.
 * `cut`: it breaks off. `late`: the request arrives after a later one. `twice`: it arrives two times.
 */
export async function startFlakyNetwork(gatewayPort: number, seed: number): Promise<FlakyNetwork> {
  const random = seededWords(seed);
  const fates = new Map<Fate, number>();
  const open = new Set<Socket>();
  const late: Buffer[] = [];
  const toGateway = (request: Buffer): Socket => {
    const socket = connect(gatewayPort, "127.0.0.1", () => socket.write(request));
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
    return socket;
  };
  /** Sends a request whose answer nobody waits for. */
  const deliver = (request: Buffer): void => {
    toGateway(request).resume();
  };
  const pass = (client: Socket, request: Buffer, fate: Fate): void => {
    switch (fate) {
      case "refused":
        client.resetAndDestroy();
        return;
      case "late":
        late.push(request);
        client.resetAndDestroy();
        return;
      case "twice":
        deliver(request);
    }
    const gateway = toGateway(request);
    if (fate === "left") {
      client.resetAndDestroy();
      gateway.on("connect", () => setImmediate(() => gateway.destroy()));
      return;
    }
    client.on("close", () => gateway.destroy());
    gateway.on("close", () => client.end());
    gateway.on("data", (answer: Buffer) => {
      if (fate === "unanswered") client.resetAndDestroy();
      else if (fate === "cut") {
        client.write(answer.subarray(0, randomBelow(random, answer.length)), () => client.destroy());
      } else client.write(answer);
    });
    for (const other of late.splice(0)) deliver(other);
  };
  const server = createServer((client) => {
    open.add(client);
    client.on("error", () => undefined).on("close", () => open.delete(client));
    const chunks: Buffer[] = [];
    client.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      const request = Buffer.concat(chunks);
      if (!isWhole(request)) return;
      chunks.length = 0;
      const fate = FATES[randomBelow(random, FATES.length)] as Fate;
      fates.set(fate, (fates.get(fate) ?? 0) + 1);
      pass(client, request, fate);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const stop = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port: typeof address === "object" ? (address?.port ?? 0) : 0, fates, stop };
}

function isWhole(request: Buffer): boolean {
  const text = request.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? "0";
  return end !== -1 && request.length >= end + 4 + Number(length);
}

/** `fetch` on a connection of its own. */
export async function fetchOnce(request: Request): Promise<Response> {
  const body = Buffer.from(await request.arrayBuffer());
  const headers = { ...Object.fromEntries(request.headers), "content-length": String(body.length) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(request.url, { method: request.method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const fields = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string]);
        resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 0, headers: fields }));
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
