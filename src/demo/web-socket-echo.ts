import type { Server } from "node:http";
import { WebSocketServer } from "ws";
import { REGION_HEADER } from "./exchange.ts";

/** Close codes that a peer may not send in a frame, RFC 6455 section 7.4.1. */
const CODES_NEVER_SENT = new Set([1004, 1005, 1006, 1015]);

/** A WebSocket on any path that ends in `/echo` gets back what it sends: text, bytes, and the close code. */
export function attachWebSocketEcho(server: Server, region: string): WebSocketServer {
  const sockets = new WebSocketServer({ noServer: true });
  sockets.on("headers", (headers) => headers.push(`${REGION_HEADER}: ${region}`));
  sockets.on("connection", (socket) => {
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
    socket.on("close", (code, reason) => {
      if (!CODES_NEVER_SENT.has(code)) socket.close(code, reason);
    });
    socket.on("error", () => socket.terminate());
  });
  server.on("upgrade", (request, stream, head) => {
    const path = request.url?.split("?")[0] ?? "";
    if (path.endsWith("/echo")) {
      sockets.handleUpgrade(request, stream, head, (socket) => sockets.emit("connection", socket, request));
      return;
    }
    stream.end(
      `HTTP/1.1 404 Not Found\r\n${REGION_HEADER}: ${region}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
    );
  });
  return sockets;
}
