import { createServer } from "node:net";

/** A cheap origin: every GET gets a prepared response, or a reset. Sends its port to the parent process. */

const HEAD_END = "\r\n\r\n";
const BIG_RESPONSE_MARK = "response=big";
const RESET_MARK = "response=reset";
const BIG_RESPONSE_BYTES = 64 * 1024;

const SMALL_RESPONSE = response(JSON.stringify({ status: "shipped", total: 1250, currency: "KZT", items: [1, 2, 3] }));
const BIG_RESPONSE = response("x".repeat(BIG_RESPONSE_BYTES));

const server = createServer({ noDelay: true }, (socket) => {
  let unread = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    for (let end = unread.indexOf(HEAD_END); end !== -1; end = unread.indexOf(HEAD_END)) {
      const line = unread.subarray(0, unread.indexOf("\r\n"));
      if (line.includes(RESET_MARK)) {
        socket.resetAndDestroy();
        return;
      }
      socket.write(line.includes(BIG_RESPONSE_MARK) ? BIG_RESPONSE : SMALL_RESPONSE);
      unread = unread.subarray(end + HEAD_END.length);
    }
  });
  // A disconnecting client must not end the process.
  socket.on("error", () => socket.destroy());
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  process.send?.({ port: address.port });
});
process.once("disconnect", () => process.exit());

function response(body: string): Buffer {
  const head = [
    "HTTP/1.1 200 OK",
    "content-type: application/json",
    "cache-control: no-store",
    'etag: "5d41402a"',
    "x-request-id: 4bf92f3577b34da6",
    `content-length: ${body.length}`,
  ];
  return Buffer.from(head.join("\r\n") + HEAD_END + body, "latin1");
}
