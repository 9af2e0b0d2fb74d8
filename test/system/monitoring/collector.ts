import { createServer, type IncomingMessage } from "node:http";

export interface Taken {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  readonly bytes: number;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A collector that keeps what it gets, and answers as it is told. It takes JSON by POST alone, as OTLP/HTTP has it. */
export async function startCollector(answer: () => Answer = () => ({ status: 200, body: {} })) {
  const taken: Taken[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url = "", headers } = request;
      const bytes = Buffer.concat(chunks);
      const isOtlp = method === "POST" && headers["content-type"] === "application/json";
      if (isOtlp) taken.push({ path: url, headers, body: JSON.parse(bytes.toString()), bytes: bytes.length });
      const { status, headers: own, body } = isOtlp ? answer() : { status: 415 };
      response.writeHead(status, { "content-type": "application/json", ...own });
      response.end(body === undefined ? "" : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, taken, stop };
}
