import { namedByConnection, ownFieldsIn, RESPONSE_HOP_BY_HOP } from "./headers.ts";
import { VIA } from "./origin-request.ts";

/** What the gateway says about an answer that it passes on. */
export interface AnswerLabel {
  readonly region: string;
  readonly layout: string;
  readonly table: string;
  /** From the first octet of the request at the gateway to the origin's header. */
  readonly originMs: number;
  /** Whether the body was decoded to be read; any other is passed on as it came. */
  readonly isDecoded: boolean;
}

/**
 * The origin's answer for the client: status, end-to-end fields and body stream as they came. The body is handed over
 * untouched, so that a coded one stays coded. A WebSocket's 101 is passed as it is: it cannot be made again.
 */
export function clientResponse(answer: Response, label: AnswerLabel): Response {
  if (answer.status === 101) return answer;
  const { status, statusText, headers: own } = answer;
  const encodeBody = label.isDecoded ? "automatic" : "manual";
  const response = new Response(answer.body, { status, statusText, headers: own, encodeBody });
  const headers = response.headers;
  const connection = headers.get("connection");
  if (connection !== null) for (const name of namedByConnection(connection)) headers.delete(name);
  for (const name of RESPONSE_HOP_BY_HOP) headers.delete(name);
  for (const name of ownFieldsIn(own)) headers.delete(name);
  headers.set("waybill-region", label.region);
  if (label.layout !== "") headers.set("waybill-layout", label.layout);
  headers.set("waybill-table", label.table);
  headers.append("server-timing", `origin;dur=${label.originMs}`);
  headers.append("via", VIA);
  return response;
}

/** Whether a `Response` can be made of the status at all: others are no valid HTTP answers (RFC 9110 §15). */
export function isPassableStatus(answer: Response, upgradeAsked: boolean): boolean {
  return (answer.status >= 200 && answer.status <= 599) || (answer.status === 101 && upgradeAsked);
}
