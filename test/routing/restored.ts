import { TABLE_FEATURES } from "../../src/features/compiling.ts";
import { type RestoreParts, restoreTable } from "../../src/routing/compile/restore.ts";
import { storeTable } from "../../src/routing/compile/store.ts";
import { compileTable } from "../../src/routing/index.ts";
import { knownLayouts } from "../../src/routing/layouts/declared.ts";
import type { DeclaredTable } from "../../src/routing/schema/table.ts";
import type { CompiledTable } from "../../src/routing/table.ts";

export const PARTS: RestoreParts = {
  loadLayouts: async () => knownLayouts,
  loadFeatures: async (names) => TABLE_FEATURES.filter(({ name }) => names.includes(name)),
};

/** The table as an isolate has it that finds the stored form. */
export const restored = async (declared: DeclaredTable, revision = 1): Promise<CompiledTable> => {
  const table = await restoreTable(storeTable(declared), revision, PARTS);
  if (table === undefined) throw new Error("the stored form was refused");
  return table;
};

/** Both ways to a table that passed the check. */
export const bothWays = async (declared: DeclaredTable, revision = 1): Promise<readonly CompiledTable[]> => [
  compileTable(declared, revision),
  await restored(declared, revision),
];

/** Compiled with the features that it uses alone, as it is restored. */
export const compiledAlone = (declared: DeclaredTable, revision = 1): CompiledTable => {
  const { features }: { readonly features: readonly string[] } = JSON.parse(storeTable(declared).text);
  const used = TABLE_FEATURES.filter(({ name }) => features.includes(name));
  return compileTable(declared, revision, used);
};

/** Where two tables begin to differ; `undefined`: they are the same. */
export const firstDifference = (one: CompiledTable, other: CompiledTable): string | undefined => {
  const [a, b] = [one, other].map((table) => everythingIn({ ...table, verified: undefined })) as [string, string];
  const at = Array.from(a).findIndex((unit, place) => unit !== b[place]);
  if (a !== b) return `${a.slice(Math.max(0, at - 200), at + 100)}\n${b.slice(Math.max(0, at - 200), at + 100)}`;
  if (one.verified === undefined || other.verified === undefined) {
    return one.verified === other.verified ? undefined : "one has no table that is verified";
  }
  return firstDifference(one.verified, other.verified);
};

/** As text: functions by their source, and an object that was written before by its place. */
const everythingIn = (table: CompiledTable): string => {
  const seen = new Map<unknown, number>();
  return JSON.stringify(table, (_, value: unknown) => {
    if (typeof value === "function") return value.toString();
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value !== "object" || value === null) return value === undefined ? "undefined" : value;
    const place = seen.get(value);
    if (place !== undefined) return `as ${place}`;
    seen.set(value, seen.size);
    if (ArrayBuffer.isView(value)) return [value.constructor.name, ...(value as Uint32Array)];
    if (value instanceof Map) return { map: [...value], ...value };
    return value instanceof Set ? { set: [...value] } : value;
  });
};
