import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { answerBody, type Message, readMessage } from "../hostile/message.ts";

export interface SlowUpload {
  /** Request line and fields, without those that frame the body. */
  readonly head: readonly string[];
  readonly framing: "length" | "chunks";
  /** Length of the body. */
  readonly bytes: number;
  /** Sent with a pause between two of them, until the body is whole. */
  readonly pieceBytes: number;
  readonly pauseMs: number;
  /** How much the client sends before it falls silent. */
  readonly sentBytes?: number;
  /** A second request on the same connection, once the first answer is whole. */
  readonly next?: string;
  readonly patienceMs?: number;
}

export interface Uploaded {
  /** All final answers that are whole, in order. */
  readonly answers: readonly Message[];
  /** How much of the body was sent when the first bytes of the answer came. */
  readonly sentAtHead: number | undefined;
  readonly sentAtEnd: number | undefined;
  /** From the first byte of the answer to its end, or to that of the connection. */
  readonly heldMs: number;
  /** The connection: ended by the gateway, reset, or still open. */
  readonly end: "closed" | "reset" | "open";
  readonly received: string;
}

/** Uploads as a slow client does: it goes on sending while the answer comes, and gives up when a write fails. */
export async function uploadSlowly(port: number, upload: SlowUpload): Promise<Uploaded> {
  const { head, framing, bytes, pieceBytes, pauseMs, sentBytes = bytes, patienceMs = 10_000 } = upload;
  const method = head[0]?.split(" ", 1)[0] ?? "";
  let received = "";
  let sent = 0;
  let end: Uploaded["end"] = "open";
  let sentAtHead: number | undefined;
  let sentAtEnd: number | undefined;
  let firstMs = 0;
  let lastMs = 0;
  const socket = connect(port, "127.0.0.1");
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    lastMs = performance.now();
    if (sentAtHead === undefined) firstMs = lastMs;
    sentAtHead ??= sent;
    if (sentAtEnd === undefined && messagesOf(received, method).length > 0) sentAtEnd = sent;
  });
  socket.on("error", () => {
    end = "reset";
  });
  socket.on("close", () => {
    if (end === "open") end = "closed";
  });
  const write = (text: string) => void socket.write(Buffer.from(text, "latin1"));
  const frame = framing === "length" ? `content-length: ${bytes}` : "transfer-encoding: chunked";
  write([...head, frame, "", ""].join("\r\n"));
  while (sent < sentBytes && end === "open") {
    const size = Math.min(pieceBytes, sentBytes - sent);
    const piece = "x".repeat(size);
    write(framing === "length" ? piece : `${size.toString(16)}\r\n${piece}\r\n`);
    sent += size;
    await delay(pauseMs);
  }
  if (framing === "chunks" && sent === bytes) write("0\r\n\r\n");
  const untilMs = performance.now() + patienceMs;
  const wait = async (done: () => boolean) => {
    while (end === "open" && performance.now() < untilMs && !done()) await delay(10);
  };
  await wait(() => sent === bytes && sentAtEnd !== undefined);
  if (upload.next !== undefined && sentAtEnd !== undefined) {
    write(upload.next);
    await wait(() => messagesOf(received, method).length > 1);
  }
  const outcome = end;
  socket.destroy();
  const answers = messagesOf(received, method);
  return { answers, sentAtHead, sentAtEnd, heldMs: lastMs - firstMs, end: outcome, received };
}

function messagesOf(received: string, method: string): readonly Message[] {
  const messages: Message[] = [];
  for (let rest = received; rest !== ""; ) {
    const reading = readMessage(rest, answerBody(method));
    if (reading.state !== "whole") break;
    rest = rest.slice(reading.end);
    if (!reading.message.startLine.startsWith("HTTP/1.1 1")) messages.push(reading.message);
  }
  return messages;
}
