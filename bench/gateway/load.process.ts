import { connect } from "node:net";
import { performance } from "node:perf_hooks";

/** Load generator: sequential requests on persistent connections, with as little CPU as possible. */

export interface LoadRequest {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** Requests in a second, spread evenly; absent: as many as the connections carry. */
  readonly perSecond?: number | undefined;
  /** Complete HTTP requests, sent in turn. */
  readonly requests: readonly string[];
}

/** A response other than 200 and 201 ends the run with an error. */
export interface LoadFigures {
  readonly responses: number;
  readonly tookMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const HEAD_END = "\r\n\r\n";
const OK = /^HTTP\/1\.1 20[01] /;

process.on("message", (request: LoadRequest) => {
  load(request).then(
    (figures) => process.send?.(figures),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once("disconnect", () => process.exit());

async function load({ port, connections, durationMs, perSecond, requests }: LoadRequest): Promise<LoadFigures> {
  const messages = requests.map((request) => Buffer.from(request, "latin1"));
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  const untilMs = startedMs + durationMs;
  let next = 0;
  const nextRequest = () => messages[next++ % messages.length] as Buffer;
  // A request that could not be sent in time counts from when it was due.
  const everyMs = perSecond === undefined ? 0 : (connections * 1000) / perSecond;
  const dueMs = (connection: number) => (everyMs === 0 ? undefined : startedMs + (connection * everyMs) / connections);
  await Promise.all(
    Array.from({ length: connections }, (_, at) =>
      runConnection({ port, untilMs, nextRequest, latenciesMs, everyMs, firstDueMs: dueMs(at) }),
    ),
  );
  const tookMs = performance.now() - startedMs;
  latenciesMs.sort((a, b) => a - b);
  const quantile = (share: number) => latenciesMs[Math.floor(latenciesMs.length * share)] ?? Number.NaN;
  return { responses: latenciesMs.length, tookMs, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

interface Connection {
  readonly port: number;
  readonly untilMs: number;
  readonly nextRequest: () => Buffer;
  readonly latenciesMs: number[];
  readonly everyMs: number;
  readonly firstDueMs: number | undefined;
}

/** Runs one connection until `untilMs`. */
function runConnection({ port, untilMs, nextRequest, latenciesMs, everyMs, firstDueMs }: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    let sentMs = 0;
    let dueMs = firstDueMs;
    let head: Buffer | undefined;
    let bodyBytesLeft = 0;
    const send = () => {
      const nowMs = performance.now();
      if (dueMs !== undefined && dueMs > nowMs) {
        setTimeout(send, dueMs - nowMs);
        return;
      }
      sentMs = dueMs ?? nowMs;
      if (dueMs !== undefined) dueMs += everyMs;
      socket.write(nextRequest());
    };
    const finish = () => {
      const nowMs = performance.now();
      latenciesMs.push(nowMs - sentMs);
      if (nowMs < untilMs) return send();
      socket.destroy();
      resolve();
    };
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the connection was closed")));
    socket.on("data", (chunk) => {
      if (bodyBytesLeft > 0) {
        bodyBytesLeft -= chunk.length;
      } else {
        head = head === undefined ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf(HEAD_END);
        if (end === -1) return;
        const text = head.toString("latin1", 0, end);
        const bodyBytes = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN);
        if (!OK.test(text) || Number.isNaN(bodyBytes)) {
          socket.destroy(new Error(`not a good answer of known length: ${text}`));
          return;
        }
        bodyBytesLeft = bodyBytes - (head.length - end - HEAD_END.length);
        head = undefined;
      }
      if (bodyBytesLeft === 0) finish();
    });
  });
}
