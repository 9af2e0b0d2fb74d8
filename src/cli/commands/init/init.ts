import { basename, resolve } from "node:path";
import { readTemplates } from "../../../host/templates.ts";
import { everyLayout, ok } from "../../../ids/index.ts";
import { loadTable } from "../../../routing/index.ts";
import { command, option } from "../../command.ts";
import { testExample } from "../../examples/run.ts";
import { readExamples } from "../../examples/schema.ts";
import { countOf, escapeControls, indented, jsonText, linesText } from "../../lib/output.ts";
import { EXIT, misuse, type Runtime } from "../../runtime.ts";
import { type Given, packageName, readAnswers } from "./answers.ts";
import { refuseFiles, writeFiles } from "./folder.ts";
import { PLATFORMS, type Platform, type Project, projectOf, tooOldForCloudflare } from "./project.ts";

/** `waybill init` and `npm create waybill`: a project of a team's own. It needs no network, and commits nothing. */

const collect = (text: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), text];

export const init = command({
  name: "init",
  description: "write a project of your own: a table with examples, tests, a workflow, and files for where it runs",
  args: [["[folder]", "a new or empty folder; . is this one"]],
  options: [
    option("--name <name>", "the name of package and Worker (default: that of the folder)"),
    option("--platform <where>", "where it runs (default: both)").choices(PLATFORMS),
    option("--region <name=url>", "a region and the address of its origins; may be repeated", collect),
    option("--sample <id>", "an ID that you have, or a path or URL with one: the first entity, route and example"),
    option("--layout <name>", "the layout of the sample, where its text does not tell"),
    option("--sample-region <name>", "the region that has the sample (default: the first one)"),
    option("--entity <name>", "the name of the first entity (default: order, or by the sample's path)"),
    option("--path <pattern>", "its path with :id (default: /orders/:id, or the sample's path)"),
    option("--yes", "ask nothing: take the defaults"),
    option("--json", "one JSON object: the folder, its files, and the next commands; asks nothing"),
  ],
  help: `
Examples:
  $ waybill init my-gateway
  $ waybill init my-gateway --sample https://api.example.com/orders/1541815603606036480 --layout snowflake
  $ waybill init . --yes --platform own-servers --region eu=https://eu.example.com --region us=https://us.example.com

Without a terminal nothing is asked. A folder with files is refused, but for those of a fresh repository: .git, LICENSE and the
like. A README.md and a .gitignore that are there keep their lines. Nothing is fetched, installed or committed.
Exit code: 0, or 1 if the folder has files or the sample cannot be read.`,
  run: async (runtime, [folder], options) => {
    const given: Given = { ...options, folder };
    const { folder: target, answers } = await readAnswers(given, everyLayout, runtime);
    const minted = { nowMs: runtime.nowMs(), entropy: runtime.entropy };
    const name = answers.name ?? packageName(basename(resolve(target)));
    const project = projectOf({ ...answers, name }, readTemplates(), runtime.version, minted);
    check(project, minted.nowMs);
    // The questions took time.
    refuseFiles(target, runtime);
    const extended = writeFiles(target, project.files, runtime);
    const files = [...project.files.keys()];
    const next = nextCommands(target, runtime);
    runtime.report(nodeNote(answers.platform, runtime));
    await runtime.print(
      options.json
        ? jsonText({
            folder: target,
            name,
            files,
            extended,
            next,
            first: { path: project.path, region: project.region },
          })
        : linesText([
            `${escapeControls(target)}: ${countOf(files.length, "file")}`,
            ...indented(files.map((file) => (extended.includes(file) ? `${file}  (lines added to yours)` : file))),
            "next:",
            ...indented(next.map((line) => runtime.paint("bold", escapeControls(line)))),
            `then: curl -i 'http://127.0.0.1:8787${project.path}' (waybill-region: ${project.region})`,
          ]),
    );
    return EXIT.ok;
  },
});

/** Before the commands, in which npm warns of the same. */
function nodeNote(platform: Platform, { nodeVersion }: Runtime): string {
  const why = platform === "own-servers" ? undefined : tooOldForCloudflare(nodeVersion);
  if (why === undefined) return "";
  const rest =
    platform === "both" ? "; all else runs on this one, and --platform own-servers leaves Cloudflare out" : "";
  return `note: ${why}; npm warns of it at the install (EBADENGINE)${rest}\n`;
}

/** The answers are wrong where the table is; where it is right, its examples are as they say. */
function check({ files }: Project, nowMs: number): void {
  const declared: unknown = JSON.parse(files.get("routing-table.json") ?? "");
  const table = loadTable(declared, 0);
  if (!table.ok)
    misuse(linesText(table.error.map(({ pointer, message }) => `error: ${escapeControls(`${pointer}: ${message}`)}`)));
  const examples = readExamples(JSON.parse(files.get("examples.json") ?? ""));
  if (!examples.ok) throw new Error(`examples.json: ${examples.error[0]?.pointer} ${examples.error[0]?.message}`);
  const reading = { ports: { publicIds: { open: () => ok(undefined) } }, nowMs };
  for (const example of examples.value) {
    const { name, differences } = testExample({ table: table.value, declared }, example, reading);
    if (differences.length > 0) throw new Error(`${name}: ${differences.join("; ")}`);
  }
}

const PLAIN = /^[\w@%+=:,./-]+$/;

/** By the package manager that runs this, as `npm create` and its like say it. */
function nextCommands(folder: string, { env }: Runtime): readonly string[] {
  const [, manager = "npm"] = /^(npm|pnpm|yarn|bun)\//.exec(env("npm_config_user_agent") ?? "") ?? [];
  // `cd` would take a dash for an option.
  const path = folder.startsWith("-") ? `./${folder}` : folder;
  const quoted = PLAIN.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  const commands = ["install", manager === "bun" ? "run test" : "test", "start"];
  return [...(folder === "." ? [] : [`cd ${quoted}`]), ...commands.map((words) => `${manager} ${words}`)];
}
