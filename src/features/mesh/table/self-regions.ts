import { err, ok, type Result } from "../../../ids/result.ts";
import { NAME_LENGTH_MAX, REGIONS_MAX } from "../../../routing/limits.ts";
import { NAME_FORM } from "../../../routing/schema/records.ts";

/** Says that a deployment serves no region: each one with a gateway is asked by it. */
const NONE = "none";

export const parseSelfRegions = (text: string): Result<readonly string[], string> => {
  const names = text.split(",").map((name) => name.trim());
  if (names.length === 1 && names[0] === NONE) return ok([]);
  const isValid =
    names.length <= REGIONS_MAX &&
    names.every((name) => NAME_FORM.test(name) && name.length <= NAME_LENGTH_MAX) &&
    new Set(names).size === names.length;
  return isValid ? ok(names) : err("SELF_REGIONS must be regions of the table, each once, such as eu,us; or none");
};

/** A fault for names that the table, or the regions of one, does not have. */
export const unknownRegions = (named: readonly string[] = [], regions: readonly string[] = named) => {
  const unknown = named.filter((name) => !regions.includes(name));
  const why = `SELF_REGIONS names ${unknown.join(", ")}, and the table has ${regions.join(", ")}`;
  return unknown.length === 0 ? [] : [{ setting: "SELF_REGIONS", why }];
};
