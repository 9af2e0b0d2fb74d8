import { createServer, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";

/** Small bodies in gzip, which must reach the client byte for byte. */
export const GZIPPED = gzipSync("an answer in gzip, an answer in gzip");

/** Before the end of a slow upload, and long after its first part, so that a busy gateway has read the answer. */
const CLOSE_MS = 250;

/** Answers at once, whatever of the request's body has come, as the last segment of the path says. */
const EARLY: Readonly<Record<string, (response: ServerResponse) => void>> = {
  length: (response) =>
    void response.writeHead(401, { "content-length": "3", "www-authenticate": "Bearer" }).end("no\n"),
  chunks(response) {
    response.writeHead(401).write("n");
    setTimeout(() => response.end("o\n"), 20);
  },
  one: (response) => void response.writeHead(403, { "content-length": "1" }).end("x"),
  empty: (response) => void response.writeHead(401, { "content-length": "0" }).end(),
  none: (response) => void response.writeHead(204).end(),
  large: (response) => void response.writeHead(422, { "content-length": "300000" }).end("y".repeat(300_000)),
  gzip(response) {
    const fields = { "content-encoding": "gzip", "content-length": String(GZIPPED.length) };
    response.writeHead(403, fields).end(GZIPPED);
  },
  "gzip-chunks"(response) {
    response.writeHead(403, { "content-encoding": "gzip" }).write(GZIPPED.subarray(0, 7));
    response.end(GZIPPED.subarray(7));
  },
  // It reads nothing more, as a server that closes does. A reset overtakes an answer that was not read yet (RFC 9112 section 9.6).
  close(response) {
    response.writeHead(413, { "content-length": "3", connection: "close" }).end("no\n");
    setTimeout(() => response.socket?.destroy(), CLOSE_MS);
  },
};

export async function startEarlyOrigin() {
  const seen: { readonly method: string; readonly upgrade: string | undefined; bytes: number }[] = [];
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    const { method = "", url = "", headers } = request;
    const record = { method, upgrade: headers.upgrade, bytes: 0 };
    seen.push(record);
    // Later writes to a socket that the gateway has closed are no news.
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => {
      record.bytes += chunk.length;
    });
    const answer = EARLY[url.split("?")[0]?.split("/").at(-1) ?? ""];
    if (answer !== undefined) answer(response);
    else request.on("end", () => response.end(`got ${record.bytes}\n`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${address.port}`, port: address.port, seen, stop };
}

export const ID = "6347eb00-bbaa-01cc-0201-020300000000";
export const FENCED = "6347eb00-bbaa-01cc-0201-020301000000";
export const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/** All to one origin, with each set of fields. */
export const tableTo = (url: string) => ({
  regions: { eu: { origins: [{ url }], breaker: false as const }, us: { origins: [{ url }] } },
  countries: {},
  entities: {
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
    box: { path: "/boxes/:id", ids: [{ layout: "hotguid" }], fields: "minimal" },
    note: { path: "/notes/:id", ids: [{ layout: "ulid" }], any: "redirect" },
  },
  routes: [
    { when: { layout: "hotguid", shardKey: "0-9" }, region: "eu" },
    { when: { entity: "note" }, region: "eu" },
  ],
  moved: {},
  moves: { [FENCED]: { from: "eu", to: "us", state: "fenced", epoch: 2 } },
});
