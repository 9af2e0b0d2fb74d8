import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { exitOf } from "../../../src/host/child.ts";
import { answerBody, type Message, type Reading, readMessage } from "./message.ts";

/** All that came back for one request on its own connection. */
export interface Answer {
  /** `undefined`: not even a head. */
  readonly status: number | undefined;
  readonly message: Message | undefined;
  /**
   * `whole`: as its framing says. `cut`: less than that, so that every client sees that the answer is broken. `late`:
   * still open when the client's patience ended.
   */
  readonly end: "whole" | "cut" | "late" | "malformed";
  /** Bytes after the answer's end: there must never be any. */
  readonly surplus: string;
  readonly ms: number;
}

export interface AskOptions {
  readonly patienceMs: number;
  /** Called with all that has come so far, so that more can be sent, or the conversation ended. */
  readonly onData?: (received: string, socket: Socket) => void;
}

/** Sends bytes as they stand and reads the answer strictly, until the connection ends. */
export function ask(port: number, bytes: string, options: AskOptions): Promise<Answer> {
  const method = bytes.split(" ", 1)[0] ?? "";
  const startedAtMs = performance.now();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let isReset = false;
    const finish = (isLate: boolean) => {
      clearTimeout(patience);
      socket.destroy();
      const received = Buffer.concat(chunks).toString("latin1");
      resolve({ ...judge(received, method, isReset, isLate), ms: Math.round(performance.now() - startedAtMs) });
    };
    const patience = setTimeout(finish, options.patienceMs, true);
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.from(bytes, "latin1")));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      options.onData?.(Buffer.concat(chunks).toString("latin1"), socket);
    });
    socket.on("error", () => {
      isReset = true;
    });
    socket.on("close", () => finish(false));
  });
}

/** A connection of two processes: one writes, the other reads. A background job of a shell has no input but one that it names. */
const TWO_PROCESSES =
  'exec 3<>"/dev/tcp/127.0.0.1/$0" 4<&0; cat <&4 >&3 2>/dev/null & cat <&3 2>/dev/null; kill $! 2>/dev/null; wait';

/**
 * As `ask`, by a client that still reads after it could not write. Node and most others end their connection with the first
 * failed write, and lose an answer that has come (RFC 9112 §9.6). The writer may be told of a reset in the reader's place: an answer
 * that lasts until the connection ends counts as cut.
 */
export async function askAndRead(port: number, bytes: string, { patienceMs }: AskOptions): Promise<Answer> {
  const method = bytes.split(" ", 1)[0] ?? "";
  const startedAtMs = performance.now();
  const client = spawn("bash", ["-c", TWO_PROCESSES, String(port)], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  client.stdin.on("error", () => undefined);
  client.stdin.end(Buffer.from(bytes, "latin1"));
  let isLate = false;
  const patience = setTimeout(() => {
    isLate = true;
    process.kill(-(client.pid as number));
  }, patienceMs);
  try {
    const [received] = await Promise.all([buffer(client.stdout), exitOf(client)]);
    const judged = judge(received.toString("latin1"), method, true, isLate);
    return { ...judged, ms: Math.round(performance.now() - startedAtMs) };
  } finally {
    clearTimeout(patience);
  }
}

function judge(received: string, method: string, isReset: boolean, isLate: boolean): Omit<Answer, "ms"> {
  const { reading, rest } = finalAnswer(received, method);
  if (reading.state === "malformed")
    return { status: undefined, message: undefined, end: "malformed", surplus: received };
  const message = reading.message;
  const status = message === undefined ? undefined : Number(message.startLine.split(" ")[1]);
  if (reading.state === "whole") return { status, message, end: "whole", surplus: rest };
  const isWhole = reading.state === "until-close" && !isReset;
  return { status, message, end: isLate ? "late" : isWhole ? "whole" : "cut", surplus: "" };
}

/** Interim answers come before the one that counts (RFC 9110 §15.2). */
function finalAnswer(received: string, method: string): { readonly reading: Reading; readonly rest: string } {
  let rest = received;
  for (;;) {
    const reading = readMessage(rest, answerBody(method));
    if (reading.state !== "whole") return { reading, rest };
    rest = rest.slice(reading.end);
    if (!/^HTTP\/1\.1 1(?!01)/.test(reading.message.startLine)) return { reading, rest };
  }
}
