import type { Field, FieldValue, Layout, Role } from "../../../ids/index.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import { isIssued, keyFieldOf, ownerKeyField, ROUTABLE_BITS_MAX } from "../../../routing/layouts/fields.ts";
import { listNames, pointerTo } from "../../../routing/schema/faults.ts";
import type { CompiledTable, EnabledLayout, Entity, EntityId, Slice } from "../../../routing/table.ts";
import { type MintPlanError, type MintRequest, malformed, unknownName } from "./request.ts";

/** How the gateway, which is many isolates, makes IDs of a layout that are never made twice. */
export type Minting =
  | "own"
  /** By enough random bits that isolates need not know of each other. */
  | "chance"
  /** By numbers that are handed out once for all isolates: they stand in the time and the counter. */
  | "numbers"
  | "none";

/** With this many random values, one pair in 10^12 of one instant and one minter is equal. */
const RANDOM_VALUES_MIN = 1n << 40n;

/** Whether fields of these roles have enough random bits to keep IDs apart. */
export const hasEnoughEntropy = ({ fields }: Layout, ...roles: readonly Role[]): boolean =>
  fields.reduce((values, { role, max }) => (roles.includes(role) ? values * (BigInt(max) + 1n) : values), 1n) >=
  RANDOM_VALUES_MIN;

export const mintingOf = (layout: Layout): Minting => rulesOf(layout).minting;

function findMinting(layout: Layout): Minting {
  if (layout.table.minter !== undefined) return layout.table.minter;
  if (hasEnoughEntropy(layout, "random")) return "chance";
  return layout.fields.some(({ role }) => role === "time" || role === "counter") ? "numbers" : "none";
}

/** Whether IDs of a layout that are minted again differ in more than a number that is counted on. */
export const isRandom = (layout: Layout): boolean => mintingOf(layout) !== "numbers" && layout.name !== "luuid";

/** Fields that the gateway fills in itself: an identity that it draws, and numbers from a sequence. */
const OWN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  hotguid: ["machine", "process"],
  "hotguid-sql": ["machine", "process"],
  luuid: ["primaryKey"],
};

export const requiredFields = (layout: Layout): readonly Field[] => rulesOf(layout).required;

/** Facts about a layout that every mint needs. */
interface MintRules {
  readonly minting: Minting;
  readonly required: readonly Field[];
  readonly owner: Field | undefined;
  readonly key: Field | undefined;
}

const rules = new WeakMap<Layout, MintRules>();

function rulesOf(layout: Layout): MintRules {
  const known = rules.get(layout);
  if (known !== undefined) return known;
  const own = OWN_FIELDS[layout.name] ?? [];
  const found = {
    minting: findMinting(layout),
    required: layout.fields.filter((field) => isIssued(field) && !own.includes(field.name)),
    owner: ownerKeyField(layout),
    key: keyFieldOf(layout),
  };
  rules.set(layout, found);
  return found;
}

/** Values of a layout's fields by name, each one that its field holds. */
export type MintKeys = Readonly<Record<string, FieldValue>>;

type Outcome<Value> = Result<Value, MintPlanError>;

/** A value for every field that must be given: by the request, or by the entity that it names. */
export function keysFor(table: CompiledTable, entity: Entity, id: EntityId, request: MintRequest): Outcome<MintKeys> {
  const { layout } = id.enabled;
  const wanted = requiredFields(layout);
  const stray = strayError(layout, wanted, request);
  if (stray !== undefined) return err(stray);
  const keys: Record<string, FieldValue> = {};
  for (const field of wanted) {
    const value = valueFor(table, entity, id, field, request);
    if (!value.ok) return value;
    const fault = rangeError(field, value.value);
    if (fault !== undefined) return err(fault);
    keys[field.name] = value.value;
  }
  return ok(keys);
}

