import { checkTable, type Fault, parseTableText, plainJson } from "../../routing/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";

/** A table's text as the control plane would read it: comments go, and every fault is found at once. */
export function readText(text: string) {
  const json = parseTableText(plainJson(text));
  return json.ok ? checkTable(json.value) : json;
}

export function faultsOf(text: string): readonly Fault[] {
  const checked = readText(text);
  return checked.ok ? [] : checked.error;
}

export function tableIn(text: string): DeclaredTable | undefined {
  const checked = readText(text);
  return checked.ok ? checked.value : undefined;
}

/** The gateway says no line of it; the page knows where the text ends to be JSON. */
export const isNotJson = ({ kind, pointer, message }: Fault): boolean =>
  kind === "syntax" && pointer === "" && message.startsWith("The text is not JSON");
