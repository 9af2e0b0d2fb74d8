import type { GraphqlFault } from "./request.ts";

/** Media types of answers (GraphQL over HTTP, §6). */
export const GRAPHQL_RESPONSE = "application/graphql-response+json";
export const JSON_RESPONSE = "application/json";
export type GraphqlType = typeof GRAPHQL_RESPONSE | typeof JSON_RESPONSE;

/**
 * The status of an answer without data. Clients of the older media type take any other status than 200 for a
 * middlebox's. So only a request that is no GraphQL has another.
 */
export const statusWithout = (type: GraphqlType, status: number, isRequest: boolean): number =>
  type === GRAPHQL_RESPONSE || isRequest || status >= 500 ? status : 200;

/** An answer of the gateway's own that names no field. */
export const faultBody = (fault: Pick<GraphqlFault, "code" | "message">, members: object = {}): string =>
  JSON.stringify({ errors: errorsOf(fault, members) });

export const errorsOf = ({ code, message }: Pick<GraphqlFault, "code" | "message">, members: object = {}) => [
  { message, extensions: { code, ...members } },
];
