import type { Field, FieldValue, Layout } from "../ids/index.ts";
import { err, ok, type Result } from "../ids/result.ts";
import { pointerTo } from "./faults.ts";
import { keyFieldOf, ownerKeyField, ROUTABLE_BITS_MAX } from "./layout-fields.ts";
import { type MintPlanError, type MintRequest, malformed, unknownName } from "./mint-request.ts";
import { requiredFields } from "./minting.ts";
import type { CompiledTable, EnabledLayout, Entity, EntityId, Slice } from "./table.ts";

/** Values of a layout's fields by name, each one that its field holds. */
export type MintKeys = Readonly<Record<string, FieldValue>>;

type Outcome<Value> = Result<Value, MintPlanError>;

/** A value for every field that must be given: by the wish, or by the entity that it names. */
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
  const key = keyFieldOf(layout);
  const has = (name: string | undefined): boolean => wanted.some((field) => field.name === name);
  const isStray = {
    country: !has("country"),
    service: !has("service"),
    group: !has("group"),
    shardKey: !has("shardKey"),
    slices: !has(key?.name),
  };
  const stray = (["country", "service", "group", "shardKey", "slices"] as const).find(
    (name) => request[name] !== undefined && isStray[name],
  );
  if (stray !== undefined) return malformed(`${stray} has no place in an ID of layout ${layout.name}.`, `/${stray}`);
  const strayField = Object.keys(request.fields ?? {}).find((name) => !has(name));
  if (strayField === undefined) return undefined;
  const takes = wanted.length === 0 ? "it takes none" : `it takes ${wanted.map(({ name }) => name).join(", ")}`;
  return malformed(
    `Field ${strayField} is not to be given for layout ${layout.name}; ${takes}.`,
    pointerTo(["fields", strayField]),
  );
}

function valueFor(
  table: CompiledTable,
  entity: Entity,
  id: EntityId,
  field: Field,
  request: MintRequest,
): Outcome<FieldValue> {
  const { name } = field;
  const given = request.fields !== undefined && Object.hasOwn(request.fields, name) ? request.fields[name] : undefined;
  const others = valuesBeside(table, id, field, request);
  if (!others.ok) return others;
  const values = [...others.value, ...(given === undefined ? [] : [numberOf(field, given)])];
  const [value, second] = values;
  if (second !== undefined) return err(malformed(`${name} is given twice.`, pointerTo(["fields", name])));
  return value === undefined ? err(missingError(entity, id.enabled, field)) : ok(value);
}

/** What is said about a field by other means than its name among `fields`. */
function valuesBeside(
  table: CompiledTable,
  { enabled, service, group }: EntityId,
  field: Field,
  request: MintRequest,
): Outcome<readonly FieldValue[]> {
  const { layout } = enabled;
  const mark = service ?? group;
  if (field === ownerKeyField(layout)) return ok(mark === undefined ? [] : [mark]);
  if (field.name === "country" && request.country !== undefined) {
    const country = table.countries.get(request.country);
    return country === undefined ? err(unknownName("country", request.country, table.countries.keys())) : ok([country]);
  }
  if (field !== keyFieldOf(layout)) return ok([]);
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
  if (name === ownerKeyField(layout)?.name) {
    return malformed(
      `Entity ${entity.name} has no ${name} number; give it among "fields".`,
      pointerTo(["fields", name]),
    );
  }
  const others = name === keyFieldOf(layout)?.name && slices.size > 0 ? ' or "slices"' : "";
  if (name === "shardKey") return malformed(`An ID of ${entity.name} needs a "shardKey"${others}.`, "/shardKey");
  return malformed(
    `An ID of ${entity.name} needs "fields" with ${name}, 0 to ${max}${others}.`,
    pointerTo(["fields", name]),
  );
}

function rangeError({ name, max }: Field, value: FieldValue): MintPlanError | undefined {
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
    const max = 2 ** slice.bits - 1;
    if (!Number.isInteger(value) || value < 0 || value > max) {
      return err({ reason: "key-out-of-range", field: name, value: String(value), max: String(max) });
    }
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
  const name = key.name === "shardKey" ? "the shard key" : key.name;
  return err(malformed(`The slices must give every bit of ${name} once, without gap or overlap.`, "/slices"));
}
