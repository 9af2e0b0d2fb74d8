/** What every demo region keeps, by the first segment of the path. */
const KINDS: ReadonlySet<string> = new Set(["orders", "rides", "parcels", "person"]);

/** A UUID's text: hex case is the only latitude. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The name of a document in the store, from a raw path without its query: IDs in lower case, and a person by primary
 * key alone, since `/person/00000023-122e-6…` and `/person/23122e` are one person. `undefined`: nothing is kept there.
 */
export function documentPathOf(rawPath: string): string | undefined {
  const [, kind = "", id = "", ...below] = rawPath.split("/");
  if (!KINDS.has(kind) || id === "") return undefined;
  return ["", kind, kind === "person" ? primaryKeyOf(id) : id.toLowerCase(), ...below].join("/");
}

/** An LUUID begins with its 48-bit primary key; the short form is the same number in hex without leading zeros. */
function primaryKeyOf(id: string): string {
  if (!UUID.test(id)) return id;
  return id
    .replaceAll("-", "")
    .slice(0, 12)
    .toLowerCase()
    .replace(/^0+(?=.)/, "");
}
