import type { GraphqlFault } from "./request.ts";

/** Media types of answers (GraphQL over HTTP, §6). */
export const GRAPHQL_RESPONSE = "application/graphql-response+json";
export const JSON_RESPONSE = "application/json";
type MediaType = typeof GRAPHQL_RESPONSE | typeof JSON_RESPONSE;

/** What a client that sends this `accept` gets; `undefined` where it takes neither. Without the header: the newer one. */
export function mediaTypeFor(accept: string | null): MediaType | undefined {
  if (accept === null || accept.trim() === "") return GRAPHQL_RESPONSE;
  const qualities = { [GRAPHQL_RESPONSE]: 0, [JSON_RESPONSE]: 0 };
  const ranks = { [GRAPHQL_RESPONSE]: 0, [JSON_RESPONSE]: 0 };
  for (const part of accept.split(",", ACCEPTED_MAX)) {
    const [range = "", ...parameters] = part.split(";").map((each) => each.trim().toLowerCase());
    const quality = qualityOf(parameters);
    for (const type of [GRAPHQL_RESPONSE, JSON_RESPONSE] as const) {
      const rank = range === type ? 3 : range === "application/*" ? 2 : range === "*/*" ? 1 : 0;
      if (rank <= ranks[type]) continue;
      ranks[type] = rank;
      qualities[type] = quality;
    }
  }
  const [newer, older] = [qualities[GRAPHQL_RESPONSE], qualities[JSON_RESPONSE]];
  if (newer === 0 && older === 0) return undefined;
  return newer >= older ? GRAPHQL_RESPONSE : JSON_RESPONSE;
}

const ACCEPTED_MAX = 100;

/** RFC 9110 §12.4.2. One that is no number is 1, as most servers take it. */
function qualityOf(parameters: readonly string[]): number {
  const weight = parameters.find((each) => each.startsWith("q="))?.slice(2);
  return weight !== undefined && /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 1;
}

/**
 * The status of an answer without data. Clients of the older media type take any other than 200 for one of a machine
 * between them and the server, so that only what is no request of GraphQL has another.
 */
export const statusWithout = (type: MediaType, status: number, isRequest: boolean): number =>
  type === GRAPHQL_RESPONSE || isRequest || status >= 500 ? status : 200;

/** An answer of the gateway's own that names no field. */
export const faultBody = (fault: Pick<GraphqlFault, "code" | "message">, members: object = {}): string =>
  JSON.stringify({ errors: errorsOf(fault, members) });

export const errorsOf = ({ code, message }: Pick<GraphqlFault, "code" | "message">, members: object = {}) => [
  { message, extensions: { code, ...members } },
];
