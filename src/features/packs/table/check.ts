import * as v from "valibot";
import type { TableChecks } from "../../../routing/check/feature.ts";
import { checkRegion } from "../../../routing/check/names.ts";
import type { Use } from "../../../routing/check/usage.ts";
import type { RouteContext } from "../../../routing/compile/conditions.ts";
import { PACKS_BYTES_MAX, PACKS_MAX } from "../../../routing/limits.ts";
import { type Draft, type DraftRoute, namesIn } from "../../../routing/schema/draft.ts";
import { type Report, reportUnknown } from "../../../routing/schema/faults.ts";
import { PACK_RANGES_MAX } from "./format.ts";
import { dimensionOfPack, packNamed, packsIn } from "./route.ts";
import { packSchema, packsSchema, routeMember } from "./schema.ts";

/** Names and sizes of packs, without their contents. A pack without a route is allowed. */
const checkPacks = (draft: Draft, report: Report): void => {
  let content = 0;
  for (const [name, { bytes, regions, field, slice }] of packsIn(draft)) {
    content += bytes;
    if (field !== undefined && slice !== undefined) {
      report("pack", ["packs", name, "slice"], "The ranges are of one field or of one slice; remove one of them.");
    }
    for (const [at, region] of regions.entries()) {
      if (regions.indexOf(region) === at) continue;
      const message = `${JSON.stringify(region)} is duplicated here; remove one of them.`;
      report("pack", ["packs", name, "regions", at], message);
    }
  }
  if (content > PACKS_BYTES_MAX) {
    const message = `All packs together may have ${PACKS_BYTES_MAX} bytes; there are ${content}.`;
    report("size", ["packs"], message);
  }
};

/** A route to a pack may have conditions on one layout and on entities only. The layout needs the pack's field. */
const isSoundPackRoute = ({ draft, plans, report }: RouteContext, { index, route }: DraftRoute): boolean => {
  const { when, pack } = route;
  if (pack === undefined) return true;
  const declared = packNamed(draft, pack);
  // An unknown or broken pack is a fault of its own.
  if (declared === undefined) return false;
  const others = Object.keys(when).filter((key) => key !== "layout" && key !== "entity");
  for (const key of others) {
    const message = "A route to a pack asks for one layout, and for entities at most; remove this condition.";
    report("pack", ["routes", index, "when", key], message);
  }
  const plan = typeof when.layout === "string" ? plans.get(when.layout) : undefined;
  if (typeof when.layout !== "string") {
    report("pack", ["routes", index, "when"], "A route to a pack names the one layout whose IDs it is for; add it.");
  } else if (plan !== undefined && dimensionOfPack(plan, declared) === undefined) {
    const { field, slice, bits } = declared;
    const what = slice === undefined ? `field ${field ?? "for its key"}` : `slice ${slice}`;
    const message = `Layout ${when.layout} has no ${what} of ${bits} bits that a route can depend on; correct the pack.`;
    report("pack", ["packs", pack], message);
    return false;
  }
  return others.length === 0 && typeof when.layout === "string";
};

const checkNames = (draft: Draft, report: Report): void => {
  const names = namesIn(draft.declared, "packs");
  for (const { index, route } of draft.routes) {
    if (route.pack !== undefined && !names.has(route.pack)) {
      reportUnknown("pack", route.pack, names, ["routes", index, "pack"], report);
    }
  }
  for (const [name, { regions }] of packsIn(draft)) {
    for (const [at, region] of regions.entries()) checkRegion(draft, region, ["packs", name, "regions", at], report);
  }
};

const useOf = (draft: Draft) => {
  const packs = [...packsIn(draft).values()];
  return {
    packs: { used: packs.length, max: PACKS_MAX },
    packBytes: { used: packs.reduce((sum, { bytes }) => sum + bytes, 0), max: PACKS_BYTES_MAX },
    packRanges: { used: Math.max(0, ...packs.map(({ ranges }) => ranges)), max: PACK_RANGES_MAX },
  };
};

export const packsChecks: TableChecks = {
  name: "packs",
  schema: {
    table: { packs: v.exactOptional(packsSchema) },
    route: { pack: routeMember },
    parts: { packs: { max: PACKS_MAX, entry: packSchema, standIn: {} } },
    destination: ["pack", 3],
  },
  names: checkNames,
  routes: checkPacks,
  isSoundRoute: isSoundPackRoute,
  use: useOf,
};

declare module "../../../routing/check/feature.ts" {
  /** `packRanges`: of the largest pack. */
  interface FeatureUse {
    readonly packs: Use;
    readonly packBytes: Use;
    readonly packRanges: Use;
  }
}