/** A key that was given although the layout has no field for it: the client means something else than it gets. */
function strayError(layout: Layout, wanted: readonly Field[], request: MintRequest): MintPlanError | undefined {
  const has = (name: string | undefined): boolean => wanted.some((field) => field.name === name);
  const stray = (["country", "service", "group", "shardKey", "slices"] as const).find(
    (name) => request[name] !== undefined && !has(name === "slices" ? rulesOf(layout).key?.name : name),
  );
  if (stray !== undefined) return malformed(`"${stray}" has no place in an ID of layout ${layout.name}.`, `/${stray}`);
  const strayField = Object.keys(request.fields ?? {}).find((name) => !has(name));
  if (strayField === undefined) return undefined;
  const takes = wanted.length === 0 ? "it takes none" : `it takes ${wanted.map(({ name }) => name).join(", ")}`;
  return malformedField(strayField, `Field ${strayField} is not to be given for layout ${layout.name}; ${takes}.`);
}

function valueFor(table: CompiledTable, entity: Entity, id: EntityId, field: Field, request: MintRequest) {
  const { name } = field;
  const given = request.fields !== undefined && Object.hasOwn(request.fields, name) ? request.fields[name] : undefined;
  const others = valuesBeside(table, id, field, request);
  if (!others.ok) return others;
  const values = [...others.value, ...(given === undefined ? [] : [numberOf(field, given)])];
  const [value, second] = values;
  if (second !== undefined) return err(malformedField(name, `${name} is given twice.`));
  return value === undefined ? err(missingError(entity, id.enabled, field)) : ok(value);
}

/** The values of a field that the request gives by other means than its name among `fields`. */
function valuesBeside(table: CompiledTable, { enabled, service, group }: EntityId, field: Field, request: MintRequest) {
  const { layout } = enabled;
  const mark = service ?? group;
  const { owner, key } = rulesOf(layout);
  if (field === owner) return ok(mark === undefined ? [] : [mark]);
  if (field.name === "country" && request.country !== undefined) {
    const country = table.countries.get(request.country);
    return country === undefined ? err(unknownName("country", request.country, table.countries.keys())) : ok([country]);
  }
  if (field !== key) return ok([]);
  const whole = field.name === "shardKey" ? request.shardKey : undefined;
  if (request.slices === undefined) return ok(whole === undefined ? [] : [whole]);
  if (whole !== undefined) return err(malformed('Give "shardKey" or "slices", not both.', "/slices"));
  const joined = joinSlices(enabled, field, request.slices);
  return joined.ok ? ok([joined.value]) : joined;
}

/** A wide field takes decimal text, since a JSON number of that size is not exact. */
function numberOf({ bits }: Field, given: number | string): FieldValue {
  if (typeof given === "number") return given;
  return bits <= ROUTABLE_BITS_MAX && Number.isSafeInteger(Number(given)) ? Number(given) : BigInt(given);
}

function missingError(entity: Entity, { layout, slices }: EnabledLayout, { name, max }: Field): MintPlanError {
  if (name === "country") return malformed(`An ID of ${entity.name} needs a "country".`, "/country");
  const { owner, key } = rulesOf(layout);
  if (name === owner?.name) {
    return malformedField(name, `Entity ${entity.name} has no ${name} number; give it among "fields".`);
  }
  const others = name === key?.name && slices.size > 0 ? ' or "slices"' : "";
  if (name === "shardKey") return malformed(`An ID of ${entity.name} needs a "shardKey"${others}.`, "/shardKey");
  return malformedField(name, `An ID of ${entity.name} needs "fields" with ${name}, 0 to ${max}${others}.`);
}

function malformedField(name: string, detail: string): MintPlanError {
  return malformed(detail, pointerTo(["fields", name]));
}

function rangeError({ name, max }: Pick<Field, "name" | "max">, value: FieldValue): MintPlanError | undefined {
  const isWhole = typeof value === "bigint" || Number.isSafeInteger(value);
  if (isWhole && value >= 0 && value <= max) return undefined;
  return { reason: "key-out-of-range", field: name, value: String(value), max: String(max) };
}

