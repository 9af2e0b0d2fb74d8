import { CATALOGUE, type ProblemSlug, problemTypePath } from "../problems/catalogue.ts";
import type { Deadlines, Entity, Region } from "../routing/table.ts";
import type { ExportOptions } from "./export.ts";
import type { ExportPlan } from "./plan.ts";

const isSlug = (what: string): what is ProblemSlug => what in CATALOGUE;

/** A problem document without quotes of its own language: it stands in single quotes. */
export const problemText = (what: string, status: number): string =>
  JSON.stringify(
    isSlug(what)
      ? { type: problemTypePath(what), title: CATALOGUE[what].title, status }
      : { type: "about:blank", title: what, status },
  ).replaceAll("'", "\\u0027");

/** Deadlines that differ need locations of their own, as nginx takes none from a variable. */
export const deadlineClasses = (plan: ExportPlan, { deadlines }: ExportOptions) => {
  const keys = new Map<string, { readonly region: Region; readonly ms: number }>();
  const keyOf = (region: Region, entity: Entity): string => {
    const ms = waitMs(region.deadlines, entity.deadlines, deadlines);
    const key = `${region.name} ${ms}`;
    keys.set(key, { region, ms });
    return key;
  };
  const places = new Map(
    plan.patterns.flatMap(({ entity }) =>
      plan.regions.map((region) => [`${region.name} ${entity.name}`, keyOf(region, entity)] as const),
    ),
  );
  const list = [...keys.keys()];
  return {
    all: [...keys].map(([, one], at) => ({ ...one, at: at + 1 })),
    /** The class of an entity in a region. */
    placeOf: (region: Region, entity: string): number => list.indexOf(places.get(`${region.name} ${entity}`) ?? "") + 1,
  };
};

/** The longer of both deadlines: nothing is cut off here that Waybill would wait for. 0 is a day. */
export const waitMs = (region: Deadlines, entity: Deadlines, own: ExportOptions["deadlines"]): number => {
  const first = entity.firstByteMs ?? region.firstByteMs ?? own.firstByteMs;
  const idle = entity.idleMs ?? region.idleMs ?? own.idleMs;
  return first === 0 || idle === 0 ? 86_400_000 : Math.max(first, idle);
};
