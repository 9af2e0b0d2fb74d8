import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";

/** Clients over persistent connections: paced ones, or some that send as fast as they are answered. */

export interface ClientsRequest {
  readonly port: number;
  readonly durationMs: number;
  /** Complete HTTP requests, sent in turn. */
  readonly messages: readonly string[];
  /** `burst` requests at once, each `everyMs`; or so many connections, each with its next request after an answer. */
  readonly pace: { readonly burst: number; readonly everyMs: number } | { readonly connections: number };
}

export interface ClientsFigures {
  /** Counts of the requests with each status; 0: no answer. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Latencies of all requests, from the time at which each was due. */
  readonly latenciesMs: readonly number[];
}

const HEAD_END = "\r\n\r\n";

process.on("message", (request: ClientsRequest) => {
  run(request).then(
    (figures) => process.send?.(figures),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once("disconnect", () => process.exit());

async function run({ port, durationMs, messages, pace }: ClientsRequest): Promise<ClientsFigures> {
  const statuses: Record<number, number> = {};
  const latenciesMs: number[] = [];
  const idle: Socket[] = [];
  let sent = 0;
  const ask = async (dueMs: number): Promise<void> => {
    // One that the gateway has closed meanwhile says so only once.
    while (idle.at(-1)?.destroyed) idle.pop();
    const socket = idle.pop() ?? connect({ port, host: "127.0.0.1", noDelay: true });
    const status = await exchange(socket, messages[sent++ % messages.length] ?? "");
    latenciesMs.push(performance.now() - dueMs);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status !== 0) idle.push(socket);
  };
  const startedMs = performance.now();
  const untilMs = startedMs + durationMs;
  if ("connections" in pace) {
    const loop = async () => {
      while (performance.now() < untilMs) await ask(performance.now());
    };
    await Promise.all(Array.from({ length: pace.connections }, loop));
  } else {
    const asked: Promise<void>[] = [];
    for (let dueMs = startedMs; dueMs < untilMs; dueMs += pace.everyMs) {
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      // The timer's own lateness is not the gateway's.
      const sentMs = performance.now();
      for (let count = 0; count < pace.burst; count++) asked.push(ask(sentMs));
    }
    await Promise.all(asked);
  }
  for (const socket of idle) socket.destroy();
  return { statuses, latenciesMs };
}

/** Sends one request and reads its answer. The status; 0 where the connection ends first. */
function exchange(socket: Socket, message: string): Promise<number> {
  return new Promise((resolve) => {
    let read = "";
    const finish = (status: number) => {
      socket.off("data", take).off("close", fail);
      resolve(status);
    };
    const fail = () => finish(0);
    const take = (chunk: Buffer) => {
      read += chunk.toString("latin1");
      const end = read.indexOf(HEAD_END);
      if (end === -1) return;
      const bytes = Number(/\r\ncontent-length: (\d+)/i.exec(read.slice(0, end))?.[1] ?? Number.NaN);
      if (Number.isNaN(bytes)) socket.destroy();
      else if (read.length >= end + HEAD_END.length + bytes) finish(Number(read.slice("HTTP/1.1 ".length).slice(0, 3)));
    };
    socket.on("data", take).on("close", fail);
    if (socket.listenerCount("error") === 0) socket.on("error", () => undefined);
    socket.write(message, "latin1");
  });
}
