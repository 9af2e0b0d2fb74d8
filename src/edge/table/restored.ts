import { RESTORED_FEATURES } from "../../features/restoring.ts";
import { ok } from "../../ids/result.ts";
import { type Loadable, loadable } from "../../problems/loadable.ts";
import { type RestoreParts, restoreTable, type StoredForm } from "../../routing/compile/restore.ts";
import type { TableFeature } from "../../routing/feature.ts";
import type { CompiledTable } from "../../routing/table.ts";
import { type BuiltTable, declaredIn } from "./built.ts";
import type { FormSeal } from "./form-seal.ts";

/** Tables that are loaded without a check here. */
export interface VouchedTables {
  /** The declared table that was deployed with the code, or its JSON text. */
  readonly bundled: unknown;
  /** Its digest and its stored form, if the build checked it. Who writes KV can name this digest, and gets this table. */
  readonly built?: BuiltTable | undefined;
  /** The control plane's seal; `undefined`: only the build vouches for a table. */
  readonly seal?: FormSeal | undefined;
  /** Fits a table to the deployment before it is served. */
  readonly fit?: FitTable | undefined;
}

export type FitTable = (table: CompiledTable, digest: string | undefined) => void | Promise<void>;

const layouts = loadable("table-layouts", () => import("../../routing/layouts/declared.ts"));

const features: readonly (readonly [name: string, part: Loadable<TableFeature>])[] = RESTORED_FEATURES.map(
  ([name, load]) => [name, loadable(`table-${name}`, load)],
);

/** Modules of this build. A table that needs one that cannot be loaded is not restored. */
const PARTS: RestoreParts = {
  loadLayouts: async () => (await layouts.load()).knownLayouts,
  loadFeatures: (used) => Promise.all(features.flatMap(([name, part]) => (used.includes(name) ? part.load() : []))),
};

/** `undefined` for a form that does not fit. */
export const restored = (form: StoredForm, revision: number): Promise<CompiledTable | undefined> =>
  restoreTable(form, revision, PARTS);

/** The check and the compiler of texts. */
export const compiler = loadable("table-compiler", () => import("./compile-text.ts"));

/** The table of the build. Its check and the compiler are loaded only for want of its stored form. */
export async function compileBuilt({ bundled, built }: VouchedTables, revision: number) {
  const table = built?.form && (await restored(built.form(), revision));
  if (table !== undefined) return ok(table);
  const { compileBundled } = compiler.loaded ?? (await compiler.load());
  return compileBundled(declaredIn(bundled), revision, built !== undefined);
}
