import { CATALOGUE, type ProblemSlug, problemTypePath } from "../problems/catalogue.ts";
import type { Deadlines, Entity, Region } from "../routing/table.ts";
import type { ExportPlan } from "./plan.ts";

export interface ExportFile {
  readonly name: string;
  readonly text: string;
}

export interface ExportOptions {
  /** Address and port, as the engine writes them. */
  readonly listen: string;
  /** URL of the gateway for what the engine cannot decide; `undefined`: such requests get a 503. */
  readonly waybill: string | undefined;
  /** The deployment's own deadlines, in milliseconds; 0 for none. */
  readonly deadlines: { readonly firstByteMs: number; readonly idleMs: number };
  /** Certificates that origins' ones are verified by. */
  readonly caFile: string;
  /** Where nginx's modules are. */
  readonly modulesFolder: string;
  /** For nginx's process ID, log and temporary files; `undefined`: where its package has them. */
  readonly stateFolder: string | undefined;
  /** Where the files will be, for engines that need whole paths. */
  readonly folder: string;
}

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
