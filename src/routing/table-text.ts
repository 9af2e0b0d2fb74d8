import * as v from "valibot";
import { err, ok, type Result } from "../ids/index.ts";
import { loadTable } from "./check.ts";
import { duplicateKey } from "./duplicate-keys.ts";
import type { Fault } from "./faults.ts";
import type { CompiledTable } from "./table.ts";
import { countKeys, type Excess } from "./text-caps.ts";
import { type DeclaredPack, packsSchema } from "./way-schema.ts";

/** What a text says, as strict as a published table is read everywhere: within the caps, JSON, and no key twice in one object. */
export const parseTableText = (text: string): Result<unknown, readonly Fault[]> => {
  const keys = countKeys(text);
  if (!keys.ok) return err([excessFault(keys.error)]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err([syntax("The text is not JSON; `waybill table check` shows where it ends to be.")]);
  }
  const twice = duplicateKey(text, value, keys.value);
  if (twice === undefined) return ok(value);
  return err([syntax(`The key ${JSON.stringify(twice)} stands twice in one object; remove one of the two.`)]);
};

/** Checks and compiles a table's text as the given revision. */
export const loadTableText = (text: string, revision: number): Result<CompiledTable, readonly Fault[]> => {
  const declared = parseTableText(text);
  return declared.ok ? loadTable(declared.value, revision) : declared;
};

/** The packs that a text declares as the schema says, without a check of the rest. None for a text that is no table. */
export const declaredPacks = (text: string): readonly (readonly [name: string, pack: DeclaredPack])[] => {
  // Most tables have none, and the check makes a value of the text once more.
  const mayHave = text.includes('"packs"') || text.includes("\\u");
  if (!mayHave || !countKeys(text).ok) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const table = v.safeParse(WITH_PACKS, value, { abortEarly: true });
  return table.success ? Object.entries(table.output.packs) : [];
};

const WITH_PACKS = /* @__PURE__ */ v.object({ packs: packsSchema });

/** Of bytes that are no text. */
export const NOT_UTF8: Fault = /* @__PURE__ */ syntax("The text is not UTF-8; save it as UTF-8.");

const excessFault = ({ pointer, message }: Excess): Fault => ({ pointer, kind: "size", message });

/** A fault of the text as a whole: a pointer would need a value. */
function syntax(message: string): Fault {
  return { pointer: "", kind: "syntax", message };
}
