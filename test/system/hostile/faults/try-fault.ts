import { CATALOGUE } from "../../../../src/problems/index.ts";
import { type Answer, ask } from "../ask.ts";
import { type HostileStack, originOf } from "../gateway.ts";
import { type Field, fieldOf, fieldsOf, type Message } from "../message.ts";
import type { Count, Expected, Fault, Method } from "./fault.ts";

/** The result of one request to a faulty region. */
export interface Trial {
  readonly answer: Answer;
  /** Requests with this method and path that the origin received meanwhile. */
  readonly seen: number;
}

const BODY = "hello";
const PATIENCE_MS = 15_000;

/** The unsafe method goes first: it must not meet a kept connection that the fault of the one before is about to end. */
export const methodsOf = ({ methods = ["POST", "GET"] }: Fault): readonly Method[] => methods;

export async function tryFault(stack: HostileStack, { name, withinMs }: Fault, method: Method): Promise<Trial> {
  const origin = originOf(stack.origins, name);
  const path = stack.pathTo(name);
  // By path: a fault that runs at the same time may send this origin a request too.
  const count = () => origin.requests.filter(({ startLine }) => startLine.startsWith(`${method} ${path} `)).length;
  const before = count();
  const body = method === "POST" ? `content-length: ${BODY.length}\r\n\r\n${BODY}` : "\r\n";
  const head = `${method} ${path} HTTP/1.1\r\nhost: gw.test\r\nconnection: close\r\n`;
  const answer = await ask(stack.gateway.port, head + body, { patienceMs: withinMs ?? PATIENCE_MS });
  return { answer, seen: count() - before };
}

/** The compared parts of an answer, in the terms of its expectation. */
export function outcomeOf({ end, status, message, surplus }: Answer, expected: Expected): object {
  if (message === undefined || expected.kind === "problem") return { end, status, surplus, ...problemOf(message) };
  const { body } = message;
  if (expected.kind === "broken") return { end, status, body: expected.partOf.startsWith(body) ? "a part" : body };
  const names = new Set((expected.fields ?? []).map(([name]) => name));
  return { end, status, surplus, body, fields: byName(message.fields.filter(([name]) => names.has(name))) };
}

/** The order of different fields means nothing, that of equal ones does (RFC 9110 §5.3). */
const byName = (fields: readonly Field[]): readonly Field[] =>
  fields.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

export function outcomeExpected(expected: Expected): object {
  const { kind } = expected;
  if (kind === "broken") return { end: "cut", status: expected.status, body: "a part" };
  const end = "whole";
  if (kind === "passed")
    return { end, status: expected.status, surplus: "", body: expected.body, fields: byName(expected.fields ?? []) };
  const { slug, error } = expected;
  const type = `/-/problems/${slug}`;
  return { end, status: CATALOGUE[slug].status, surplus: "", type, error: error && `waybill; error=${error}` };
}

/** The `outcome` by which a request is counted: the slug of its problem, or the class of the status that was passed on. */
export const outcomeCounted = (expected: Expected): string =>
  expected.kind === "problem" ? expected.slug : `${Math.floor(expected.status / 100)}xx`;

function problemOf(message: Message | undefined): object {
  const error = message && fieldOf(message, "proxy-status");
  if (message === undefined || fieldOf(message, "content-type") !== "application/problem+json")
    return { type: undefined, error };
  const { type }: { type: string } = JSON.parse(message.body);
  return { type, error };
}

/** Fields of one connection that no answer may carry on (RFC 9110 §7.6.1). */
export const hopByHopFields = (message: Message): readonly string[] =>
  ["proxy-authenticate", "proxy-connection", "keep-alive", "x-of-the-connection"].flatMap((name) =>
    fieldsOf(message, name),
  );

/** How often the origin may see a request: a read that got no answer may be sent twice, and nothing else ever. */
export function seenExpected({ expected, seen }: Fault, method: Method): readonly [least: number, most: number] {
  const isSafe = method !== "POST";
  const given: Count | undefined = seen?.[isSafe ? 0 : 1];
  if (given !== undefined) return typeof given === "number" ? [given, given] : given;
  const isRepeated = isSafe && expected.kind === "problem" && expected.slug === "origin-unreachable";
  return [1, isRepeated ? 2 : 1];
}
