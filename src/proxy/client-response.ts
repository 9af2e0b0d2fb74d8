import { gatewayHeadersIn, namedByConnection, RESPONSE_HOP_BY_HOP } from "./headers.ts";
import { VIA } from "./origin-request.ts";

/** What the gateway says about an answer that it passes on. */
export interface ResponseLabels {
  readonly region: string;
  readonly layout: string;
  readonly table: string;
  /** From the first byte of the request at the gateway to the origin's header. */
  readonly originMs: number;
  /** Whether the body was decoded to be read; any other is passed on as it came. */
  readonly isDecoded: boolean;
}

/**
 * The origin's answer for the client: status, end-to-end fields and body stream as they came. The body is handed over
 * untouched, so that a coded one stays coded.
 */
export function clientResponse(answer: Response, label: ResponseLabels): Response {
  if (answer.status === 101) return upgraded(answer);
  const { status, statusText, headers: own } = answer;
  const encodeBody = label.isDecoded ? "automatic" : "manual";
  const response = new Response(answer.body, { status, statusText, headers: own, encodeBody });
  const headers = response.headers;
  for (const name of stoppedFields(own)) headers.delete(name);
  headers.set("waybill-region", label.region);
  if (label.layout !== "") headers.set("waybill-layout", label.layout);
  headers.set("waybill-table", label.table);
  headers.append("server-timing", `origin;dur=${label.originMs}`);
  headers.append("via", VIA);
  return response;
}

/** A 101 with its conversation. Most have nothing that stops here and are passed as they are. */
function upgraded(answer: Response): Response {
  const stopped = [...stoppedFields(answer.headers)].filter((name) => answer.headers.has(name));
  if (stopped.length === 0) return answer;
  const headers = new Headers(answer.headers);
  for (const name of stopped) headers.delete(name);
  return new Response(null, { status: 101, headers, webSocket: answer.webSocket });
}

/** Names of an answer's fields that go no further: those of the origin's connection, and the gateway's own. */
function* stoppedFields(headers: Headers): Generator<string> {
  const connection = headers.get("connection");
  if (connection !== null) yield* namedByConnection(connection);
  yield* RESPONSE_HOP_BY_HOP;
  yield* gatewayHeadersIn(headers);
}

/** Whether a `Response` can be made of the status at all: others are no valid HTTP answers (RFC 9110 §15). */
export function isPassableStatus(answer: Response, upgradeAsked: boolean): boolean {
  return (answer.status >= 200 && answer.status <= 599) || (answer.status === 101 && upgradeAsked);
}
