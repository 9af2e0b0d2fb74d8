import { err, ok, type Result } from "../src/ids/result.ts";
import type { RequestError } from "../src/problems/index.ts";
import { isNotNormalized } from "../src/routing/own-paths.ts";

/** Where a request points, in the bytes that the client sent. */
export interface RequestTarget {
  readonly host: string;
  readonly scheme: "http" | "https";
  /** Raw path, from its first slash. */
  readonly path: string;
  /** Raw query with its question mark, or empty. */
  readonly query: string;
}

/** `http://` and `https://` both end before this index, and a host has at least one character. */
const AUTHORITY_INDEX_MIN = 8;

/** A host name, an IPv4 address or a bracketed IPv6 address, with an optional port (RFC 9110 §7.2). */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * Reads the target without parsing it again. workerd glues the Host field into the URL unchecked, so a host with a
 * slash or a question mark in it would move the path: such a request is refused.
 */
export function readTarget(request: Request): Result<RequestTarget, RequestError> {
  const url = request.url;
  const pathStart = url.indexOf("/", AUTHORITY_INDEX_MIN);
  const scheme = url.startsWith("https://") ? "https" : "http";
  const host = request.headers.get("host") ?? url.slice(scheme.length + 3, pathStart);
  if (!isHost(host)) return err({ reason: "malformed-request", detail: "The host field is not a host." });
  const queryStart = url.indexOf("?", pathStart);
  const path = queryStart === -1 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  const query = queryStart === -1 ? "" : url.slice(queryStart);
  if (isNotNormalized(path)) {
    return err({ reason: "malformed-request", detail: "The path has a dot segment or a backslash; send it resolved." });
  }
  return ok({ host, scheme, path, query });
}

/** A gateway answers for few hosts: the last good one is remembered, and most requests name it again. */
let lastHost = "";

function isHost(text: string): boolean {
  if (text === lastHost) return text !== "";
  if (!HOST.test(text)) return false;
  lastHost = text;
  return true;
}
