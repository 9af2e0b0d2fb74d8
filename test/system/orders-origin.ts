import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** The origin's act at the next create; then it answers again. */
export type Act = (request: IncomingMessage, response: ServerResponse, store: () => string) => void | Promise<void>;

/** An origin that stores orders, each ID once. */
export async function startOrders() {
  const posts: string[] = [];
  const entities = new Map<string, string>();
  let act: Act | undefined;

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const id = String(request.headers["waybill-entity-id"]);
    posts.push(id);
    const taken = act;
    act = undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const store = () => {
      if (!entities.has(id)) entities.set(id, Buffer.concat(chunks).toString());
      return JSON.stringify({ id, order: entities.get(id) });
    };
    if (taken === undefined) answer(response, store());
    else await taken(request, response, store);
  };

  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    // An upload that breaks off is none of the origin's faults.
    handle(request, response).catch(() => response.destroy());
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  const { port } = address;
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    posts,
    entities,
    next: (given: Act) => {
      act = given;
    },
    stop,
    startAgain: () => listen(port),
  };
}

export const answer = (response: ServerResponse, body: string): void => {
  response.writeHead(201, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
};
