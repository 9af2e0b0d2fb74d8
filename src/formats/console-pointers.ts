import type { Rule } from "../routing/index.ts";
import { pointerTo } from "../routing/schema/faults.ts";

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
    case "directory":
      return pointerTo(["directory", rule.directory]);
    default:
      return pointerTo([rule.kind === "moving" ? "moves" : "moved", key]);
  }
}

/** The value in parsed JSON that a pointer names. */
export const valueAt = (json: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, part) => (Object.hasOwn(Object(value), part) ? Object(value)[part] : undefined), json);
