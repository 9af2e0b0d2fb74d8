import { command, option } from "../../command.ts";
import { type TestedExample, testExample } from "../../examples/run.ts";
import { type Example, readExamples } from "../../examples/schema.ts";
import { TABLE_FILE_DEFAULT } from "../../lib/input.ts";
import { readJsonText } from "../../lib/json-text.ts";
import { countOf, escapeControls, formatCount, jsonText } from "../../lib/output.ts";
import { checkText, faultLine, formatFaults, readBytes, readServable } from "../../lib/table-file.ts";
import { EXIT, fail, misuse, type Runtime, Stop } from "../../runtime.ts";
import { openerOf } from "../public-id.ts";

/** `waybill table test`: requests that a team keeps beside its table, each with the region that must get it. */

const EXAMPLES_FILE_DEFAULT = "examples.json";

export const tableTest = command({
  name: "test",
  description: "test a routing table by examples: requests, and the region or problem that each must get",
  args: [["[examples]", `the examples; - reads them from stdin (default: ${EXAMPLES_FILE_DEFAULT})`]],
  options: [
    option("--table <file>", `the routing table (default: ${TABLE_FILE_DEFAULT})`),
    option("--json", "one JSON object per example, or the faults as in table check"),
  ],
  help: `
Examples:
  $ waybill table test
  $ waybill table test more-examples.json --table routing-table.json
  $ waybill table test --json | jq -r 'select(.differences != []) | .name'

A file of examples:
  { "examples": [
    { "path": "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d77", "region": "eu", "route": "/routes/3" },
    { "method": "POST", "path": "/refunds", "body": { "orderId": "0192f0c1-7a30-8005-8040-8f3b2a1c9d77" }, "region": "eu" },
    { "path": "/orders/none", "problem": "malformed-id" }
  ] }

Each is decided as the gateway would; nothing is sent. Other members: name, host, headers, claims, clientCountry,
clientContinent, at (the time of the request), directory (what directories answer), entity, creates, lists, redirect.

Exit code: 0 if all are as expected, 2 if one differs, 1 with faults in a file or if it cannot be read.`,
  run: async (runtime, [path = EXAMPLES_FILE_DEFAULT], { table = TABLE_FILE_DEFAULT, json = false }) => {
    if (path === "-" && table === "-") return misuse("error: only one of the table and the examples can be stdin\n");
    const { file, positionOf, all } = await openTested(table, path, runtime, json);
    let differing = 0;
    let count = 0;
    for (const tested of all) {
      count += 1;
      if (tested.differences.length > 0) differing += 1;
      const lineOf = (pointer: string) => `${file.name}:${positionOf(pointer).line}`;
      await runtime.print(json ? jsonText(tested) : formatTested(tested, lineOf, runtime.paint));
    }
    if (!json) await runtime.print(summary(count, differing));
    return differing === 0 ? EXIT.ok : EXIT.differs;
  },
});

/** A table, and its examples, each tested when it is asked for. */
async function openTested(tablePath: string, examplesPath: string, runtime: Runtime, json: boolean) {
  const file = await readServable(tablePath, runtime, json ? "json" : "stderr");
  const examples = await openExamples(examplesPath, runtime, json);
  const { value: declared, positionOf } = readJsonText(new TextDecoder().decode(file.bytes));
  const reading = { ports: { publicIds: openerOf(runtime) }, nowMs: runtime.nowMs() };
  function* tested(): Generator<TestedExample> {
    for (const example of examples) yield testExample({ table: file.table, declared }, example, reading);
  }
  return { file, positionOf, all: tested() };
}

/** The same for a team's own test runner. Faults of a file are an error. */
export async function testExamples(
  runtime: Runtime,
  { table = TABLE_FILE_DEFAULT, examples = EXAMPLES_FILE_DEFAULT }: { table?: string; examples?: string } = {},
): Promise<readonly TestedExample[]> {
  const { all } = await openTested(table, examples, runtime, false);
  return [...all];
}

function formatTested(tested: TestedExample, lineOf: (pointer: string) => string, paint: Runtime["paint"]): string {
  const { name, request, differences, route } = tested;
  const place = route === undefined ? "" : ` ${paint("dim", escapeControls(`(${route}, ${lineOf(route)})`))}`;
  const where = `${escapeControls(name)} → ${escapeControls(outcomeOf(tested))}${place}`;
  if (differences.length === 0) return `${paint("green", "✓")} ${where}\n`;
  const shown = name === request ? [] : [request];
  const lines = [...shown, ...differences].map((line) => `    ${escapeControls(line)}\n`);
  return `${paint("red", "✗")} ${where}\n${lines.join("")}`;
}

function outcomeOf({ region, problem, creates, lists, redirect }: TestedExample): string {
  if (problem !== undefined) return problem;
  if (redirect !== undefined) return `redirect to ${redirect}`;
  if (region !== undefined) return region;
  if (creates !== undefined) return `creates ${creates}`;
  return lists === undefined ? "undetermined" : `lists ${lists}`;
}

const summary = (count: number, differing: number): string =>
  differing === 0
    ? `${countOf(count, "example")}, all as expected\n`
    : `${countOf(count, "example")}: ${formatCount(count - differing)} as expected, ${formatCount(differing)} different\n`;

/** The examples of a file. Its faults end the command: on stderr, or with `json` as objects on stdout. */
async function openExamples(path: string, runtime: Runtime, json: boolean): Promise<readonly Example[]> {
  const name = path === "-" ? "stdin" : path;
  const checked = checkText(await readBytes(path, runtime, "examples"), readExamples, "file of examples");
  if (checked.ok) return checked.value;
  const lines = checked.error.map((fault) =>
    json ? jsonText({ file: name, ...fault }) : faultLine(name, fault, "(whole file)"),
  );
  const found = formatFaults(checked.error.length);
  if (json) throw new Stop(`${escapeControls(name)}: ${found}\n`, EXIT.failed, lines.join(""));
  return fail(`${lines.join("")}error: ${escapeControls(name)} has no valid examples: ${found}\n`);
}
