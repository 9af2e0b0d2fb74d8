/** Prefixes that clients see in paths and origins do not. */

/** The target at the origin: without the prefix of the entity's paths. `/` where nothing is left. */
export function withoutPrefix(target: string, removePrefix: string): string {
  if (!target.startsWith(removePrefix)) return target;
  const rest = target.slice(removePrefix.length);
  if (rest === "" || rest[0] === "?") return `/${rest}`;
  return rest[0] === "/" ? rest : target;
}

/** Fields of an answer that name a path (RFC 9110 §10.2.2, §8.7). */
export const LOCATION_FIELDS = ["location", "content-location"] as const;

/** A reference of the origin as clients need it: with the prefix, where it names a path of the host that they asked for. */
export function withPrefix(reference: string, removePrefix: string, host: string): string {
  const [, start = "", authority, rest = ""] = /^((?:https?:)?\/\/([^/?#]*))?(.*)$/is.exec(reference) ?? [];
  // Others name their path relative to the request's own, which has the prefix (RFC 3986 §5.2).
  const isOwn = authority === undefined ? rest.startsWith("/") : authority.toLowerCase() === host.toLowerCase();
  if (!isOwn) return reference;
  return start + removePrefix + (rest.startsWith("/") ? "" : "/") + rest;
}
