import { type Members, objectOf } from "../../lib/json-values.ts";
import { listOf, memberOf } from "./document.ts";

/** Base paths that the servers of an OpenAPI document put before its paths. */

export const serversOf = (owner: Members): readonly Members[] =>
  listOf(memberOf(owner, "servers")).map((server) => objectOf(server) ?? {});

/** Base paths: those of the innermost `servers`, without the origin's own, which the gateway adds. */
export const basesOf = (owners: readonly Members[], origins: readonly string[]): readonly string[] => {
  const declared = owners.findLast((owner) => serversOf(owner).length > 0);
  const servers = declared === undefined ? [] : serversOf(declared);
  const bases = servers.length === 0 ? [""] : servers.map(basePathOf);
  const beyondOrigin = bases.flatMap((base) => {
    const own = origins.filter((origin) => base === origin || base.startsWith(`${origin}/`));
    return own.map((origin) => base.slice(origin.length));
  });
  return [...new Set([...bases, ...beyondOrigin])];
};

/** The URL of a server with its variables at their defaults; a variable without one stays as it is. */
const urlOf = (server: Members): string => {
  const url = memberOf(server, "url");
  if (typeof url !== "string") return "";
  const variables = objectOf(memberOf(server, "variables")) ?? {};
  return url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const standard = memberOf(objectOf(memberOf(variables, name)) ?? {}, "default");
    return typeof standard === "object" || standard === undefined ? whole : String(standard);
  });
};

/** A scheme and a host, or a variable for both: `{endpoint}/v7.0`. */
const BEFORE_PATH = /^(?:[a-z][a-z0-9+.-]*:|\{[^{}/]+\}:)?\/\/[^/?#]*|^\{[^{}/]+\}(?=\/|$)/i;

/** The path of a server URL, absolute or relative to the host. */
const basePathOf = (server: Members): string => {
  const path = urlOf(server)
    .replace(BEFORE_PATH, "")
    .replace(/[?#].*$/s, "");
  return path.startsWith("/") ? path.replace(/\/+$/, "") : "";
};

/** Whether the base path stays unknown: it is relative to where the document lies, or has a variable without a default. */
export const isServerUnread = (server: Members): boolean => {
  const path = urlOf(server).replace(BEFORE_PATH, "");
  return (path !== "" && !path.startsWith("/")) || /\{[^{}]*\}/.test(path);
};
