import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { handleDocument } from "./document-handler.ts";
import { documentPathOf } from "./document-path.ts";
import { answer, type Exchange, REGION_HEADER, respondWithError } from "./exchange.ts";
import { openRegionStore, type RegionStore } from "./region-store.ts";
import { STREAM_HANDLERS } from "./stream-handlers.ts";
import { attachWebSocketEcho } from "./web-socket-echo.ts";

/** One region's origin: a plain HTTP server on loopback. */
export interface RunningOrigin {
  readonly region: string;
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly store: RegionStore;
  stop(): Promise<void>;
}

/**
 * Uploads may take as long as they take. Idle connections stay open for longer than workerd keeps them (5 s), so that it
 * never sends a request on one that is just being closed.
 */
const SERVER_OPTIONS = { requestTimeout: 0, keepAliveTimeout: 65_000 };

/** Port 0 lets the system choose. Rejects with Node's error when the port is taken. */
export async function startOrigin(region: string, port: number): Promise<RunningOrigin> {
  const store = openRegionStore();
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    response.setHeader(REGION_HEADER, region);
    dispatch(region, store, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(`${error}\n`);
    });
  });
  const sockets = attachWebSocketEcho(server, region);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("the origin does not listen on TCP");
  return {
    region,
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    store,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        server.close(() => {
          store.close();
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function dispatch(
  region: string,
  store: RegionStore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [rawPath = "", search = ""] = splitOnce(request.url ?? "", "?");
  const documentPath = documentPathOf(rawPath);
  const query = new URLSearchParams(search);
  const exchange: Exchange = { region, store, request, response, query, documentPath: documentPath ?? "" };
  if (documentPath === undefined) return respondWithError(exchange, 404, "this origin keeps documents at /<kind>/<id>");
  const [last = "", beforeLast] = documentPath.split("/").slice(3).reverse();
  if (beforeLast === "status") return answerStatus(exchange, last);
  const handler = STREAM_HANDLERS.get(last) ?? handleDocument;
  await handler(exchange);
}

/** `/status/:code?location=`: answers with that status. */
function answerStatus(exchange: Exchange, code: string): void {
  const location = exchange.query.get("location");
  if (location !== null) exchange.response.setHeader("location", location);
  if (!/^[2-5]\d\d$/.test(code)) respondWithError(exchange, 400, "a status is a number from 200 to 599");
  else if (code === "204" || code === "304") exchange.response.writeHead(Number(code)).end();
  else answer(exchange, Number(code));
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
