import type { ProblemSlug } from "../../../../src/problems/index.ts";
import type { OriginFault } from "../../../../src/proxy/errors.ts";
import type { BodyEnd } from "../../../../src/proxy/pump.ts";
import type { Field } from "../message.ts";
import type { Behaviour, Step } from "../origin.ts";

/** A region of which every request meets the same behaviour. */
export interface FaultyRegion {
  readonly name: string;
  readonly origin: Behaviour;
  /** Where the region's origin is, when not at the one above. */
  readonly url?: (port: number) => string;
  /** Members of the declared region. */
  readonly region?: { readonly deadlines: Readonly<Record<string, number>> };
}

/** One way in which an origin can fail, named like the region that fails so, and what a client is told. */
export interface Fault extends FaultyRegion {
  readonly methods?: readonly Method[];
  /** How long it may take, where that is not for the gateway to say. */
  readonly withinMs?: number;
  readonly expected: Expected;
  /** The region that its requests are counted for, when not its own. */
  readonly countedFor?: string;
  /** How many requests the origin sees: of a safe method, of an unsafe one. */
  readonly seen?: readonly [safe: Count, unsafe: Count];
}

export type Method = "GET" | "HEAD" | "POST";
export type Count = number | readonly [least: number, most: number];

/**
 * The client's answer. `problem`: one of the gateway's, with the error of `proxy-status`. `passed`: the origin's answer
 * as it is. `broken`: a head and a part of a body, and no end; why is what is counted.
 */
export type Expected =
  | { readonly kind: "problem"; readonly slug: ProblemSlug; readonly error: OriginFault | undefined }
  | { readonly kind: "passed"; readonly status: number; readonly body: string; readonly fields?: readonly Field[] }
  | { readonly kind: "broken"; readonly status: number; readonly partOf: string; readonly why: BodyEnd };

const problem = (slug: ProblemSlug, error?: OriginFault): Expected => ({ kind: "problem", slug, error });

/** The runtime tells refused, reset, closed and no HTTP apart as little as it tells them from each other. */
export const lost = problem("origin-unreachable", "connection_terminated");
/** A small answer that breaks off: nothing of it has reached the client. */
export const incomplete = problem("origin-unreachable", "http_response_incomplete");
/** An answer that the runtime takes and the gateway does not. */
export const impossible = problem("invalid-response", "http_protocol_error");
export const nameless = problem("origin-unreachable", "dns_error");
/** By https, a name and a certificate at fault are one for the runtime. */
export const untrusted = problem("origin-unreachable", "destination_unavailable");
export const late = problem("origin-timeout", "http_response_timeout");
export const unread = problem("origin-timeout", "connection_write_timeout");
export const astray = problem("origins-disagree");
export const unkept = problem("body-too-large-to-replay");
export const passed = (status: number, body: string, fields: readonly Field[] = []): Expected => ({
  kind: "passed",
  status,
  body,
  fields,
});
export const broken = (partOf: string, why: BodyEnd = "source-failed", status = 200): Expected => ({
  kind: "broken",
  status,
  partOf,
  why,
});

/** Long enough that no slow machine takes a fault for a delay. */
export const PATIENT = { firstByteMs: 10_000, idleMs: 10_000 };

/** For origins that say nothing: the deadline itself is what is tried. */
export const HASTY = { deadlines: { firstByteMs: 700, idleMs: 700 } };

export const lines = (...of: readonly string[]): string => `${of.join("\r\n")}\r\n\r\n`;

/** A good head with more fields. */
export const ok = (...fields: readonly string[]): string =>
  lines("HTTP/1.1 200 OK", "content-type: text/plain", ...fields);

/** Text that comes byte by byte. */
export const drip = (text: string, everyMs: number): readonly Step[] =>
  [...text].flatMap((byte) => [byte, { pauseMs: everyMs }]);

/** A row of the tables: the steps after the whole request. */
export const fault = (
  name: string,
  steps: Behaviour["steps"],
  expected: Expected,
  more: Omit<Fault, "name" | "origin" | "expected"> & { readonly behaviour?: Omit<Behaviour, "steps"> } = {},
): Fault => {
  const { behaviour, ...rest } = more;
  return { name, origin: { ...behaviour, steps }, expected, ...rest };
};

/** The deadline that a fault runs into, if it is one that does. */
export const deadlineOf = ({ expected, region }: Fault): number | undefined => {
  const runsOut =
    expected.kind === "problem" ? expected === late : expected.kind === "broken" && expected.why !== "source-failed";
  return runsOut && region !== undefined ? Math.min(...Object.values(region.deadlines)) : undefined;
};
