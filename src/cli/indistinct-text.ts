import type { Hint, LayoutAmbiguity } from "../routing/index.ts";
import { escapeControls } from "./printable.ts";

/** A note on two kinds of IDs that a text does not tell apart, and what would. No fault: such IDs are refused, not guessed. */
export const formatAmbiguity = ({ entity, reason, isRefused, example, hints }: LayoutAmbiguity): string => {
  const where = entity === undefined ? "/any/:id" : `the paths of ${entity}`;
  const outcome = isRefused ? "refused as ambiguous" : "one region either way";
  const lines = [
    `note: on ${where}, ${reason}: ${outcome}`,
    ...(example === undefined ? [] : [`  for example ${example}`]),
    ...hints.map((hint) => `  ${formatHint(hint)}`),
  ];
  return `${lines.map(escapeControls).join("\n")}\n`;
};

const formatHint = (hint: Hint): string => {
  switch (hint.by) {
    case "path":
      return `told apart by path: ${hint.paths.join(", ")}`;
    case "pattern": {
      const named = hint.paths.length === 0 ? "" : `, as ${hint.paths.join(", ")} does`;
      return `told apart by a layout named in the pattern: ${hint.layouts.join(" or ")}${named}`;
    }
    case "header":
      return `told apart by a field: ${hint.field}: ${hint.values.join(" or ")}`;
    case "prefix":
      return `told apart by a prefix in the layouts ${hint.layouts.join(", ")}`;
  }
};
