import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { asTyped, type Row } from "../../src/cli/command.ts";
import { type Load, rowsOf } from "../../src/cli/lazy.ts";
import { asCalled } from "../../src/cli/lib/output.ts";
import { COMMANDS } from "../../src/cli/program.ts";
import { runProgram } from "../../src/cli/run-program.ts";
import { SUMMARIES } from "../../src/cli/summaries.generated.ts";
import { fakeRuntime } from "./fake-runtime.ts";

/** Commands that messages tell users to run, in backticks. */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Remedy {
  readonly file: string;
  readonly line: number;
  readonly words: string;
}

/** Descriptions name a command, and advise nothing. */
const NAMED: ReadonlySet<string> = new Set([
  "src/cli/commands/host.ts: table publish",
  "src/cli/commands/table/pack.ts: table publish",
  "src/features/packs/table/schema.ts: table pack",
  "src/routing/schema/parts.ts: move finish",
  "src/routing/schema/table.ts: move",
]);

const isComment = (line: string): boolean => /^\s*(?:\/\/|\/?\*)/.test(line);

/** In a template the backticks are escaped. */
const REMEDY = /\\?`waybill ((?:[^`\\$]|\$\{(?:[^{}`]|\{[^}]*\})*\})+)\\?`/g;

const remedies: readonly Remedy[] = globSync("src/{cli,host,edge,routing,problems,features,demo}/**/*.ts", {
  cwd: ROOT,
})
  .toSorted()
  .flatMap((file) =>
    readFileSync(`${ROOT}/${file}`, "utf8")
      .split("\n")
      .flatMap((text, at) =>
        isComment(text) ? [] : [...text.matchAll(REMEDY)].map(([, words = ""]) => ({ file, line: at + 1, words })),
      ),
  )
  .filter(({ file, words }) => !NAMED.has(`${file}: ${words}`));

/** A value stands for what a message fills in, and for what the user does: `FILE`. */
const filledIn = (words: string): readonly string[] =>
  words
    .replaceAll(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, "1")
    .replaceAll(/\bURL\b/g, "http://127.0.0.1")
    .replaceAll(/\b[A-Z]{2,}\b/g, "1")
    .split(" ");

const loaded = new Map<Load, Row>();

/** Why the real definitions refuse a command line; `undefined` if they take it. Nothing is run. */
async function refusal(words: readonly string[]): Promise<string | undefined> {
  let isTaken = false;
  const { runtime, written } = fakeRuntime({});
  await runProgram(words, runtime, (program, _act) => {
    const parse = () =>
      async function (this: Parameters<typeof asTyped>[0]) {
        asTyped(this);
        isTaken = true;
      };
    for (const row of rowsOf(COMMANDS, SUMMARIES, loaded)) row(program, parse);
    return program;
  });
  return isTaken ? undefined : written.stderr;
}

beforeAll(async () => {
  for (const entry of COMMANDS)
    for (const { load } of "load" in entry ? [entry] : entry.commands) loaded.set(load, await load());
});

describe("a command in a message", () => {
  it("is looked for where messages are", () => {
    expect(remedies.length).toBeGreaterThan(40);
    expect(remedies.some(({ words }) => words.startsWith("explain --no-table "))).toBe(true);
  });

  it.each(remedies)("$file:$line `waybill $words` is one", async ({ words }) => {
    expect(await refusal(filledIn(words))).toBeUndefined();
  });
});

describe("a message", () => {
  const message =
    "is it running? `waybill start` starts one:\n  waybill table plan next.json\nwaybill has `waybill-region`\n";
  const called = (name: string) =>
    `is it running? \`${name} start\` starts one:\n  ${name} table plan next.json\nwaybill has \`waybill-region\`\n`;

  it.each<[by: string, env: Readonly<Record<string, string>>, name: string]>([
    ["a shell", {}, "waybill"],
    ["npx", { npm_command: "exec", npm_package_name: "my-gateway" }, "npx waybill"],
    ["a script of a project", { npm_command: "run-script", npm_package_name: "my-gateway" }, "npx waybill"],
    ["npm start of a project", { npm_command: "start", npm_package_name: "my-gateway" }, "npx waybill"],
    ["the script of a checkout", { npm_command: "run-script", npm_package_name: "waybill" }, "npm run -s waybill --"],
    ["npx in a checkout", { npm_command: "exec", npm_package_name: "waybill" }, "npx waybill"],
  ])("names commands as %s has them", (_, env, name) => {
    expect(asCalled(message, (variable) => env[variable])).toBe(called(name));
  });
});
