import { isoTime } from "../../ids/index.ts";
import { type ColumnAdvice, columnAdvice } from "../../ids/stores/advice.ts";
import { engineOf, recommendedType } from "../../ids/stores/column.ts";
import type { EngineName } from "../../ids/stores/engine.ts";
import { command, option, required, withDefault } from "../command.ts";
import { findForm, openLayout } from "../lib/layouts.ts";
import { alignColumns, indented, jsonText, linesText } from "../lib/output.ts";
import { columnName, ENGINES, engineName, faultSentence } from "../lib/stores.ts";
import { EXIT, fail, misuse } from "../runtime.ts";

export const idColumn = command({
  name: "column",
  description: "print the column of a database engine for a layout: its definition, literal, drivers and traps",
  args: [["<layout>", "a layout"]],
  options: [
    required("--for <engine>", `the engine: ${ENGINES}`, engineName),
    withDefault("--column <name>", "the column, or the key of Redis", "id", columnName),
    option("--type <type>", "ask about another column type, such as UUID"),
    option("--text <form>", "the text form that the column holds (default: the canonical one)"),
    option("--table <file>", "a routing table with custom layouts"),
    option("--json", "one JSON object"),
  ],
  help: `
Examples:
  $ waybill id column iuid --for mariadb
  $ waybill id column iuid --for mariadb --type UUID
  $ waybill id column distributed-id --for clickhouse --json

An engine whose source says "by the manual" was not run. Exit code: 0 if the column keeps every ID, otherwise 1.`,
  run: async (runtime, [name], options) => {
    const layout = await openLayout(name, options.table, runtime);
    const found = options.text === undefined ? undefined : findForm(layout, options.text);
    if (found?.ok === false) return misuse(`error: ${found.error} (--text)\n`);
    const form = found?.value;
    const advice = columnAdvice(options.for, layout, options.column, { type: options.type, form });
    if (!advice.ok) {
      const use = recommendedType(engineOf(options.for), layout, form);
      const why = faultSentence(advice.error, layout);
      if (!options.json) return fail(`error: ${why} Use ${use}.\n`);
      const { reason } = advice.error;
      await runtime.print(
        jsonText({ layout: name, engine: options.for, type: options.type, keepsAll: false, reason, detail: why, use }),
      );
      return EXIT.failed;
    }
    await runtime.print(options.json ? jsonText(plainOf(advice.value, options.for)) : describe(advice.value));
    return keepsAll(advice.value) ? EXIT.ok : EXIT.failed;
  },
});

const keepsAll = ({ exceedsFromMs }: ColumnAdvice): boolean => exceedsFromMs === undefined;

const describe = (advice: ColumnAdvice): string => {
  const { column, definition, key, written, read, drivers } = advice;
  const lines = [
    ["column", column.type.type + (column.isRecommended ? "" : ", not the recommended one")],
    ["holds", formatHolds(advice)],
    ...(key === undefined ? [] : [["key", key]]),
    ["order", formatOrder(advice)],
    ["write", written],
    ...(read === undefined ? [] : [["read", read]]),
    ...drivers.map((text) => ["driver", text]),
    ...trapsOf(advice).map((text) => ["trap", text]),
    ["source", column.engine.source],
  ];
  return linesText([definition, "", ...indented(alignColumns(lines))]);
};

const formatHolds = ({ column: { type, form, layout } }: ColumnAdvice): string => {
  switch (type.holds) {
    case "text":
      return `the ${form?.name ?? layout.table.text.name} text`;
    case "number":
      return "the ID as a number";
    default:
      return "the ID's bytes, most significant first";
  }
};

const formatOrder = ({ rises, sortsByTime }: ColumnAdvice): string => {
  if (sortsByTime) return "by time: waybill id range prints the condition of a period";
  return rises ? "IDs of one minter rise, but those of a period do not stand together" : "not that of minting";
};

const trapsOf = ({ traps, exceedsFromMs, column }: ColumnAdvice): readonly string[] =>
  exceedsFromMs === undefined
    ? traps
    : [
        `IDs of ${column.layout.name} exceed ${column.type.type} from ${isoTime(exceedsFromMs) ?? exceedsFromMs} on.`,
        ...traps,
      ];

const plainOf = (advice: ColumnAdvice, engine: EngineName): object => {
  const { column, definition, key, written, read, drivers, rises, sortsByTime } = advice;
  const { layout, type, form, isRecommended } = column;
  return {
    layout: layout.name,
    engine,
    type: type.type,
    isRecommended,
    holds: type.holds,
    text: form?.name,
    definition,
    key,
    written,
    read,
    drivers,
    rises,
    sortsByTime,
    keepsAll: keepsAll(advice),
    traps: trapsOf(advice),
    source: column.engine.source,
  };
};
