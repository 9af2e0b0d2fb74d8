import type { Rule } from "../routing/index.ts";
import { pointerTo } from "../routing/schema/faults.ts";
import { memberOf } from "../routing/schema/member.ts";

/** JSON pointers (RFC 6901) of parts of a table. */

/** The JSON pointer of the rule's entry. `key`: of the override. */
export function pointerOf(rule: Rule, key: string): string {
  switch (rule.kind) {
    case "route":
      return pointerTo(["routes", rule.index]);
    case "canary":
      return pointerTo(["routes", rule.index, "canary"]);
    case "default":
      return pointerTo(["default"]);
    case "moving":
      return pointerTo(["moves", key]);
    default: {
      // The rule of a feature names its entry by the member of the table that has it.
      const entry = memberOf(rule, rule.kind);
      return typeof entry === "string" ? pointerTo([rule.kind, entry]) : pointerTo(["moved", key]);
    }
  }
}

/** The value in parsed JSON that a pointer names. */
export const valueAt = (json: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, part) => (Object.hasOwn(Object(value), part) ? Object(value)[part] : undefined), json);
