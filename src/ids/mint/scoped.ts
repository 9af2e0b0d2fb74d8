/// <reference lib="esnext.disposable" preserve="true" />
import type { FieldValues } from "../layout/compile.ts";
import type { Field, FieldValue, Layout } from "../layout/layout.ts";
import { ticksIn, timeRowOf, timeValue } from "../layout/time.ts";
import { ofRole, widest } from "../layout/words.ts";
import { err, ok, type Result } from "../result.ts";
import { checkKeys, type MinterError } from "./by-layout.ts";
import { lacksIdentity, type MinterOptions, orThrow } from "./create-minter.ts";
import { checkKey, outOfRange } from "./mint.ts";

/**
 * Generators for tests, and scopes that replace a generator for a test or a block. A scope is an object of its own: it
 * changes nothing that other code holds, so tests that run at the same time cannot see each other's generator.
 */

/** One ID a call: a text of `createMinter`, words, or a promise. */
export type Generate<Id> = () => Id;

/** The part of `AsyncLocalStorage` that scopes need. The platform brings it, as browsers have none. */
export interface AsyncContext<Value> {
  getStore(): Value | undefined;
  run<Returned>(value: Value, inside: () => Returned): Returned;
}

export interface GeneratorScope<Id> extends Disposable {
  /** An ID of this scope. Throws after the scope's end. Needs no `this`. */
  readonly next: Generate<Id>;
  /** A scope within this one, with another generator. It ends with this one at the latest. */
  open(generate: Generate<Id>): GeneratorScope<Id>;
  /**
   * Opens a scope for a call, and for all that the call awaits. With an async context, `next` of the outermost scope
   * gives IDs of the innermost call around it.
   */
  run<Returned>(generate: Generate<Id>, inside: (scope: GeneratorScope<Id>) => Returned): Returned;
}

/** The outermost scope. `generate` is what it gives outside all others. */
export const createScopedGenerator = <Id>(
  generate: Generate<Id>,
  context?: AsyncContext<Generate<Id>>,
): GeneratorScope<Id> =>
  scopeOf(
    () => (context?.getStore() ?? generate)(),
    context,
    () => false,
  );

const scopeOf = <Id>(
  generate: Generate<Id>,
  context: AsyncContext<Generate<Id>> | undefined,
  isOuterOver: () => boolean,
): GeneratorScope<Id> => {
  let isEnded = false;
  const isOver = (): boolean => isEnded || isOuterOver();
  const checkOpen = (): void => {
    if (isOver()) throw new Error("the scope of this generator has ended", { cause: { reason: "scope-ended" } });
  };
  const open = (inner: Generate<Id>): GeneratorScope<Id> => {
    checkOpen();
    return scopeOf(inner, context, isOver);
  };
  return {
    next: () => {
      checkOpen();
      return generate();
    },
    open,
    run: (inner, inside) => {
      const scope = open(inner);
      const call = () => inside(scope);
      return endAfter(context === undefined ? call : () => context.run(scope.next, call), () =>
        scope[Symbol.dispose](),
      );
    },
    [Symbol.dispose]: () => {
      isEnded = true;
    },
  };
};

/** Calls, and then ends: at once, or when the promise that it returned is settled. */
const endAfter = <Returned>(call: () => Returned, end: () => void): Returned => {
  let isPending = false;
  try {
    const returned = call();
    if (!(returned instanceof Promise)) return returned;
    isPending = true;
    return returned.finally(end) as Returned;
  } finally {
    if (!isPending) end();
  }
};

/** Settings of IDs for tests, besides their keys. */
export interface TestIdOptions {
  /** The number of the first ID. Default: 1. */
  readonly first?: FieldValue;
  /** The time in all IDs. Default: the layout's epoch, which strict reading refuses in DistributedIds: they begin in 2012. */
  readonly mintedAtMs?: number;
}

/**
 * IDs number 1, 2, 3 of a layout, as texts. The number is in the widest random field or counter, or added to the time
 * if there is neither. Bits without a value are 0, machine and process of a HotGuid too. Takes the layout and keys of `createMinter`, and throws as it does.
 */
export const incrementalIds = <Of extends Layout>(
  options: MinterOptions<Of>,
  ids: TestIdOptions = {},
): Generate<string> => {
  const { textOf, first } = numberedIds(options, ids);
  // Faults show where the generator is made, not where it is used.
  textOf(first);
  let count = first;
  return () => {
    const text = textOf(count);
    count += 1n;
    return text;
  };
};

/** The same ID in every call: the first of `incrementalIds`. */
export const frozenIds = <Of extends Layout>(options: MinterOptions<Of>, ids: TestIdOptions = {}): Generate<string> => {
  const { textOf, first } = numberedIds(options, ids);
  const text = textOf(first);
  return () => text;
};

const numberedIds = <Of extends Layout>(
  { layout, ...keys }: MinterOptions<Of>,
  { first = 1n, mintedAtMs }: TestIdOptions,
) => {
  const { base, field, zero } = orThrow(layout, startNumbered(layout, keys as FieldValues, mintedAtMs));
  const isWhole = typeof first === "bigint" || Number.isSafeInteger(first);
  const number = orThrow(layout, isWhole ? ok(BigInt(first)) : err(outOfRange(field, first)));
  const textOf = (number: bigint): string => {
    const fault = checkKey(field, zero + number);
    const words = base.slice();
    if (fault === undefined) field.write(words, zero + number);
    return layout.format(orThrow(layout, fault === undefined ? ok(words) : err(fault)));
  };
  return { textOf, first: number };
};

/** All bits but the number, which is added to `zero` in `field`. */
interface Numbered {
  readonly base: number[];
  readonly field: Field;
  readonly zero: bigint;
}

const startNumbered = (
  layout: Layout,
  given: FieldValues,
  mintedAtMs: number | undefined,
): Result<Numbered, MinterError> => {
  // A test's IDs are the same each time, so nothing is random: as 0 the two make no UUID that another layout reads.
  const keys = lacksIdentity(layout, given) ? { ...given, machine: 0, process: 0 } : given;
  const { fields, table, fixed } = layout;
  const time = fields.find(({ role }) => role === "time");
  const field = widest([...ofRole(fields, "random"), ...ofRole(fields, "counter")]) ?? time;
  if (table.minter === "none" || field === undefined) return err({ reason: "not-mintable", layout: layout.name });
  const fault = checkKeys(layout, keys);
  if (fault !== undefined) return err(fault);
  const base = fixed.value.slice();
  for (const [name, value] of Object.entries(keys)) layout.field(name)?.write(base, value as FieldValue);
  const row = timeRowOf(table);
  if (mintedAtMs === undefined || time === undefined || row === undefined) return ok({ base, field, zero: 0n });
  if (!Number.isSafeInteger(mintedAtMs)) return err(outOfRange(time, mintedAtMs));
  const value = timeValue(row.unit, ticksIn(row.unit, mintedAtMs - row.epochMs));
  const timeFault = checkKey(time, value);
  if (timeFault !== undefined) return err(timeFault);
  time.write(base, value);
  return ok({ base, field, zero: field === time ? value : 0n });
};
