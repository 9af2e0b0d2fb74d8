import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { LogEvent } from "../../../src/formats/console-api.ts";

export interface Message {
  readonly id: string;
  readonly atMs: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: LogEvent & Record<string, unknown>;
  };
}

/** A receiver of events on loopback, which answers as it is told. */
export async function startReceiver(answer: (message: Message, response: ServerResponse) => void) {
  const messages: Message[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const { headers } = request;
      const message = { id: String(headers["webhook-id"]), atMs: Date.now(), headers, text, body: JSON.parse(text) };
      messages.push(message);
      answer(message, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/hooks`, messages, stop };
}

/** Standard Webhooks, "Signature scheme": HMAC-SHA256 over ID, time and body, by the bytes of the secret. */
export function isSigned({ id, headers, text }: Message, secret: string): boolean {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const own = createHmac("sha256", key).update(`${id}.${headers["webhook-timestamp"]}.${text}`).digest();
  const given = String(headers["webhook-signature"]).split(" ");
  const isFresh = Math.abs(Date.now() / 1000 - Number(headers["webhook-timestamp"])) < 300;
  return (
    isFresh &&
    given.some((each) => {
      const bytes = Buffer.from(each.replace(/^v1,/, ""), "base64");
      return each.startsWith("v1,") && bytes.length === own.length && timingSafeEqual(bytes, own);
    })
  );
}
