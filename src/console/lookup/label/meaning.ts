import { type Field, groupText, type Words } from "../../../ids/index.ts";
import type { Candidate } from "../../../routing/index.ts";
import { countryName, flagOf } from "../../app/words.ts";
import type { Reader } from "../reader.ts";

/** The meaning of a field's number to people; `undefined` where it is only a number. */
export function fieldMeaning(reader: Reader, { name, role }: Field, value: string): string | undefined {
  if (name === "country") {
    const code = reader.country(value);
    if (code !== undefined) return `${value} = ${countryName(code)}`;
    return reader.knows === "nothing" ? undefined : `${value} = no country of the table`;
  }
  return name === "group" && role === "key" ? `${value} (hex ${groupText(value)})` : undefined;
}

export interface Country {
  readonly name: string;
  readonly flag: string;
}

/** The country that an ID carries: as its own field, or as an area in a slice of its key. */
export function countryOf(reader: Reader, candidate: Candidate, words: Words | undefined): Country | undefined {
  const number = candidate.fields["country"];
  const code = number === undefined ? undefined : reader.country(number);
  if (code !== undefined) return { name: countryName(code), flag: flagOf(code) };
  if (number !== undefined) return { name: `country number ${number}`, flag: "" };
  const area = words && reader.slices(candidate.layout, words).find(({ isArea }) => isArea);
  if (area === undefined || area.value === "0") return undefined;
  return { name: countryName(area.value), flag: "" };
}
