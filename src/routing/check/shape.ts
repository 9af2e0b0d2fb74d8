import type { Place, Report } from "../faults.ts";
import { TABLE_DEPTH_MAX } from "../limits.ts";

/** Keys that mean something to JavaScript objects; a table that used them as names could not be trusted. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Reports nesting that is too deep, values that JSON does not have, and forbidden keys. */
export const checkShape = (value: unknown, report: Report): void => visit(value, [], report);

const visit = (value: unknown, place: Place, report: Report): void => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) report("schema", place, "JSON has no such number; write a finite one.");
    return;
  }
  if (typeof value !== "object") {
    report("schema", place, `JSON has no ${typeof value}; remove it.`);
    return;
  }
  if (place.length >= TABLE_DEPTH_MAX) {
    report("size", place, `Nothing in a table is nested deeper than ${TABLE_DEPTH_MAX} levels; remove this level.`);
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visitPart(item, place, index, report);
    return;
  }
  for (const key of Object.keys(value)) {
    if (FORBIDDEN_KEYS.has(key))
      report("schema", [...place, key], `${JSON.stringify(key)} cannot be a name; choose another.`);
    else visitPart((value as Readonly<Record<string, unknown>>)[key], place, key, report);
  }
};

/** Spares the place of the many values that cannot be at fault. */
const visitPart = (value: unknown, place: Place, key: string | number, report: Report): void => {
  if (typeof value !== "string" && typeof value !== "boolean") visit(value, [...place, key], report);
};
