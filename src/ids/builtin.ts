import { compileLayout } from "./compile.ts";
import type { Field, Layout, LayoutTable } from "./layout.ts";
import { hotguidSqlTable, hotguidTable, iuidTable, luuidTable } from "./layouts.ts";

const compileOwn = (table: LayoutTable): Layout => {
  const layout = compileLayout(table);
  if (!layout.ok) throw new Error(`layout ${table.name} is wrong: ${JSON.stringify(layout.error)}`);
  return layout.value;
};

export const iuid = compileOwn(iuidTable);
export const hotguid = compileOwn(hotguidTable);
export const hotguidSql = compileOwn(hotguidSqlTable);
export const luuid = compileOwn(luuidTable);

/** The layouts that a routing table may name, by name. */
export const builtinLayouts: ReadonlyMap<string, Layout> = new Map(
  [iuid, hotguid, hotguidSql, luuid].map((layout) => [layout.name, layout]),
);

/** A field that a built-in layout is known to have. */
export const fieldOf = (layout: Layout, name: string): Field => {
  const field = layout.field(name);
  if (field === undefined) throw new Error(`layout ${layout.name} has no field ${name}`);
  return field;
};
