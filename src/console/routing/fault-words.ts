import type { Fault } from "../../routing/index.ts";
import { keysOfPointer } from "../../routing/schema/faults.ts";

/** Faults for people: routes are counted from 1, and no place is a pointer. */

export const faultInWords = ({ message }: Pick<Fault, "message">): string =>
  message
    .replace(/\/routes\/(\d+)/g, (_, at) => `route ${Number(at) + 1}`)
    .replace(/\/(default|[a-zA-Z]+)\/([^\s,.;]+)/g, placeOr);

/** Paths of requests stay as they are. */
const PARTS: Readonly<Record<string, string>> = {
  regions: "region",
  countries: "country",
  entities: "entity",
  layouts: "layout",
  moved: "moved ID",
  moves: "moving ID",
  gone: "gone ID",
  directory: "directory",
  packs: "pack",
  withoutId: "path without an ID",
};

const placeOr = (whole: string, part: string, name: string): string => {
  const word = Object.hasOwn(PARTS, part) ? PARTS[part] : undefined;
  return word === undefined ? whole : `${word} ${name}`;
};

/** `Route 3: region`, `Region eu: origins 1, url`; empty for the whole table. */
export function placeInWords(pointer: string): string {
  const [part, name, ...rest] = keysOfPointer(pointer);
  if (part === undefined) return "";
  const within = rest.map((key) => (/^\d+$/.test(key) ? String(Number(key) + 1) : key)).join(" ");
  const word = part === "routes" ? "route" : Object.hasOwn(PARTS, part) ? (PARTS[part] as string) : part;
  const own = name === undefined ? part : `${word} ${part === "routes" ? Number(name) + 1 : name}`;
  return `${own.slice(0, 1).toUpperCase()}${own.slice(1)}${within === "" ? "" : `: ${within}`}`;
}
