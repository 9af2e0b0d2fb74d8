import { errorsOf } from "../document/answer.ts";
import { withoutMark } from "../document/request.ts";
import { isObject, membersOf, rawOf, sliceOf, stringOf } from "../document/slices.ts";

/** A WebSocket has many operations: each is held to the region that the socket goes to. */
export const SOCKET_PROTOCOL = "graphql-transport-ws";

/** Messages of a client that may wait for their check, of the largest size; 25 times as many small ones. */
const WAITING_MAX = 4;

/** WebSockets expose no backpressure: a client's pong alone tells that it has taken the messages before the ping. */
const PING_EVERY_CHARACTERS = 1024 * 1024;
const UNANSWERED_PINGS_MAX = 4;

/** Why an operation must not be sent on; `undefined` for one that may. `payload`: as the body of a POST. */
export type CheckOperation = (
  payload: string,
) => Promise<{ readonly code: string; readonly message: string } | undefined>;

/** Puts the check between a client and the origin that has accepted its WebSocket. */
export function guardSocket(
  upgraded: Response,
  origin: WebSocket,
  check: CheckOperation,
  messageMax: number,
): Response {
  const [client, own] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
  let waiting = 0;
  let queue = Promise.resolve();
  let sinceLastPing = 0;
  let pings = 0;
  let isOpen = true;
  const end = (code: number, reason: string): void => {
    isOpen = false;
    closeQuietly(own, code, reason);
    closeQuietly(origin, code, reason);
  };
  const pass = async (message: string): Promise<void> => {
    if (!isOpen) return;
    const body = sliceOf(withoutMark(message));
    const members = body !== undefined && isObject(body) ? membersOf(body) : undefined;
    const [type, id, payload] = ["type", "id", "payload"].map((name) => members?.get(name));
    const kind = type && stringOf(type);
    if (kind === undefined || [...(members?.keys() ?? [])].some(isNearlyOwn)) return end(4400, "Invalid message");
    if (kind === "pong" && pings > 0) {
      pings--;
      return;
    }
    const fault = kind === "subscribe" ? await check(payload === undefined ? "" : rawOf(payload)) : undefined;
    if (!isOpen) return;
    if (fault === undefined) origin.send(message);
    else
      own.send(
        `{"id":${id === undefined ? '""' : rawOf(id)},"type":"error","payload":${JSON.stringify(errorsOf(fault))}}`,
      );
  };
  own.addEventListener("message", ({ data }) => {
    // The protocol has text alone (RFC 6455 §7.4.1: a type of data that cannot be accepted).
    if (typeof data !== "string") return end(1003, "Send text");
    if (data.length > messageMax) return end(1009, "Message too big");
    const weight = Math.max(data.length / messageMax, 1 / 25);
    if (waiting + weight > WAITING_MAX) return end(1013, "Too many messages");
    waiting += weight;
    // In the order in which they came.
    queue = queue
      .then(() => pass(data))
      .catch(() => end(1011, "Failed"))
      .finally(() => (waiting -= weight));
  });
  origin.addEventListener("message", ({ data }) => {
    if (!isOpen) return;
    own.send(data);
    sinceLastPing += typeof data === "string" ? data.length : data.byteLength;
    if (sinceLastPing < PING_EVERY_CHARACTERS) return;
    sinceLastPing = 0;
    if (++pings > UNANSWERED_PINGS_MAX) return end(1013, "The client reads too slowly");
    own.send('{"type":"ping"}');
  });
  own.addEventListener("close", ({ code, reason }) => {
    // Messages before it are still sent on.
    void queue.then(() => end(code, reason));
  });
  origin.addEventListener("close", ({ code, reason }) => end(code, reason));
  for (const each of [own, origin]) each.addEventListener("error", () => end(1011, ""));
  own.accept();
  origin.accept();
  return new Response(null, { status: 101, webSocket: client, headers: upgraded.headers });
}

/** Some servers read names in any case: for them the message would have another type or operation. */
const isNearlyOwn = (name: string): boolean =>
  /^(?:type|id|payload)$/.test(name.toLowerCase()) && !/^[a-z]+$/.test(name);

/** Codes from 1004 to 1006 and 1015 say that there was none (RFC 6455 §7.4.1). The other side may have gone. */
function closeQuietly(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code === 1004 || code === 1005 || code === 1006 || code === 1015 ? 1000 : code, reason);
  } catch {
    // It is closed.
  }
}
