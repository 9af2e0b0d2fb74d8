import { createServer, type Server } from "node:http";
import type { MoreOfOrigin } from "../origin.ts";

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
