import { expect, it } from "vitest";
import { EXIT } from "../../src/cli/runtime.ts";
import { waybill } from "../cli/fake-runtime.ts";
import { commandRuns } from "./command-runs.ts";
import { sections, shapeOf } from "./shape.ts";

/** The help of a command and of all those below it, by their words. */
const helpOf = async (words: readonly string[]): Promise<Record<string, string>> => {
  const { stdout, code } = await waybill([...words, "--help"]);
  expect(code).toBe(0);
  const [, listed = ""] = /^Commands:\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
  const names = [...listed.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = ""]) => name);
  const below = await Promise.all(names.filter((name) => name !== "help").map((name) => helpOf([...words, name])));
  return Object.assign({ [["waybill", ...words].join(" ")]: stdout }, ...below);
};

it("keeps the help of every command", async () => {
  const help = await helpOf([]);
  const lines = Object.entries(help).map(([name, text]) => [name, text.trimEnd().split("\n")]);
  await expect(sections(Object.fromEntries(lines))).toMatchFileSnapshot("snapshots/cli-help.txt");
});

it("keeps the exit codes", async () => {
  const lines = Object.values(EXIT).map((code) => `${code}`);
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("snapshots/cli-exit.txt");
});

/** Commands without `--json`, with the reason. */
const WITHOUT_JSON: Readonly<Record<string, string>> = {
  "waybill table show": "prints the text of a table, which is JSON",
  "waybill directory export": "prints NDJSON",
  "waybill state export": "writes a file of NDJSON, and counts it",
  "waybill state import": "writes into a gateway, and counts it",
  "waybill cluster certificates": "writes files, and names their folders",
  "waybill cluster restart": "restarts nodes, and counts them",
  "waybill completion": "prints a script for a shell",
  "waybill export": "writes files, and names them",
  "waybill build": "writes files, and names their folder",
  "waybill prepare": "writes files, and names their folder",
  "waybill deploy": "runs wrangler, whose output it passes on",
  "waybill serve": "runs until it is stopped; its log lines are JSON",
  "waybill start": "runs until it is stopped; its log lines are JSON by REQUEST_LOG",
};

it("has --json on every command that prints data", async () => {
  const help = Object.entries(await helpOf([]));
  const commands = help.filter(([, text]) => !/^Commands:$/m.test(text));
  const lacking = commands.filter(([, text]) => !/^ {2}--json /m.test(text)).map(([name]) => name);
  expect(lacking.filter((name) => WITHOUT_JSON[name] === undefined)).toEqual([]);
  const all = new Set(commands.map(([name]) => name));
  const withJson = Object.keys(WITHOUT_JSON).filter((name) => all.has(name) && !lacking.includes(name));
  expect(withJson, "no exception is needed").toEqual([]);
});

it("keeps the members of what --json prints", async () => {
  const printed: Record<string, unknown[]> = {};
  for await (const { command, stdout, stderr } of commandRuns()) {
    expect(stdout, stderr).not.toBe("");
    const objects = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    printed[command] = [...(printed[command] ?? []), ...objects];
  }
  const help = Object.entries(await helpOf([]));
  const withJson = help.filter(([, text]) => /^ {2}--json /m.test(text)).map(([name]) => name.replace("waybill ", ""));
  expect(Object.keys(printed).toSorted()).toEqual(withJson.toSorted());
  const shapes = Object.entries(printed).map(([name, objects]) => [name, shapeOf(objects)]);
  await expect(sections(Object.fromEntries(shapes))).toMatchFileSnapshot("snapshots/cli-json.txt");
});
