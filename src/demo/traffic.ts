import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Sample } from "../host/project/samples.ts";
import type { MoreOfOrigin } from "./origin.ts";

/** Something to see in the console: requests, and regions that are down. */

/** Enough for a graph, and no load. */
const PAUSE_MS = 300;

/** Begins the trace IDs of this traffic: "demo". Requests of the user have others. */
const TRACE_START = "64656d6f";

/** One request in this many asks for an entity that its region lacks. */
const MISSING_EVERY = 20;

/** A little traffic for the samples, so that the console opens with data. Stops by the function that it returns. */
export function startTraffic(url: string, samples: readonly Sample[]): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const ask = async (sample: Sample, isMissing: boolean): Promise<void> => {
    const trace = `00-${TRACE_START}${randomBytes(12).toString("hex")}-${randomBytes(8).toString("hex")}-00`;
    // By the entity's own path, or by the ID alone as one that was pasted.
    const known = Math.random() < 0.5 ? sample.path : `/any/${sample.id}`;
    const path = isMissing ? `${sample.path}/missing` : known;
    const response = await fetch(url + path, { headers: { traceparent: trace }, signal });
    await response.arrayBuffer();
  };
  const run = async (): Promise<void> => {
    for (let at = 0; samples.length > 0; at++) {
      const sample = samples[Math.floor(Math.random() * samples.length)] as Sample;
      // A region that is down is what the console shows.
      void ask(sample, at % MISSING_EVERY === MISSING_EVERY - 1).catch(() => undefined);
      await delay(PAUSE_MS * (0.5 + Math.random()), undefined, { signal });
    }
  };
  run().catch(() => undefined);
  return () => stopped.abort();
}

/** Whether a log line is of this traffic: the screen shows the user's requests. */
export const isOfTraffic = (line: string): boolean => line.includes(`"trace":"${TRACE_START}`);

/** Puts origins of the demo out of order and back on request, to watch the gateway and its console. */
export interface Outages {
  /** For `startOrigins`. */
  readonly origins: MoreOfOrigin;
  /** Opens the switch: `POST /<region>/down` and `POST /<region>/up`. */
  start(): Promise<string>;
  stop(): void;
}

export function outages(): Outages {
  const servers = new Map<string, Server>();
  const down = new Set<string>();
  // A broken region refuses its connections, so the switch is elsewhere.
  const control = createServer((request, response) => {
    const [, region = "", state] = /^\/([a-z]+)\/(down|up)$/.exec(request.url ?? "") ?? [];
    const server = servers.get(region);
    // Any page in this machine's browser can post here.
    const isBrowser = "origin" in request.headers || "sec-fetch-site" in request.headers;
    response.statusCode = isBrowser ? 403 : server === undefined ? 404 : request.method === "POST" ? 200 : 405;
    if (response.statusCode === 200 && state === "down") {
      down.add(region);
      server?.closeAllConnections();
    } else if (response.statusCode === 200) down.delete(region);
    response.end(`down: ${[...down].join(", ") || "none"}\n`);
  });
  return {
    origins: {
      handle: () => undefined,
      prepare(server, region) {
        servers.set(region, server);
        server.on("connection", (socket) => {
          if (down.has(region)) socket.destroy();
        });
      },
    },
    start: () =>
      new Promise((started, failed) => {
        control.once("error", failed).listen(0, "127.0.0.1", () => {
          const address = control.address();
          if (address === null || typeof address === "string")
            failed(new TypeError("the switch does not listen on TCP"));
          else started(`http://127.0.0.1:${address.port}`);
        });
      }),
    stop() {
      control.close();
      control.closeAllConnections();
    },
  };
}
