import type { EpochGuard } from "./epoch-guard.ts";
import { checkKeys } from "./keys.ts";
import type { VerifyOptions } from "./verify.ts";

export interface WaybillOriginOptions extends VerifyOptions {
  /** Refuses what may not act on an entity that is moving, or has moved. */
  readonly epochs?: EpochGuard;
  /**
   * The name by which `epochs` knows an entity, of its ID: the key of its row, where clients may write one entity's ID as two
   * texts. The ID itself unless given.
   */
  readonly keyOf?: (entityId: string) => string | Promise<string>;
}

const isFunction = (value: unknown): boolean => typeof value === "function";

/** What each option must be: a check that a typing mistake turned off would be missed by nobody. */
const FORMS: Readonly<
  Record<keyof Omit<WaybillOriginOptions, "keys">, readonly [(value: unknown) => boolean, string]>
> = {
  regions: [isListOfNames, "a list of regions, one or more"],
  toleranceSeconds: [(value) => typeof value === "number" && value >= 0, "a number of seconds, 0 or more"],
  now: [isFunction, "a function"],
  epochs: [(value) => typeof value === "object" && value !== null && "admit" in value, "a guard of createEpochGuard"],
  keyOf: [isFunction, "a function"],
};

/** Throws a `TypeError` for options that are none, or wrong: a mistake of the deployment, which no request may hide. */
export function checkOptions(options: WaybillOriginOptions): void {
  const { keys, ...others } = options ?? {};
  checkKeys(keys);
  for (const [name, value] of Object.entries(others)) {
    if (!isOption(name)) {
      throw new TypeError(`waybill/origin has no option "${name}", but keys, ${Object.keys(FORMS).join(", ")}`);
    }
    const [isRight, form] = FORMS[name];
    if (value !== undefined && !isRight(value)) throw new TypeError(`the option "${name}" must be ${form}`);
  }
  if (options.keyOf !== undefined && options.epochs === undefined) {
    throw new TypeError('the option "keyOf" does nothing without "epochs"');
  }
}

const isOption = (name: string): name is keyof typeof FORMS => Object.hasOwn(FORMS, name);

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string");
}