/** The whole key, put together from slices that leave no bit open. */
function joinSlices(enabled: EnabledLayout, key: Field, slices: Readonly<Record<string, number>>): Outcome<number> {
  const parts: { readonly slice: Slice; readonly value: number }[] = [];
  for (const [name, value] of Object.entries(slices)) {
    const slice = enabled.slices.get(name);
    if (slice === undefined) return err(unknownName("slice", name, enabled.slices.keys()));
    const fault = rangeError({ name, max: 2 ** slice.bits - 1 }, value);
    if (fault !== undefined) return err(fault);
    parts.push({ slice, value });
  }
  parts.sort((a, b) => a.slice.offset - b.slice.offset);
  let whole = 0;
  let given = 0;
  for (const { slice, value } of parts) {
    if (slice.offset !== given) break;
    whole = whole * 2 ** slice.bits + value;
    given += slice.bits;
  }
  if (given === key.bits) return ok(whole);
  const known = listNames(enabled.slices.keys());
  return err(malformed(`Slices must give every bit of ${key.name} once. There are ${known}.`, "/slices"));
}

export type { MintPlanError, MintRequest } from "./request.ts";

/** The order for an ID: a layout with a value for each of its `requiredFields`. */
export interface MintOrder {
  readonly layout: EnabledLayout["layout"];
  readonly keys: MintKeys;
  /** The last IDs for this order were dropped as ambiguous: the next ones must differ in more than a step. */
  readonly isRedraw?: boolean;
}

export interface MintPlan {
  readonly entity: Entity;
  readonly enabled: EnabledLayout;
  readonly order: MintOrder;
}

/** Finds the one entity, layout and set of keys that a request means. A missing part is asked for, never filled in. */
export function planMint(table: CompiledTable, request: MintRequest): Result<MintPlan, MintPlanError> {
  const found = findEntityId(table, request);
  if (!found.ok) return found;
  const { entity, entityId } = found.value;
  const { layout } = entityId.enabled;
  if (mintingOf(layout) === "none") return err(malformed(`IDs of layout ${layout.name} cannot be minted.`, "/layout"));
  const keys = keysFor(table, entity, entityId, request);
  return keys.ok ? ok({ entity, enabled: entityId.enabled, order: { layout, keys: keys.value } }) : keys;
}

type Found = { readonly entity: Entity; readonly entityId: EntityId };

function findEntityId(table: CompiledTable, request: MintRequest): Result<Found, MintPlanError> {
  if (request.entity !== undefined && !table.entities.has(request.entity)) {
    return err(unknownName("entity", request.entity, table.entities.keys()));
  }
  if (request.layout !== undefined && !table.layouts.has(request.layout)) {
    return err(unknownName("layout", request.layout, table.layouts.keys()));
  }
  const named = request.entity === undefined ? undefined : table.entities.get(request.entity);
  const entities = named === undefined ? [...table.entities.values()] : [named];
  const fitting = entities.flatMap((entity) =>
    entity.ids.filter((id) => fits(id, request)).map((entityId) => ({ entity, entityId })),
  );
  const [only, second] = fitting;
  if (only === undefined) {
    if (named?.ids.length === 0) return err(malformed(`The entity ${named.name} has no IDs to mint.`, "/entity"));
    return err(malformed("No entity of the routing table has IDs with this layout, service or group.", "/layout"));
  }
  if (second === undefined) return ok(only);
  const choices = fitting.map(({ entity, entityId }) => `${entity.name} (${entityId.enabled.layout.name})`).join(", ");
  return err(malformed(`Name one by "entity" and "layout": ${choices}.`, "/entity"));
}

/** Whether an ID has all that the request names. */
const fits = ({ enabled, service, group }: EntityId, wanted: MintRequest): boolean =>
  (wanted.layout === undefined || enabled.layout.name === wanted.layout) &&
  (wanted.service === undefined || service === wanted.service) &&
  (wanted.group === undefined || group === wanted.group);
