import { parsePublicKeys, publicCodec } from "../../../features/public-ids/table/codec.ts";
import type { CompiledTable, Hint, LayoutAmbiguity } from "../../../routing/index.ts";
import { findAmbiguities, reviewTable } from "../../../routing/index.ts";
import { pointerTo } from "../../../routing/schema/faults.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { command, option } from "../../command.ts";
import { tableArgument } from "../../lib/input.ts";
import { countOf, escapeControls, jsonText, tinted } from "../../lib/output.ts";
import {
  faultLine,
  idleDirectories,
  idlePacks,
  idleRegions,
  placed,
  readServable,
  type TableFile,
} from "../../lib/table-file.ts";
import { EXIT } from "../../runtime.ts";

/** A note on two kinds of IDs with the same text, and how to distinguish them. Not a fault: the gateway rejects such IDs. */
const formatAmbiguity = ({ entity, reason, isRefused, example, hints }: LayoutAmbiguity): string => {
  const where = entity === undefined ? "/any/:id" : `the paths of ${entity}`;
  const outcome = isRefused ? "rejected as ambiguous" : "one region either way";
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
      return `distinguished by path: ${hint.paths.join(", ")}`;
    case "pattern": {
      const named = hint.paths.length === 0 ? "" : `, as ${hint.paths.join(", ")} does`;
      return `distinguished by a layout named in the pattern: ${hint.layouts.join(" or ")}${named}`;
    }
    case "header":
      return `distinguished by a header: ${hint.header}: ${hint.values.join(" or ")}`;
    case "prefix":
      return `distinguished by a prefix in the layouts ${hint.layouts.join(", ")}`;
  }
};

export const tableCheck = command({
  name: "check",
  description: "check a routing table: list all faults with place and fix; without faults, warnings and ambiguous IDs",
  args: [["[file]", "the table; - reads it from stdin (default: routing-table.json)"]],
  options: [
    option("--strict", "exit with 2 if there are warnings"),
    option("--json", "one JSON object per line: the faults, or the summary with the warnings"),
  ],
  help: `
Examples:
  $ waybill table check
  $ waybill table check routing-table.json --strict
  $ jq . routing-table.json | waybill table check --json -

Warnings are no faults, and the table can be published: a route that earlier ones hide in part, and a country, a layout or a region
without a route. An exception that stands before its rule is none, while each value that the rule lists still gets IDs.
Exit code: 0 without faults, 1 with faults or if the file cannot be read, 2 with warnings and --strict.`,
  run: async (runtime, [path], { json, strict }) => {
    const file = await readServable(tableArgument(path, runtime), runtime, json ? "json" : "stdout");
    const ambiguities = findAmbiguities(file.table);
    const declared: DeclaredTable = JSON.parse(new TextDecoder().decode(file.bytes));
    const { warnings, isCut } = warningsIn(declared, file.bytes);
    const unused = {
      unusedPacks: idlePacks(declared),
      unusedDirectories: idleDirectories(declared),
      unusedRegions: idleRegions(declared),
    };
    const notes = [
      ...ambiguities.map(formatAmbiguity),
      ...unused.unusedPacks.map(idleNote),
      ...unused.unusedDirectories.map(directoryNote),
      ...(isCut ? ["note: the table has too many routes to compare all of them with each other\n"] : []),
      publicNote(file.table, runtime.env("PUBLIC_ID_KEYS")),
    ];
    await runtime.print(
      json
        ? jsonText({ ...summaryOf(file), ambiguities, ...unused, warnings })
        : summaryLine(file) +
            tinted(warnings.map((each) => `warning: ${faultLine(file.name, each)}`).join(""), runtime.paint) +
            notes.join(""),
    );
    return strict && warnings.length > 0 ? EXIT.differs : EXIT.ok;
  },
});

/** In the order of the table's text. */
const warningsIn = (declared: DeclaredTable, bytes: Uint8Array) => {
  const reviewed = reviewTable(declared);
  if (!reviewed.ok) throw new Error("the table was not checked");
  const { warnings, isCut } = reviewed.value;
  const regions = idleRegions(declared).map((name) => ({
    pointer: pointerTo(["regions", name]),
    kind: "region-without-route" as const,
    message: `No route, default or failover names region ${name}; add a route to it, or remove it.`,
  }));
  const all = placed([...regions, ...warnings], bytes);
  return { warnings: all.toSorted((a, b) => a.line - b.line || a.column - b.column), isCut };
};

const idleNote = (pack: string): string =>
  `note: ${escapeControls(`pack ${pack} is unused: no route names it by "pack": ${JSON.stringify(pack)}`)}\n`;

const directoryNote = (name: string): string => {
  const named = `no entity and no route names it by "directory": ${JSON.stringify(name)}`;
  return `note: ${escapeControls(`directory ${name} is unused: ${named}`)}\n`;
};

/** Not a fault: the keys are a secret of each deployment, which the table does not show. */
const publicNote = ({ entities }: CompiledTable, text: string | undefined): string => {
  const shown = [...entities.values()].filter((entity) => entity.public !== undefined);
  if (shown.length === 0) return "";
  const keys = text === undefined ? undefined : parsePublicKeys(text);
  if (keys?.ok === false) return `note: ${escapeControls(keys.error)}\n`;
  const lacking = keys === undefined ? shown : shown.filter((entity) => publicCodec(entity, keys.value) === undefined);
  const names = escapeControls((lacking.length === 0 ? shown : lacking).map(({ name }) => name).join(", "));
  if (lacking.length === 0) return `note: ${names}: PUBLIC_ID_KEYS of the environment has keys for their public IDs\n`;
  if (keys !== undefined) return `note: ${names}: PUBLIC_ID_KEYS of the environment has no key for their public IDs\n`;
  return `note: ${names}: public IDs need the secret PUBLIC_ID_KEYS in each deployment; without it requests for them get 503\n`;
};

const summaryOf = ({ name, table, digest }: TableFile<CompiledTable>) => ({
  file: name,
  regions: table.regions.size,
  entities: table.entities.size,
  layouts: table.layouts.size,
  withoutId: table.withoutId.entries.reduce((count, { entity }) => count + entity.paths.length, 0),
  routes: table.routeCount,
  ...table.moved.counts,
  digest,
});

const summaryLine = (file: TableFile<CompiledTable>): string => {
  const { regions, layouts, entities, withoutId, routes, moved, moving, gone } = summaryOf(file);
  const parts = [
    countOf(regions, "region"),
    countOf(entities, "entity", "entities"),
    countOf(layouts, "layout"),
    ...(withoutId > 0 ? [countOf(withoutId, "path without an ID", "paths without an ID")] : []),
    countOf(routes, "route"),
    `${moved} moved`,
    ...(moving > 0 ? [`${moving} moving`] : []),
    ...(gone > 0 ? [`${gone} gone`] : []),
  ];
  return `${file.name}: no faults; ${parts.join(", ")}; sha256 ${file.digest}\n`;
};
