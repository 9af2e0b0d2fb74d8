import type { EpochGuard } from "./epoch-guard.ts";
import { checkKeys } from "./keys.ts";
import type { VerifyOptions } from "./verify.ts";

export interface WaybillOriginOptions extends VerifyOptions {
  /** Rejects requests that must not act on an entity that is moving or has moved. */
  readonly epochs?: EpochGuard;
  /**
   * Maps an entity ID to the key for `epochs`, for example its row key. Needed if one entity's ID has several texts.
   * Defaults to the ID.
   */
  readonly keyOf?: (entityId: string) => string | Promise<string>;
}

const isFunction = (value: unknown): boolean => typeof value === "function";

/** The check of each option. A misspelt option must not silently disable a check. */
const FORMS: Readonly<
  Record<keyof Omit<WaybillOriginOptions, "keys">, readonly [(value: unknown) => boolean, string]>
> = {
  regions: [isListOfNames, "a list of at least one region"],
  toleranceSeconds: [(value) => typeof value === "number" && value >= 0, "a number of seconds, 0 or more"],
  now: [isFunction, "a function"],
  epochs: [(value) => typeof value === "object" && value !== null && "admit" in value, "a guard from createEpochGuard"],
  keyOf: [isFunction, "a function"],
};

/** Throws a `TypeError` for missing or invalid options: a deployment error that must fail at startup. */
export function checkOptions(options: WaybillOriginOptions): void {
  const { keys, ...others } = options ?? {};
  checkKeys(keys);
  for (const [name, value] of Object.entries(others)) {
    if (!isOption(name)) {
      throw new TypeError(
        `waybill/origin has no option "${name}"; its options are keys, ${Object.keys(FORMS).join(", ")}`,
      );
    }
    const [isRight, form] = FORMS[name];
    if (value !== undefined && !isRight(value)) throw new TypeError(`the option "${name}" must be ${form}`);
  }
  if (options.keyOf !== undefined && options.epochs === undefined) {
    throw new TypeError('the option "keyOf" needs the option "epochs"');
  }
}

const isOption = (name: string): name is keyof typeof FORMS => Object.hasOwn(FORMS, name);

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string");
}
