/** What two answers to one request are held to: status and some fields, as far as two regions must agree in them. */

/** A kept part of an answer: its status, and the shape of each compared field. */
export interface ResponseShape {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
}

/** A field with what of its value must be the same. Absence is a value too. */
interface ComparedField {
  readonly name: string;
  readonly shapeOf: (value: string) => string;
}

const ABSENT = "absent";

/** The fields that a client acts on. What is absent here differs between sound answers: dates, cookies, server names. */
const COMPARED_FIELDS: readonly ComparedField[] = [
  // Parameters as well: another charset reads other text. Case and white space mean nothing (RFC 9110 §8.3.1).
  { name: "content-type", shapeOf: (value) => value.toLowerCase().replace(/\s/g, "") },
  { name: "content-encoding", shapeOf: (value) => value.toLowerCase() },
  { name: "content-length", shapeOf: (value) => value },
  // Each region may write its own, but a client that gets none cannot ask for changes (RFC 9110 §8.8.3).
  { name: "etag", shapeOf: () => "present" },
  // A list whose order means nothing (RFC 9111 §5.2).
  { name: "cache-control", shapeOf: (value) => listOf(value).toSorted().join() },
  { name: "location", shapeOf: (value) => locationShape(value) },
];

/** Taken at once, before anybody changes the answer's fields. */
export function shapeOf({ status, headers }: Response): ResponseShape {
  const fields: Record<string, string> = {};
  for (const { name, shapeOf: shape } of COMPARED_FIELDS) {
    const value = headers.get(name);
    fields[name] = value === null ? ABSENT : shape(value);
  }
  return { status, fields };
}

/** The names of the fields in which two answers differ. */
export function differingFields(a: ResponseShape, b: ResponseShape): readonly string[] {
  return COMPARED_FIELDS.filter(({ name }) => {
    const [left, right] = [a.fields[name], b.fields[name]];
    // A server may leave the length out of any answer, and chunk it (RFC 9110 §8.6).
    if (name === "content-length" && (left === ABSENT || right === ABSENT)) return false;
    return left !== right;
  }).map(({ name }) => name);
}

const listOf = (value: string): readonly string[] =>
  value
    .toLowerCase()
    .split(",")
    .map((entry) => entry.trim());

/**
 * Whether it leads to another host, how deep its path is, and which names its query has: hosts differ by region, and what
 * stands in the path may be new for each request.
 */
function locationShape(value: string): string {
  const [target = "", ...fragment] = value.split("#");
  const [place = "", query = ""] = target.split("?", 2);
  const [, authority, path = ""] = /^(?:[a-z][a-z0-9+.-]*:)?(\/\/[^/]*)?(.*)$/i.exec(place) ?? [];
  const names = [...new URLSearchParams(query).keys()].toSorted();
  return JSON.stringify([authority !== undefined, path.split("/").length, names, fragment.length > 0]);
}
