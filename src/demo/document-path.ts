import { formatShortKey, luuid } from "../ids/index.ts";

/** A UUID's text: hex case is the only latitude. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The name of a document in the store, from a raw path without its query. Any kind of document is kept; its UUIDs are
 * named in lower case, and LUUIDs by primary key alone, since `/person/00000023-122e-6…` and `/person/23122e` are one
 * person. `undefined`: the path begins with an empty segment, or has nothing after its kind's slash.
 */
export function documentPathOf(rawPath: string): string | undefined {
  const segments = rawPath.split("/").slice(1);
  const [kind = "", id] = segments;
  return kind === "" || id === "" ? undefined : ["", ...segments.map(nameOf)].join("/");
}

function nameOf(segment: string): string {
  if (!UUID.test(segment)) return segment;
  const id = segment.toLowerCase();
  const words = luuid.parse(id);
  const primaryKey = words.ok ? luuid.field("primaryKey")?.read(words.value) : undefined;
  return typeof primaryKey === "number" ? formatShortKey(primaryKey) : id;
}
