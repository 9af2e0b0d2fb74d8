import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import type { Published } from "./published.ts";

/** A state node's answers to mirrors, as `src/worker/state.ts` gives them, with faults. */
export interface StateNode {
  readonly address: string;
  /** Paths asked for, without the pointer. */
  readonly asked: string[];
  /** The last report of an edge. */
  readonly reports: Map<string, unknown>;
  fault: ((path: string) => Fault | undefined) | undefined;
  stop(): Promise<void>;
}

export type Fault = keyof typeof FAULTS;

/** As long as the problems of a gateway may be. */
const PROBLEM = JSON.stringify({ title: "Not found", detail: "x".repeat(2_000) });

const FAULTS = {
  reset: (response: ServerResponse): unknown => response.socket?.destroy(),
  silent: () => undefined,
  /** Without a length, as long as somebody reads. */
  endless: (response: ServerResponse) => {
    const piece = Buffer.alloc(65_536, 120);
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  },
  "too-long": (response: ServerResponse) => response.end(Buffer.alloc(20 * 1024 * 1024)),
  "cut-off": (response: ServerResponse, bytes: Uint8Array) => {
    response.writeHead(200, { "content-length": bytes.length });
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.destroy());
  },
  shorter: (response: ServerResponse, bytes: Uint8Array) => response.end(bytes.subarray(0, bytes.length >> 1)),
  wrong: (response: ServerResponse, bytes: Uint8Array) => {
    const other = Buffer.from(bytes);
    if (other.length > 0) other[other.length >> 1] = (other[other.length >> 1] as number) ^ 1;
    response.end(other);
  },
  empty: (response: ServerResponse) => response.end(),
  slow: (response: ServerResponse, bytes: Uint8Array) => setTimeout(() => response.end(bytes), 2_500).unref(),
  missing: (response: ServerResponse) => response.writeHead(404).end(PROBLEM),
  "missing-endless": (response: ServerResponse) => {
    response.writeHead(404);
    FAULTS.endless(response);
  },
  failed: (response: ServerResponse) => response.writeHead(503).end(),
  redirect: (response: ServerResponse) => response.writeHead(302, { location: "https://127.0.0.1:9/" }).end(),
  "not-modified": (response: ServerResponse) => response.writeHead(304).end(),
  garbage: (response: ServerResponse) => response.socket?.end("no answer of HTTP\r\n\r\n"),
} satisfies Record<string, (response: ServerResponse, bytes: Uint8Array) => unknown>;

export async function startStateNode(published: Published, tls: string): Promise<StateNode> {
  const [ca, cert, key] = ["ca.pem", "cert.pem", "key.pem"].map((name) => readFileSync(join(tls, "state", name)));
  const asked: string[] = [];
  const reports = new Map<string, unknown>();
  const server = createServer({ ca, cert, key, requestCert: true, rejectUnauthorized: true });
  const sockets = new Set<TLSSocket>();
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "https://state.waybill");
    const key = decodeURIComponent(pathname.slice("/values/".length));
    const isPointer = pathname === "/pointer";
    if (!isPointer) asked.push(key);
    if (!isPointer) {
      const value = published.values.get(key);
      const fault = node.fault?.(key);
      if (fault !== undefined) return FAULTS[fault](response, value ?? new Uint8Array());
      return value === undefined ? FAULTS.missing(response) : response.end(value);
    }
    const report = request.headers["waybill-edge"];
    if (typeof report === "string") reports.set(JSON.parse(report).name, JSON.parse(report));
    return answerPointer(request, response, Number(searchParams.get("wait")));
  };
  const answerPointer = async (request: IncomingMessage, response: ServerResponse, seconds: number) => {
    const endMs = Date.now() + seconds * 1000;
    const { "if-none-match": tag } = request.headers;
    while (!response.destroyed) {
      if (published.tag !== undefined && published.tag !== tag) {
        const fault = node.fault?.("pointer");
        if (fault !== undefined) return FAULTS[fault](response, Buffer.from(published.text));
        return response.writeHead(200, { etag: published.tag }).end(published.text);
      }
      const leftMs = endMs - Date.now();
      if (leftMs <= 0)
        return response
          .writeHead(published.tag === undefined ? 404 : 304)
          .end(published.tag === undefined ? PROBLEM : "");
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, leftMs);
      });
      await Promise.race([published.changed(), late, once(response, "close")]);
      clearTimeout(timer);
    }
    return undefined;
  };
  server.on("request", (request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const node: StateNode = {
    address: `127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    asked,
    reports,
    fault: undefined,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return node;
}
