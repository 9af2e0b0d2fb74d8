import { createServer } from "node:net";

/** A cheap origin: every request gets a prepared response once its body has come, or a reset. Sends its port to the parent process. */

const HEAD_END = "\r\n\r\n";
const RESET_MARK = "response=reset";

const SMALL_RESPONSE = response(JSON.stringify({ status: "shipped", total: 1250, currency: "KZT", items: [1, 2, 3] }));
const ORDER = {
  id: "1",
  status: "shipped",
  total: 1250,
  currency: "KZT",
  items: [{ sku: "AB-1", count: 2, price: 12.5 }],
};

/** By what the target asks for. */
const LARGE_RESPONSES = [
  {
    mark: "response=graphql",
    message: response(JSON.stringify({ data: { a: ORDER, b: ORDER, nodes: [ORDER] } })),
  },
  { mark: "response=64k", message: response("x".repeat(64 * 1024)) },
  { mark: "response=1m", message: response("x".repeat(1024 * 1024)) },
];

const server = createServer({ noDelay: true }, (socket) => {
  let unread = Buffer.alloc(0);
  let bodyBytesLeft = 0;
  let answer = SMALL_RESPONSE;
  socket.on("data", (chunk) => {
    if (bodyBytesLeft > chunk.length) {
      bodyBytesLeft -= chunk.length;
      return;
    }
    if (bodyBytesLeft > 0) socket.write(answer);
    const rest = chunk.subarray(bodyBytesLeft);
    bodyBytesLeft = 0;
    unread = unread.length === 0 ? rest : Buffer.concat([unread, rest]);
    for (let end = unread.indexOf(HEAD_END); end !== -1; end = unread.indexOf(HEAD_END)) {
      const line = unread.subarray(0, unread.indexOf("\r\n"));
      if (line.includes(RESET_MARK)) {
        socket.resetAndDestroy();
        return;
      }
      answer = LARGE_RESPONSES.find(({ mark }) => line.includes(mark))?.message ?? SMALL_RESPONSE;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(unread.toString("latin1", 0, end))?.[1] ?? 0);
      unread = unread.subarray(end + HEAD_END.length);
      if (length > unread.length) {
        bodyBytesLeft = length - unread.length;
        unread = Buffer.alloc(0);
        return;
      }
      unread = unread.subarray(length);
      socket.write(answer);
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
