import { M49_AREAS } from "../../../routing/data/m49.ts";
import { routableFields } from "../../../routing/layouts/fields.ts";
import type { LayoutPlan } from "../../../routing/layouts/plan.ts";
import { nearest } from "../../../routing/schema/faults.ts";
import type { DeclaredConditions, DeclaredTable } from "../../../routing/schema/table.ts";
import { countryName } from "../../app/words.ts";
import { plansIn } from "../owners.ts";

/** Conditions that a form offers, and the values that one types for them. */

/** `all`, `country`, or a key by `slices.m49`, `fields.machine`, `shardKey`, `primaryKey`. */
export interface Kind {
  readonly name: string;
  readonly title: string;
  readonly hint: string;
}

const NUMBERS_HINT = "Numbers and ranges, such as 0-1023, 2048.";

/** Those that some layout in use has. */
export function kindsIn(table: DeclaredTable): readonly Kind[] {
  const plans = plansIn(table);
  const kinds: Kind[] = [{ name: "all", title: "All IDs", hint: "" }];
  if (Object.keys(table.countries ?? {}).length > 0 && has(plans, "country"))
    kinds.push({ name: "country", title: "Countries", hint: "" });
  if (has(plans, "shardKey")) kinds.push({ name: "shardKey", title: "Shard keys", hint: NUMBERS_HINT });
  if (has(plans, "primaryKey")) kinds.push({ name: "primaryKey", title: "Primary keys", hint: NUMBERS_HINT });
  const slices = new Map(plans.flatMap((plan) => [...plan.slices]));
  for (const [name, { codes }] of slices) {
    const isArea = codes === "m49";
    const hint = isArea ? "Names or UN M.49 codes, such as Poland, 143." : NUMBERS_HINT;
    kinds.push({ name: `slices.${name}`, title: isArea ? `Areas (${name})` : `Slice ${name}`, hint });
  }
  const fields = new Set(plans.flatMap(({ layout }) => routableFields(layout).map((field) => field.name)));
  for (const name of fields) {
    if (OWN.has(name)) continue;
    kinds.push({ name: `fields.${name}`, title: `Field ${name}`, hint: NUMBERS_HINT });
  }
  return kinds;
}

/** Keys with a condition of their own; marks of entities are chosen by the entity. */
const OWN: ReadonlySet<string> = new Set(["shardKey", "primaryKey", "country", "service", "group"]);

const has = (plans: readonly LayoutPlan[], name: string): boolean =>
  plans.some(({ layout }) => layout.field(name) !== undefined);

/** As the table writes them, or the fault. */
export type Values =
  | { readonly ok: true; readonly when: DeclaredConditions }
  | { readonly ok: false; readonly message: string };

/** `typed`: what stands in the field, or the chosen codes of countries between commas. */
export function valuesOf(kind: string, typed: string, table: DeclaredTable): Values {
  if (kind === "all") return { ok: true, when: {} };
  const items = typed
    .split(/[,;\n]/)
    .map((each) => each.trim())
    .filter((each) => each !== "");
  if (items.length === 0) return { ok: false, message: kind === "country" ? "Choose a country." : "Say which ones." };
  if (kind === "country") return { ok: true, when: { country: oneOrAll(items) } };
  const [group = "", name = ""] = kind.split(".");
  const isArea = group === "slices" && plansIn(table).some(({ slices }) => slices.get(name)?.codes === "m49");
  const read = items.map((item) => (isArea ? readArea(item) : readNumbers(item)));
  const fault = read.find((each) => "message" in each);
  if (fault !== undefined && "message" in fault) return { ok: false, message: fault.message };
  const values = oneOrAll(read.flatMap((each) => ("value" in each ? [each.value] : [])));
  if (group === "slices" || group === "fields") return { ok: true, when: { [group]: { [name]: values } } };
  return { ok: true, when: { [kind]: values } };
}

type Read = { readonly value: number | string } | { readonly message: string };

const oneOrAll = <Value>(values: readonly Value[]): Value | Value[] =>
  values.length === 1 ? (values[0] as Value) : [...values];

function readNumbers(item: string): Read {
  const [, from, to] = /^(\d+)(?:\s*(?:-|–|to)\s*(\d+))?$/.exec(item) ?? [];
  if (from === undefined)
    return { message: `${JSON.stringify(item)} is no number or range: write 7, or 0-1023 for a range.` };
  // A key of 64 bits is a text: as a number it would be another one.
  if (to === undefined) return { value: Number.isSafeInteger(Number(from)) ? Number(from) : `${BigInt(from)}` };
  if (BigInt(from) > BigInt(to)) return { message: `${item} is reversed: write ${to}-${from}.` };
  return { value: `${BigInt(from)}-${BigInt(to)}` };
}

/** By a code, or by the name that the page shows for it. */
function readArea(item: string): Read {
  if (/^\d{1,3}$/.test(item)) {
    const code = Number(item);
    return areaCodes().includes(code) ? { value: code } : { message: `${item} is no UN M.49 code: write the name.` };
  }
  const names = new Map(areaCodes().map((code) => [countryName(String(code)).toLowerCase(), code]));
  const found = names.get(item.toLowerCase());
  if (found !== undefined) return { value: found };
  const near = nearest(item.toLowerCase(), names.keys());
  const meant = near === undefined ? "write its UN M.49 code" : `write ${countryName(String(names.get(near)))}`;
  return { message: `There is no area ${JSON.stringify(item)}: ${meant}.` };
}

const areaCodes = (): readonly number[] => [...new Set(M49_AREAS.flat())];
