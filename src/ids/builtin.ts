import { layoutOf } from "./compile.ts";
import type { Layout } from "./layout.ts";
import { hotguidSqlTable, hotguidTable, iuidTable, luuidTable } from "./layouts.ts";

export const iuid = /* @__PURE__ */ layoutOf(iuidTable);
export const hotguid = /* @__PURE__ */ layoutOf(hotguidTable);
export const hotguidSql = /* @__PURE__ */ layoutOf(hotguidSqlTable);
export const luuid = /* @__PURE__ */ layoutOf(luuidTable);

/** Indexes layouts by name. */
export const byName = (layouts: readonly Layout[]): ReadonlyMap<string, Layout> =>
  new Map(layouts.map((layout) => [layout.name, layout]));

/** The layouts that a routing table can name without declaring them. */
export const builtinLayouts = /* @__PURE__ */ byName([iuid, hotguid, hotguidSql, luuid]);
