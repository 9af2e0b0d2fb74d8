import * as v from "valibot";
import type { Report } from "./faults.ts";
import { layoutSchema } from "./layout-schema.ts";
import { FAULTS_MAX } from "./limits.ts";
import { goneSchema, movedSchema, moveSchema } from "./move-schema.ts";
import { countrySchema, entitySchema, regionSchema, routeSchema, tableSchema } from "./schema.ts";
import { reportIssue } from "./schema-faults.ts";
import { name } from "./schema-parts.ts";
import { packSchema } from "./way-schema.ts";
import { withoutIdSchema } from "./without-id-schema.ts";

/** An issue of the schema takes a kilobyte or more, and a table has room for millions. */

type Json = Readonly<Record<string, unknown>>;

/** Parts whose entries are held to the schema one by one, with what stands for them while the rest is. */
const RECORD_PARTS = {
  regions: { schema: v.record(name, regionSchema), standIn: { a: { origins: [{ url: "a" }] } } },
  countries: { schema: v.record(name, countrySchema), standIn: {} },
  entities: { schema: v.record(name, entitySchema), standIn: { a: { path: "/a/:id", ids: [{ layout: "a" }] } } },
  layouts: { schema: v.record(name, layoutSchema), standIn: {} },
  packs: { schema: v.record(name, packSchema), standIn: {} },
  withoutId: { schema: v.record(name, withoutIdSchema), standIn: {} },
  moved: { schema: v.record(v.string(), movedSchema), standIn: {} },
  moves: { schema: v.record(v.string(), moveSchema), standIn: {} },
  gone: { schema: v.record(v.string(), goneSchema), standIn: {} },
} as const;

/**
 * Reports what does not fit the schema, and returns the places of the parts and entries at fault: `routes/7`, `default`.
 * `undefined`: there is more at fault than a report lists, and not everything was looked at.
 */
export const reportIssues = (value: unknown, report: Report): ReadonlySet<string> | undefined => {
  const broken = new Set<string>();
  let found = 0;
  const note = (issues: readonly v.BaseIssue<unknown>[], prefix: readonly (string | number)[]): void => {
    found += issues.length;
    for (const issue of issues) {
      const [part, entry] = [...prefix, ...(issue.path ?? []).map(({ key }) => String(key))];
      if (part !== undefined) broken.add(entry === undefined ? `${part}` : brokenKey(`${part}`, `${entry}`));
      reportIssue(issue, report, prefix);
    }
  };
  const parts = isRecord(value) ? value : {};
  note(issuesOf(tableSchema, isRecord(value) ? withStandIns(value) : value), []);
  for (const [part, { schema }] of Object.entries(RECORD_PARTS)) {
    const entries = parts[part];
    if (!isRecord(entries)) continue;
    for (const key of Object.keys(entries)) {
      if (found >= FAULTS_MAX) return undefined;
      note(issuesOf(schema, { [key]: entries[key] }), [part]);
    }
  }
  const routes = parts["routes"];
  for (const [index, route] of Array.isArray(routes) ? routes.entries() : []) {
    if (found >= FAULTS_MAX) return undefined;
    note(issuesOf(routeSchema, route), ["routes", index]);
  }
  return broken;
};

export const brokenKey = (part: string, entry: string): string => `${part}/${entry}`;

const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value with fitting entries in place of those that are looked at one by one. */
const withStandIns = (value: Json): Json => {
  const parts: Record<string, unknown> = { ...value };
  for (const [part, { standIn }] of Object.entries(RECORD_PARTS)) {
    const entries = parts[part];
    if (isRecord(entries) && Object.keys(entries).length > 0) parts[part] = standIn;
  }
  if (Array.isArray(parts["routes"])) parts["routes"] = [];
  return parts;
};

/** Values in one entry whose issues are all listed; of a greater entry only the first is. */
const LISTED_VALUES_MAX = 2_000;

const issuesOf = (schema: v.GenericSchema, value: unknown): readonly v.BaseIssue<unknown>[] =>
  v.safeParse(schema, value, { abortEarly: countValues(value, LISTED_VALUES_MAX) > LISTED_VALUES_MAX }).issues ?? [];

/** How many values there are inside of one, up to a number soon after `max`; nothing deeper is looked into. */
const countValues = (value: unknown, max: number): number => {
  if (max <= 0 || typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const key in value) {
    count += countValues((value as Json)[key], max - count);
    if (count > max) break;
  }
  return count;
};
