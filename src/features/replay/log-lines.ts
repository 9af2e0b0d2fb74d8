import { parseUniqueJson } from "../../routing/schema/json-scanner.ts";
import type { LoggedRequest } from "./serve.ts";

/** Reads requests from the lines of access logs: the gateway's own, and those of other proxies. */

/** Why a line is no request. `text`, `json`: no known form. `request`: its request has no path, such as `-`, `*` or bytes of TLS. */
export type UnreadableLine = "text" | "json" | "request" | "not-utf-8" | "too-long";

/** `other`: an event that is no request. */
export type LogLine =
  | { readonly kind: "request"; readonly request: LoggedRequest }
  | { readonly kind: "other" }
  | { readonly kind: "unreadable"; readonly why: UnreadableLine };

/** A method and a path, or a path alone, for a GET. */
const PLAIN_LINE = /^(?:([A-Z][A-Z-]{0,31}) )?(\/\S*)$/;

/** A line that `npm start` prints: method, path, layout, region, status and milliseconds in columns. */
const SCREEN_LINE = /^([A-Z][A-Z-]{0,31}) +(\/\S*) +\S+ +\S+ +\d{3} +[\d.]+ ms$/;

/** Common and combined logs of nginx, Apache and Traefik, and Envoy's default: a time in brackets, the request line, a status. */
const BRACKETED = /^[^"[]*\[[^\]"]*\] "((?:[^"\\]|\\.)*)" \d{3}(?: |$)/;

/** Logs of AWS's load balancers: the times of a request, its statuses and sizes, then its line. */
const BALANCER = /^(?:\S+ )?\d{4}-\d\d-\d\dT[\d:.]+Z \S+ [^"]*"((?:[^"\\]|\\.)*)"(?: |$)/;

/** Heroku's router: `at=info method=GET path="/a"`. */
const ROUTER = /\bmethod=([A-Z][A-Z-]{0,31}) path="((?:[^"\\]|\\.)*)"/;

/** RFC 9112 §3: method, target, version. Log formats write an empty or broken request as other text. */
const REQUEST_LINE = /^([A-Z][A-Z-]{0,31}) (\S+)(?: HTTP\/\d(?:\.\d)?)?$/;

/** RFC 9112 §3.2.2: a target that clients send to proxies, and that load balancers log. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

type Members = Readonly<Record<string, unknown>>;
type MemberPath = readonly string[];

/** Names of the method and the target in JSON. An event without the target is of another kind. */
const JSON_FORMS: Readonly<Record<string, { readonly method: MemberPath; readonly target: MemberPath }>> = {
  waybill: { method: ["method"], target: ["path"] },
  envoy: { method: ["method"], target: ["path"] },
  caddy: { method: ["request", "method"], target: ["request", "uri"] },
  traefik: { method: ["RequestMethod"], target: ["RequestPath"] },
  cloudflare: { method: ["ClientRequestMethod"], target: ["ClientRequestURI"] },
};

const TEXT_FORMS: Readonly<Record<string, RegExp>> = { combined: BRACKETED, alb: BALANCER, heroku: ROUTER };

/** Names of the forms, as a user chooses one. */
export const LOG_FORMATS: readonly string[] = [...Object.keys(JSON_FORMS), ...Object.keys(TEXT_FORMS)].sort();

/** Reads one line in the form of a format, or in the one that it has. */
export const parseLogLine = (line: string, format?: string): LogLine => {
  const read = line.startsWith("{") ? jsonLine(line, format) : textLine(line, format);
  // Decoders leave this sign in place of bytes that are no UTF-8.
  const lost = read.kind === "request" ? read.request.path : read.kind === "unreadable" ? line : "";
  return lost.includes("\uFFFD") ? unreadable("not-utf-8") : read;
};

const unreadable = (why: UnreadableLine): LogLine => ({ kind: "unreadable", why });

function jsonLine(line: string, format: string | undefined): LogLine {
  const members = Object(parseUniqueJson(line)) as Members;
  const forms = Object.entries(JSON_FORMS).filter(([name]) => format === undefined || format === name);
  const found = forms.find(([, { target }]) => memberAt(members, target) !== undefined)?.[1];
  if (found === undefined) return isEvent(members) ? { kind: "other" } : unreadable("json");
  const [method = "GET", target] = [memberAt(members, found.method), memberAt(members, found.target)];
  return typeof method === "string" && typeof target === "string" ? requestOf(method, target) : unreadable("json");
}

const memberAt = (members: Members, path: MemberPath): unknown =>
  path.reduce<unknown>((value, name) => (Object(value) as Members)[name], members);

/** The gateway's own events are named; servers in Go write `msg`. */
const isEvent = ({ event, msg }: Members): boolean =>
  (typeof event === "string" && event !== "request") || typeof msg === "string";

function textLine(line: string, format: string | undefined): LogLine {
  if (format === undefined || format === "waybill") {
    const [, method = "GET", path] = PLAIN_LINE.exec(line) ?? SCREEN_LINE.exec(line) ?? [];
    if (path !== undefined) return { kind: "request", request: { method, path } };
  }
  for (const [name, form] of Object.entries(TEXT_FORMS)) {
    const [whole, first = "", second] = (format ?? name) === name ? (form.exec(line) ?? []) : [];
    if (whole === undefined) continue;
    if (second !== undefined) return requestOf(first, unescaped(second));
    const [, method, target] = REQUEST_LINE.exec(unescaped(first)) ?? [];
    return method === undefined || target === undefined ? unreadable("request") : requestOf(method, target);
  }
  return unreadable("text");
}

/** Logs escape what is no visible ASCII. As a target holds such bytes: percent-encoded (RFC 3986 §2.1). */
const unescaped = (text: string): string =>
  text.replace(/\\(?:x([0-9A-Fa-f]{2})|u00([0-9A-Fa-f]{2})|(.))/g, (_, byte?: string, unit?: string, one?: string) => {
    const hex = byte ?? unit;
    return hex === undefined ? (one ?? "") : `%${hex.toUpperCase()}`;
  });

const requestOf = (method: string, target: string): LogLine => {
  const origin = target.replace(ABSOLUTE, "");
  const path = origin === "" || origin.startsWith("?") ? `/${origin}` : origin;
  return path.startsWith("/") ? { kind: "request", request: { method, path } } : unreadable("request");
};
