import { readFileSync, statSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { codeOf } from "./platform.ts";

export interface AskOptions {
  readonly bytesMax: number;
  /** The longest time without a byte, and for the whole answer. */
  readonly silenceMs: number;
  readonly deadlineMs: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Another process may answer on a new connection: the caller must know of it. */
  readonly isOnOneConnection?: boolean;
}

export interface NodeAnswer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** GET of a path at a state node. Rejects if the answer is not whole, in time and in bounds. */
export type AskNode = (node: string, path: string, options: AskOptions) => Promise<NodeAnswer>;

/** A state node's certificate is for this name, whatever its address is. */
const STATE_NAME = "state.waybill";

/** A node in another region connects in a tenth of it. */
const CONNECT_MS = 2_000;

const PROBLEM_BYTES_MAX = 65_536;

/** As many as are read at once. */
const FREE_SOCKETS_MAX = 8;

/** `tls`: a folder with `ca.pem`, `cert.pem` and `key.pem`. They may be renewed at any time. */
export function httpsAsk(tls: string): { readonly ask: AskNode; close(): void } {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS_MAX, servername: STATE_NAME });
  const credentials = renewedCredentials(tls);
  const ask: AskNode = async (node, path, options) => {
    const target = { ...addressOf(node), path, agent, ...credentials() };
    try {
      return await once(target, options);
    } catch (error) {
      // The node had closed a connection that was kept: nothing was asked.
      const isLost = error instanceof KeptConnectionLost && !options.signal.aborted;
      if (!isLost || options.isOnOneConnection === true) throw error;
      return once({ ...target, agent: false }, options);
    }
  };
  return { ask, close: () => agent.destroy() };
}

/** OpenSSL's words for an answer in plain text, as of a node's `listen` or `clusterAddr`. */
const NO_TLS = /wrong version number|packet length too long/;

class KeptConnectionLost extends Error {}

/** Another program is there. */
export class NoStateNode extends Error {
  constructor(why: string) {
    super(`${why}: name stateListen of a state node`);
  }
}

/** An address as `--state-nodes` has it; IPv6 in brackets. */
export function addressOf(node: string): { readonly host: string; readonly port: string } {
  const at = node.lastIndexOf(":");
  return { host: node.slice(0, at).replace(/^\[|\]$/g, ""), port: node.slice(at + 1) };
}

function renewedCredentials(folder: string): () => Pick<RequestOptions, "ca" | "cert" | "key"> {
  const paths = ["ca.pem", "cert.pem", "key.pem"].map((name) => join(folder, name));
  let stamp = "";
  let read: readonly Buffer[] = [];
  return () => {
    const now = paths
      .map((path) => statSync(path))
      .map(({ mtimeMs, ino }) => `${mtimeMs}-${ino}`)
      .join();
    if (now !== stamp) {
      read = paths.map((path) => readFileSync(path));
      stamp = now;
    }
    const [ca, cert, key] = read;
    return { ca, cert, key };
  };
}

function once(target: RequestOptions, options: AskOptions): Promise<NodeAnswer> {
  const { silenceMs, deadlineMs, fields = {}, signal } = options;
  return new Promise((resolve, reject) => {
    const sent = request({ ...target, servername: STATE_NAME, headers: { host: STATE_NAME, ...fields }, signal });
    const end = (why: string) => sent.destroy(new Error(why));
    const deadline = setTimeout(() => end(`no whole answer within ${deadlineMs} ms`), deadlineMs);
    let isAnswered = false;
    const fail = (error: Error) => {
      const isLost = sent.reusedSocket && !isAnswered && codeOf(error) === "ECONNRESET";
      if (isLost) reject(new KeptConnectionLost(error.message));
      else reject(NO_TLS.test(error.message) ? new NoStateNode("speaks no TLS") : error);
    };
    sent.setTimeout(silenceMs, () => end(`no answer within ${silenceMs} ms`));
    // A request that was ended may fail once more.
    sent.on("error", fail);
    sent.once("close", () => clearTimeout(deadline));
    sent.once("socket", (socket) => {
      if (!socket.connecting) return;
      const connect = setTimeout(() => end(`no connection within ${CONNECT_MS} ms`), CONNECT_MS);
      socket.once("secureConnect", () => clearTimeout(connect));
      socket.once("close", () => clearTimeout(connect));
    });
    sent.once("response", (response) => {
      isAnswered = true;
      readAnswer(response, options, end).then(resolve, fail);
    });
    sent.end();
  });
}

async function readAnswer(response: IncomingMessage, options: AskOptions, end: (why: string) => void) {
  const status = response.statusCode ?? 0;
  // An answer that was left may fail once more.
  response.on("error", () => undefined);
  // The text of a problem is not read further.
  const isValue = status === 200;
  const bytesMax = isValue ? options.bytesMax : PROBLEM_BYTES_MAX;
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response) {
    length += piece.length;
    if (length > bytesMax) {
      const why = `an answer of more than ${bytesMax} bytes`;
      end(why);
      if (isValue) throw new Error(why);
      break;
    }
    if (isValue) pieces.push(piece);
  }
  if (isValue && !response.complete) throw new Error("the answer is cut off");
  return { status, etag: response.headers.etag, bytes: new Uint8Array(Buffer.concat(pieces)) };
}
