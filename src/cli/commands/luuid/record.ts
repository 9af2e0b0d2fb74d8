import { err, fieldOf, luuid, ok, PRIMARY_KEY_MAX, type Result } from "../../../ids/index.ts";
import { parseTime } from "../../../routing/layouts/fields.ts";
import { parseUniqueJson } from "../../../routing/schema/json-scanner.ts";
import { parseErrorSentence } from "../../lib/errors.ts";
import { objectOf } from "../../lib/json-values.ts";

/** One entity, as its region reports it. */
export interface KeyRecord {
  readonly group: number;
  readonly primaryKey: number;
  /** Canonical. */
  readonly id: string | undefined;
  readonly mintedAtMs: number | undefined;
}

const group = fieldOf(luuid, "group");
const primaryKey = fieldOf(luuid, "primaryKey");

/** Reads an LUUID, or an object with `id` or `group` and `primaryKey`. The error says what is wrong with the line. */
export const readRecord = (line: string): Result<KeyRecord, string> => {
  if (!/^["{[]/.test(line)) return ofId(line, undefined);
  const value = parseUniqueJson(line);
  if (typeof value === "string") return ofId(value, undefined);
  const members = objectOf(value);
  if (members === undefined) return err("it is no LUUID, and no JSON object whose keys are all there once");
  const { id, group, primaryKey, mintedAt } = members;
  const mintedAtMs = typeof mintedAt === "string" ? timeOf(mintedAt) : undefined;
  if (mintedAt !== undefined && mintedAt !== null && mintedAtMs === undefined) {
    return err("mintedAt must be a time with its offset, such as 2026-06-01T00:00:00Z");
  }
  if (id === undefined || id === null) return ofKey(group, primaryKey, mintedAtMs);
  if (typeof id !== "string") return err("id must be a text");
  const read = ofId(id, mintedAtMs);
  if (!read.ok) return read;
  const isSame =
    (group ?? read.value.group) === read.value.group && (primaryKey ?? read.value.primaryKey) === read.value.primaryKey;
  return isSame ? read : err("group or primaryKey is not that of its id");
};

const ofKey = (group: unknown, primaryKey: unknown, mintedAtMs: number | undefined): Result<KeyRecord, string> =>
  isWhole(group, 4095) && isWhole(primaryKey, PRIMARY_KEY_MAX)
    ? ok({ group, primaryKey, id: undefined, mintedAtMs })
    : err("it has no id, or group and primaryKey");

const ofId = (text: string, mintedAtMs: number | undefined): Result<KeyRecord, string> => {
  const words = luuid.parse(text);
  if (!words.ok) return err(parseErrorSentence(words.error));
  const { value } = words;
  if (!luuid.fits(value)) return err("it is a UUID, but no LUUID");
  return ok({ group: group.read(value), primaryKey: primaryKey.read(value), id: luuid.format(value), mintedAtMs });
};

/** The same LUUID with another primary key: its random bits keep it apart from all others. */
export const withPrimaryKey = (id: string, key: number): string => {
  const words = luuid.parse(id);
  if (!words.ok) throw new Error("the ID was read before");
  const changed = words.value.slice();
  primaryKey.write(changed, key);
  return luuid.format(changed);
};

const isWhole = (value: unknown, max: number): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= max;

/** Without an offset a time depends on the machine. */
const timeOf = (text: string): number | undefined =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text) ? parseTime(text) : undefined;
