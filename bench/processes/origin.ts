import { createServer } from "node:net";

/** An origin that costs next to nothing: every GET gets a ready answer. It tells its parent its port. */

const HEAD_END = "\r\n\r\n";
const BIG_ANSWER_MARK = "answer=big";
const BIG_ANSWER_BYTES = 64 * 1024;

const SMALL_ANSWER = answer(JSON.stringify({ status: "shipped", total: 1250, currency: "KZT", items: [1, 2, 3] }));
const BIG_ANSWER = answer("x".repeat(BIG_ANSWER_BYTES));

const server = createServer({ noDelay: true }, (socket) => {
  let unread = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    for (let end = unread.indexOf(HEAD_END); end !== -1; end = unread.indexOf(HEAD_END)) {
      const isBig = unread.subarray(0, unread.indexOf("\r\n")).includes(BIG_ANSWER_MARK);
      socket.write(isBig ? BIG_ANSWER : SMALL_ANSWER);
      unread = unread.subarray(end + HEAD_END.length);
    }
  });
  // A client that goes away takes nothing with it.
  socket.on("error", () => socket.destroy());
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  process.send?.({ port: address.port });
});
process.once("disconnect", () => process.exit());

function answer(body: string): Buffer {
  const fields = [
    "HTTP/1.1 200 OK",
    "content-type: application/json",
    "cache-control: no-store",
    'etag: "5d41402a"',
    "x-request-id: 4bf92f3577b34da6",
    `content-length: ${body.length}`,
  ];
  return Buffer.from(fields.join("\r\n") + HEAD_END + body, "latin1");
}
