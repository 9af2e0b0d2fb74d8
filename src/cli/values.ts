import { InvalidArgumentError } from "commander";
import { parseTime } from "../routing/times.ts";

/** Values of options, read strictly: what is not understood is an error, and never a guess. */

export const wholeNumber = (text: string): number => {
  const value = digitsOf(text);
  if (Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("It must be a whole decimal number from 0 on.");
};

/** Whole, and at least 1. */
export const countingNumber = (text: string): number => {
  const value = digitsOf(text);
  if (value >= 1 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("It must be a whole decimal number from 1 on.");
};

const digitsOf = (text: string): number => (/^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN);

/** Above 0; with a fraction or a power of ten where that is handier, such as 0.5 or 2e6. */
export const positiveNumber = (text: string): number => {
  const value = /^[0-9]{1,20}(\.[0-9]{1,20})?(e[0-9]{1,2})?$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0) return value;
  throw new InvalidArgumentError("It must be a number above 0, such as 5000, 0.5 or 2e6.");
};

/** From 0 to 100, and so fine that the least step is one ID in a hundred million. */
export const percent = (text: string): number => {
  const value = /^[0-9]{1,3}(\.[0-9]{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 100) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 100, such as 10 or 0.5.");
};

/** The parts of `name=value`, where `before` has the names that were given already. */
export const namedValue = (what: string, text: string, before: object): readonly [name: string, value: string] => {
  const [, name, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("Write it as name=value.");
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${what} ${name} is given twice.`);
  return [name, value];
};

/** ISO 8601 with seconds and offset: a time without its offset would depend on the machine. */
const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})$/;

/** Unix ms. */
export const time = (text: string): number => {
  if (!TIME.test(text)) throw new InvalidArgumentError("Write a time with its offset, such as 2026-06-01T00:00:00Z.");
  const unixMs = parseTime(text);
  if (unixMs === undefined) throw new InvalidArgumentError("There is no such day or hour.");
  return unixMs;
};
