import { FAULTS_MAX } from "./limits.ts";
import type { Fault, FaultKind } from "./table.ts";

/** Where a value stands in the declared table: keys and indexes from the top. */
export type Place = readonly (string | number)[];

/** RFC 6901 section 3: `~` and `/` inside a key are written `~0` and `~1`. */
export const pointerTo = (place: Place): string =>
  place.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Told of each fault as it is found. */
export type Report = (kind: FaultKind, place: Place, message: string) => void;

export interface FaultList {
  readonly report: Report;
  readonly faults: readonly Fault[];
}

/** Gathers faults, each once, up to the cap. */
export const faultList = (): FaultList => {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  const report: Report = (kind, place, message) => {
    if (faults.length >= FAULTS_MAX) return;
    const pointer = pointerTo(place);
    const key = `${kind} ${pointer} ${message}`;
    if (seen.has(key)) return;
    seen.add(key);
    faults.push({ pointer, kind, message });
  };
  return { report, faults };
};

const NAMES_SHOWN = 12;

/** Names for a sentence: quoted, joined by commas, and cut when there are many. */
export const listNames = (names: Iterable<string>): string => {
  const shown: string[] = [];
  let count = 0;
  for (const name of names) if (++count <= NAMES_SHOWN) shown.push(JSON.stringify(name));
  if (count === 0) return "none";
  return count > NAMES_SHOWN ? `${shown.join(", ")} and ${count - NAMES_SHOWN} more` : shown.join(", ");
};
