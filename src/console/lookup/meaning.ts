import { groupText, type Role, type Words } from "../../ids/index.ts";
import type { Candidate } from "../../routing/index.ts";
import { countryName, flagOf } from "../app/words.ts";
import type { Reader } from "./reader.ts";

/** The meaning of a field's number to people; `undefined` where it is only a number. */
export function fieldMeaning(reader: Reader, field: string, value: string, role: Role | undefined): string | undefined {
  if (field === "country") {
    const code = reader.country(value);
    return code === undefined ? undefined : `${countryName(code)} (${value})`;
  }
  if (field === "group" && role === "key") return `${value} (hex ${groupText(value)})`;
  return role === "random" && value.length > 8 ? "random" : undefined;
}

export interface Country {
  readonly name: string;
  readonly flag: string;
  /** Such as `number 10`. */
  readonly from: string;
}

/** The country that an ID carries: as its own field, or as an area in a slice of its key. */
export function countryOf(reader: Reader, candidate: Candidate, words: Words | undefined): Country | undefined {
  const number = candidate.fields["country"];
  const code = number === undefined ? undefined : reader.country(number);
  if (code !== undefined) return { name: countryName(code), flag: flagOf(code), from: `${code}, number ${number}` };
  if (number !== undefined) return { name: `Number ${number}`, flag: "", from: "no code in the table" };
  const area = words && reader.slices(candidate.layout, words).find(({ isArea }) => isArea);
  if (area === undefined || area.value === "0") return undefined;
  return { name: countryName(area.value), flag: "", from: `UN M.49 area ${area.value}` };
}
