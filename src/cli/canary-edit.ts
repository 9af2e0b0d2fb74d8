import { applyEdits, findNodeAtLocation, modify, type Node, parseTree } from "jsonc-parser";
import type { RouteTarget } from "./canary-step.ts";

/**
 * The table's text with another region or canary of one route, and every other byte as it was. The text is strict JSON of a
 * table without faults, and `before` is what it says.
 */
export const rewriteRoute = (text: string, index: number, before: RouteTarget, after: RouteTarget): string => {
  let edited = text;
  const set = (place: readonly string[], value: unknown): void => {
    // Without options of formatting, `modify` touches nothing but the value.
    edited = applyEdits(edited, modify(edited, ["routes", index, ...place], value, {}));
  };
  if (after.canary === undefined) {
    if (before.canary !== undefined) set(["canary"], undefined);
  } else if (before.canary === undefined) {
    edited = insertCanary(edited, index, after.canary);
  } else {
    if (before.canary.region !== after.canary.region) set(["canary", "region"], after.canary.region);
    if (before.canary.percent !== after.canary.percent) set(["canary", "percent"], after.canary.percent);
  }
  if (before.region !== after.region) set(["region"], after.region);
  return edited;
};

/** Behind the route's region, on a line of its own where the region has one. */
const insertCanary = (text: string, index: number, { region, percent }: NonNullable<RouteTarget["canary"]>): string => {
  const root = parseTree(text);
  const property = root && findNodeAtLocation(root, ["routes", index, "region"])?.parent;
  if (property === undefined) throw new Error("the table was not checked");
  const gap = gapBefore(text, property);
  const space = text[property.offset + '"region":'.length] === " " ? " " : "";
  const members = [`"region":${space}${JSON.stringify(region)}`, `"percent":${space}${percent}`];
  const canary = `"canary":${space}{${space}${members.join(`,${space}`)}${space}}`;
  const end = property.offset + property.length;
  return `${text.slice(0, end)},${gap}${canary}${text.slice(end)}`;
};

/** The white space before a property. */
const gapBefore = (text: string, { offset }: Node): string => /\s*$/.exec(text.slice(0, offset))?.[0] ?? "";
