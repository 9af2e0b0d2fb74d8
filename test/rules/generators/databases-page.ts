import { everyLayout, type Layout } from "../../../src/ids/index.ts";
import { engineOf, storeColumn } from "../../../src/ids/stores/column.ts";
import { ENGINE_NAMES, type EngineName } from "../../../src/ids/stores/engine.ts";
import { rises, sortsByTime } from "../../../src/ids/stores/order.ts";
import { byteCount } from "../../../src/ids/stores/value.ts";

/**
 * The tables of `docs/guides/databases.md` that follow from the model of engines in `src/ids/stores/`. The page has them between
 * `<!--generated:NAME-->` and `<!--/generated-->`, wherever it likes; each must be there once.
 */

/** MySQL has MariaDB's columns. */
const SHOWN = ENGINE_NAMES.filter((name) => name !== "mysql");
const titleOf = (name: EngineName): string => (name === "mariadb" ? "MariaDB, MySQL" : engineOf(name).title);

/** Layouts whose IDs anything mints: a page of columns for the nil UUID helps no reader. */
const layouts = everyLayout.filter(({ table }) => table.minter !== "none");

const code = (text: string): string => `\`${text}\``;
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const rule = (count: number): string => `|${"---|".repeat(count)}`;

/** Values by a key, in the order in which each key was met first. */
const groupBy = <Value>(
  values: readonly Value[],
  keyOf: (value: Value) => string,
): ReadonlyMap<string, readonly Value[]> => {
  const groups = new Map<string, Value[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
};

const namesOf = (of: readonly Layout[]): string => of.map(({ name }) => code(name)).join(" ");

const typeFor = (engine: EngineName, layout: Layout): string => {
  const column = storeColumn(engine, layout);
  if (!column.ok) throw new Error(`${layout.name} has no column on ${engine}`);
  const { type, form } = column.value;
  return form === undefined ? type.type : type.type.replace(`(${form.lengthMax})`, "(n)");
};

/** `yes`: in every engine. */
const riseOf = (layout: Layout): string => {
  if (rises(layout, "bits")) return "yes";
  return byteCount(layout) === 16 && rises(layout, "sqlserver") ? "SQL Server" : "no";
};

/** Engine by layout: layouts with the same columns share a row. */
const columns = (): readonly string[] => {
  const groups = groupBy(layouts, (layout) =>
    row([riseOf(layout), ...SHOWN.map((engine) => code(typeFor(engine, layout)))]),
  );
  const heads = ["IDs", "rise", ...SHOWN.map(titleOf)];
  return [row(heads), rule(heads.length), ...[...groups].map(([cells, of]) => `| ${namesOf(of)} ${cells}`)];
};

/** Columns that a reader may have instead. */
const OTHERS = [
  ["mariadb", "UUID"],
  ["sqlserver", "uniqueidentifier"],
  ["clickhouse", "UUID"],
  ["postgresql", "uuid"],
  ["duckdb", "UUID"],
] as const;

/** Effects of each native UUID on the layouts of 16 bytes. */
const uuids = (): readonly string[] => {
  const of16 = layouts.filter((layout) => byteCount(layout) === 16);
  const verdict = (engine: EngineName, type: string, layout: Layout): string => {
    const column = storeColumn(engine, layout, { type });
    if (!column.ok) return "refused";
    const { order } = column.value;
    if (order === undefined) return "random";
    return sortsByTime(layout, order) ? "time" : rises(layout, order) ? "rises" : "random";
  };
  const lines = OTHERS.map(([engine, type]) => {
    const groups = groupBy(of16, (layout) => verdict(engine, type, layout));
    const cells = ["time", "rises", "random", "refused"].map((name) => namesOf(groups.get(name) ?? []) || "none");
    return row([`${engineOf(engine).title} ${code(type)}`, ...cells]);
  });
  return [row(["column", "by time", "rise, no ranges", "out of order", "some or all refused"]), rule(5), ...lines];
};

const BLOCKS: Readonly<Record<string, () => readonly string[]>> = { columns, uuids };

/** The page with its blocks renewed. */
export const databasesPage = (page: string): string => {
  let renewed = page;
  for (const [name, lines] of Object.entries(BLOCKS)) {
    const parts = renewed.split(`<!--generated:${name}-->\n`);
    const [before, after] = parts;
    const end = after?.indexOf("<!--/generated-->") ?? -1;
    if (before === undefined || after === undefined || parts.length > 2 || end < 0) {
      throw new Error(`the page needs one block <!--generated:${name}--> … <!--/generated-->`);
    }
    renewed = `${before}<!--generated:${name}-->\n${lines().join("\n")}\n${after.slice(end)}`;
  }
  return renewed;
};
