import { CATALOGUE, type ProblemSlug, problemTypePath } from "../problems/catalogue.ts";
import { METHOD_OVERRIDE_FIELDS, STOPPED_FIELDS } from "../proxy/headers.ts";
import type { Deadlines, FieldSet, Region } from "../routing/table.ts";
import type { Deployment, ExportPlan } from "./plan.ts";

export interface ExportFile {
  readonly name: string;
  readonly text: string;
}

export interface ExportOptions extends Deployment {
  /** Address and port, as the engine writes them. */
  readonly listen: string;
  /** URL of the gateway for what the engine cannot decide; `undefined`: such requests get a 503. */
  readonly waybill: string | undefined;
  /** How the engine names itself in `cdn-loop` and `via`. */
  readonly gatewayName: string;
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

/** Labels of an answer that no engine gives: only Waybill tells how it decided. */
export const LABELS_LIMIT =
  "A client that asks by waybill-debug is shown nothing, and none gets waybill-table or server-timing. With fields: full it gets waybill-region, waybill-layout and via. Origins get revision 0.";

/** Names of fields that stop here, by the proxy's own list. */
export const STOPPED_NAMES = [...STOPPED_FIELDS, ...METHOD_OVERRIDE_FIELDS].filter((name) => name !== "host");

/** Methods that engines decide; what others are, Waybill knows. */
export const METHODS = "GET HEAD OPTIONS POST PUT PATCH DELETE";

/** Requests of these parts of the table go to Waybill. */
export const leftText = ({ forwarded }: ExportPlan, comment: (text: string) => string): string =>
  forwarded
    .map(({ what, why }, at) => `${at === 0 ? "# Decided by Waybill, not here:\n" : ""}${comment(`  ${what}: ${why}`)}`)
    .join("\n");

const isSlug = (what: string): what is ProblemSlug => what in CATALOGUE;

/** A problem document without quotes of its own language: it stands in single quotes. */
export const problemText = (what: string, status: number): string =>
  JSON.stringify(
    isSlug(what)
      ? { type: problemTypePath(what), title: CATALOGUE[what].title, status }
      : { type: "about:blank", title: what, status },
  ).replaceAll("'", "\\u0027");

/** Where Waybill must decide, and there is none. */
export const NEEDS_WAYBILL = problemText("Needs Waybill, and this configuration names none", 503);

/** A region under one deadline and one set of fields: engines take neither from a variable. */
export interface RegionClass {
  readonly region: Region;
  readonly ms: number;
  readonly fields: FieldSet;
  /** Counts from 1. */
  readonly at: number;
}

export const regionClasses = (plan: ExportPlan, { deadlines }: ExportOptions) => {
  const classes = new Map<string, RegionClass>();
  const places = new Map<string, number>();
  for (const { entity } of plan.patterns) {
    for (const region of plan.regions) {
      const ms = waitMs(region.deadlines, entity.deadlines, deadlines);
      const { fields } = entity;
      const key = `${region.name} ${ms} ${fields}`;
      const known = classes.get(key) ?? { region, ms, fields, at: classes.size + 1 };
      classes.set(key, known);
      places.set(`${region.name} ${entity.name}`, known.at);
    }
  }
  return {
    all: [...classes.values()],
    /** The class of an entity in a region. */
    placeOf: (region: Region, entity: string): number => places.get(`${region.name} ${entity}`) ?? 0,
  };
};

/** The longer of both deadlines: nothing is cut off here that Waybill would wait for. 0 is a day. */
export const waitMs = (region: Deadlines, entity: Deadlines, own: ExportOptions["deadlines"]): number => {
  const first = entity.firstByteMs ?? region.firstByteMs ?? own.firstByteMs;
  const idle = entity.idleMs ?? region.idleMs ?? own.idleMs;
  return first === 0 || idle === 0 ? 86_400_000 : Math.max(first, idle);
};

/** The port of a URL's origin, written or not. */
export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);

const BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";

/**
 * Hosts that an engine takes, as an expression without anchors; others are Waybill's to refuse (`proxy/addresses/host.ts`). A name whose
 * last label is a number is none, and ports above 59999 are left to Waybill as well. `end`: what follows a name.
 */
export const plainHost = (end: string): string =>
  `(?:${BYTE}(?:[.]${BYTE}){3}|(?!(?:[A-Za-z0-9._-]*[.])?(?:[0-9]+|0[xX][0-9A-Fa-f]*)[.]?${end})[A-Za-z0-9._-]{1,253})(?::(?:[0-9]{1,4}|[1-5][0-9]{4}))?`;
