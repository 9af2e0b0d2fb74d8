import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { exitOf } from "../src/host/child.ts";

/**
 * `npm test` and its short forms. The steps of a stage run two at a time, for two cores; a failed stage ends the run with
 * the exit code of its first failure. Its last lines name the tests that failed, and count all: `N passed, N failed, N
 * skipped`.
 */

const HELP = `npm test: what must hold before a change lands: types, lint, import rules, and the tests unit, rules, worker, system and console.
npm run test:unit: types, Biome's rules and the unit tests
npm run test:slow: properties with many cases, large tables, memory, others' libraries, engines and clients, the console's pictures, keyboard, outages and attacks, each feature left out
npm run test:console: the console alone, in a real browser at a real gateway, with its slow tests
npm run test:watch: the unit tests that an edit reaches, again and again
npm test -- [arguments of vitest run]: vitest alone
  npm test -- test/ids                      tests of a folder
  npm test -- --project worker -t "title"   tests by their title
`;

interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

/** Its steps begin in their order, two at a time. */
type Stage = readonly Step[];

const script = (name: string): Step => ({ name, command: ["npm", "run", "--silent", name] });
const tests = (name: string, ...folders: readonly string[]): Step => ({
  name,
  command: ["vitest", "run", "--project", name, ...folders],
});
/** A project's files in parts: the last steps are short, so neither core waits for long. */
const parts = (name: string, count: number): readonly Step[] =>
  Array.from({ length: count }, (_, at) => {
    const part = `${at + 1}/${count}`;
    return { ...tests(name, `--shard=${part}`), name: `${name} ${part}` };
  });

const PLANS: Readonly<Record<string, readonly Stage[]>> = {
  "--all": [
    [
      script("types"),
      tests("rules"),
      script("lint"),
      script("zones"),
      tests("unit"),
      tests("system"),
      tests("worker"),
      ...parts("console", 4),
    ],
  ],
  "--unit": [[script("types"), { name: "lint", command: ["biome", "check", "."] }], [tests("unit")]],
  "--slow": [[tests("slow"), tests("slow-worker"), tests("slow-system")], [tests("outside")]],
  "--console": [[tests("console"), tests("unit", "test/console")], [tests("outside", "test/system/console")]],
};

const [mode = "", ...args] = process.argv.slice(2);
const plan = PLANS[mode];
if (plan === undefined || args.includes("--help") || args.includes("-h")) process.stdout.write(HELP);
else process.exitCode = args.length > 0 ? await runVitest(args) : await runPlan(plan);

function runVitest(args: readonly string[]): Promise<number> {
  return exitOf(spawn("vitest", ["run", ...args], { stdio: "inherit" }));
}

async function runPlan(stages: readonly Stage[]): Promise<number> {
  if (stages === PLANS["--all"])
    process.stdout.write("10 to 30 minutes on two cores. Each step prints a line when it begins and when it ends.\n");
  const counts = { passed: 0, failed: 0, skipped: 0, names: [] };
  let code = 0;
  for (const stage of stages) {
    code = await runStage(stage, counts);
    if (code !== 0) break;
  }
  for (const name of counts.names) process.stdout.write(`${name}\n`);
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
  return code;
}

type Counts = Record<"passed" | "failed" | "skipped", number> & {
  /** The tests that failed, as vitest prints them: project, file, titles. */
  readonly names: string[];
};

/** Once a step has failed, no other begins. */
async function runStage(stage: Stage, counts: Counts): Promise<number> {
  const left = [...stage];
  const codes: number[] = [];
  const runner = async (): Promise<void> => {
    while (left.length > 0 && codes.length === 0) {
      const code = await runStep(left.shift() as Step, counts);
      if (code !== 0) codes.push(code);
    }
  };
  await Promise.all([runner(), runner()]);
  return codes[0] ?? 0;
}

/** Shows a step's output where it fails. */
async function runStep({ name, command }: Step, counts: Counts): Promise<number> {
  const startedMs = performance.now();
  process.stdout.write(`${name.padEnd(11)} begins\n`);
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [code, output, errors] = await Promise.all([exitOf(child), text(child.stdout), text(child.stderr)]);
  const line = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(output);
  if (line !== null) {
    counts.passed += Number(line[1]);
    counts.failed += Number(line[2]);
    counts.skipped += Number(line[3]);
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  if (code !== 0) {
    process.stdout.write(`${output}${errors}`);
    counts.names.push(...new Set(stripVTControlCharacters(errors).match(/^ *FAIL .*$/gm)));
  }
  process.stdout.write(`${name.padEnd(11)} ${code === 0 ? "ok" : "failed"}  ${seconds} s  ${line?.[0] ?? ""}\n`);
  return code;
}
