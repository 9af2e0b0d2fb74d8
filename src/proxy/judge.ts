import { isPassableStatus } from "./client-response.ts";
import { edgeFailure, type Failure } from "./failure.ts";

/** Takes an answer for the origin's own, or says why it is none (RFC 9110 §15, RFC 9112 §6.1). */
export async function validateResponse(
  response: Response,
  method: string,
  asksUpgrade: boolean,
  isOnEdge: boolean,
): Promise<Failure | undefined> {
  const failure =
    (isOnEdge ? edgeFailure(response.status) : undefined) ??
    (isPassableStatus(response, asksUpgrade) ? undefined : impossible(`the impossible status ${response.status}`)) ??
    (isFramedWell(response, method)
      ? undefined
      : impossible("two framings of its body, or one that nobody can read")) ??
    (asksUpgrade && (await isFailedHandshake(response)) ? impossible("a handshake that is none") : undefined);
  if (failure !== undefined) void response.body?.cancel();
  return failure;
}

const impossible = (what: string): Failure => ({ fault: "http_protocol_error", why: `answered with ${what}` });

/** RFC 9112 §6.1: the runtime takes what it should not. What it has undone must not be dropped without a word. */
function isFramedWell({ headers }: Response, method: string): boolean {
  const coding = headers.get("transfer-encoding");
  // What is longer is not exact as a number, and no body is that long.
  if (Number(headers.get("content-length")) > Number.MAX_SAFE_INTEGER) return false;
  if (coding === null || method === "HEAD") return true;
  return coding.toLowerCase() === "chunked" && !headers.has("content-length");
}

/** What the runtime writes itself when an origin's answer to a WebSocket's handshake is wrong (RFC 6455 §4.1). */
const FAILED_HANDSHAKE = "Server failed WebSocket handshake";
const OWN_TEXT_BYTES_MAX = 1000;

async function isFailedHandshake(response: Response): Promise<boolean> {
  if (response.status !== 502 || !(Number(response.headers.get("content-length")) <= OWN_TEXT_BYTES_MAX)) return false;
  return (await response.clone().text()).startsWith(FAILED_HANDSHAKE);
}
