import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { type Message, readMessage, requestBody } from "./message.ts";

/** An origin's next act on a connection. Text is sent as it stands, one character a byte. */
export type Step =
  | string
  | ((request: Message) => string)
  | { readonly pauseMs: number }
  /** Ends the connection in good order, by FIN. */
  | "close!"
  /** Ends it by RST. */
  | "reset!"
  /** Does nothing more until the other side gives up. */
  | "hang!";

export interface Behaviour {
  /** The event before the first step: a connection, a request's head, or all of the request (unless said otherwise). */
  readonly after?: "connection" | "head" | "request";
  /** One list for every request, or one for each request in turn, of which the last repeats. */
  readonly steps: readonly Step[] | readonly (readonly Step[])[];
  /** It reads no further, so that the sender has to wait. */
  readonly isDeaf?: boolean;
  readonly tls?: TlsOptions;
}

export interface ReceivedRequest extends Message {
  /** Whether it came to its end. Of one that did not, the body is what came. */
  readonly isWhole: boolean;
}

/** An origin on a raw socket, which keeps all that it is sent. */
export interface HostileOrigin {
  readonly url: string;
  readonly port: number;
  /** In the order of their arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Bytes that were no request. */
  readonly garbage: readonly string[];
  /** Open connections. */
  readonly connections: () => number;
  /** Connections that are open while a request on them has not been answered to the end, or was never sent. */
  readonly busy: () => number;
  /** Lets a deaf one read what is left, so that it learns which connections have ended. */
  wake(): void;
  /** Ends every connection by RST, as when the process is killed. */
  reset(): void;
  stop(): Promise<void>;
}

export async function startHostileOrigin(behaviour: Behaviour): Promise<HostileOrigin> {
  const requests: ReceivedRequest[] = [];
  const garbage: string[] = [];
  const conversations = new Set<Conversation>();
  let turn = 0;
  const nextSteps = (request: Message | undefined): readonly Step[] => {
    const lists = listsOf(behaviour.steps);
    // A gateway's question whether an origin is there takes no turn: one of another test may have this port in its table.
    const isPing = request?.startLine.startsWith("GET / ") === true;
    return lists[Math.min(isPing ? turn : turn++, lists.length - 1)] ?? [];
  };
  const onConnection = (socket: Socket) => {
    const conversation = new Conversation(socket, { behaviour, nextSteps, requests, garbage });
    conversations.add(conversation);
    socket.once("close", () => conversations.delete(conversation));
  };
  const { tls } = behaviour;
  const server = tls === undefined ? createServer(onConnection) : createTlsServer(tls, onConnection);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    requests,
    garbage,
    connections: () => conversations.size,
    busy: () => [...conversations].filter(({ isBusy }) => isBusy).length,
    wake: () => {
      for (const conversation of conversations) conversation.wake();
    },
    reset: () => {
      for (const { socket } of conversations) socket.resetAndDestroy();
    },
    stop: async () => {
      for (const { socket } of conversations) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const listsOf = (steps: Behaviour["steps"]): readonly (readonly Step[])[] =>
  steps.every((step): step is readonly Step[] => Array.isArray(step)) && steps.length > 0
    ? (steps as readonly (readonly Step[])[])
    : [steps as readonly Step[]];

interface Shared {
  readonly behaviour: Behaviour;
  readonly nextSteps: (request: Message | undefined) => readonly Step[];
  readonly requests: ReceivedRequest[];
  readonly garbage: string[];
}

/** One connection: requests are read one after another, and each gets its steps. */
class Conversation {
  isBusy = false;
  private isDeaf: boolean;
  private received = "";
  /** Bytes of the message that is coming, as far as its length is known. */
  private wanted = 0;
  private isAnswered = false;
  private recordedAt: number | undefined;
  readonly socket: Socket;
  private readonly shared: Shared;

  constructor(socket: Socket, shared: Shared) {
    this.socket = socket;
    this.shared = shared;
    this.isDeaf = shared.behaviour.isDeaf === true;
    // Each step is a packet of its own, at once.
    socket.setNoDelay();
    socket.on("data", (chunk: Buffer) => {
      this.received += chunk.toString("latin1");
      // Long bodies are not read anew with each of their parts.
      if (this.received.length >= this.wanted) this.read();
    });
    socket.once("close", () => this.read());
    // The other side's resets are what many of the faults lead to.
    socket.on("error", () => undefined);
    if (shared.behaviour.after !== "connection") return;
    if (this.isDeaf) socket.pause();
    void this.perform(undefined);
  }

  wake(): void {
    this.isDeaf = false;
    this.socket.resume();
  }

  private read(): void {
    const { behaviour, garbage } = this.shared;
    const reading = readMessage(this.received, requestBody);
    if (reading.state === "malformed") {
      garbage.push(this.received);
      this.received = "";
      return;
    }
    const { message } = reading;
    if (message === undefined) return;
    const isWhole = reading.state === "whole";
    this.record({ ...message, isWhole });
    this.wanted = reading.state === "partial" ? reading.wanted : 0;
    if (isWhole || behaviour.after === "head") this.answerOnce(message);
    if (this.isDeaf) this.socket.pause();
    if (!isWhole) return;
    this.received = this.received.slice(reading.end);
    this.recordedAt = undefined;
    this.isAnswered = false;
    if (this.received !== "") this.read();
  }

  private record(message: ReceivedRequest): void {
    const { requests } = this.shared;
    this.recordedAt ??= requests.length;
    requests[this.recordedAt] = message;
  }

  private answerOnce(message: Message): void {
    if (this.isAnswered || this.shared.behaviour.after === "connection") return;
    this.isAnswered = true;
    void this.perform(message);
  }

  private async perform(request: Message | undefined): Promise<void> {
    this.isBusy = true;
    for (const step of this.shared.nextSteps(request)) {
      if (this.socket.destroyed) return;
      if (step === "hang!") return;
      if (step === "close!") return void this.socket.end();
      if (step === "reset!") return void this.socket.resetAndDestroy();
      if (typeof step === "object") await new Promise((resolve) => setTimeout(resolve, step.pauseMs));
      else await this.write(typeof step === "string" ? step : request === undefined ? "" : step(request));
    }
    this.isBusy = false;
  }

  private write(bytes: string): Promise<void> {
    return new Promise((resolve) => this.socket.write(Buffer.from(bytes, "latin1"), () => resolve()));
  }
}
