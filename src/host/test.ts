import { spawn } from "node:child_process";
import { exitOf } from "./child.ts";

/** `npm test`: cheap steps first; the first failing step ends the run with its exit code. */

const HELP = `npm test -- [arguments of vitest run]: types, lint, import rules, and the tests that the arguments select (default: all).
  npm test -- --project node test/ids          tests of a folder
  npm test -- --project workerd -t "a title"   tests by their title
`;

interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Shows output as it comes; otherwise only on failure. */
  readonly isShown: boolean;
}

const STEPS: readonly Step[] = [
  { name: "types", command: ["npm", "run", "--silent", "types"], isShown: false },
  { name: "lint", command: ["npm", "run", "--silent", "lint"], isShown: false },
  { name: "zones", command: ["npm", "run", "--silent", "zones"], isShown: false },
  { name: "tests", command: ["vitest", "run", ...process.argv.slice(2)], isShown: true },
];

const isHelpAsked = process.argv.slice(2).some((argument) => argument === "--help" || argument === "-h");
if (isHelpAsked) process.stdout.write(HELP);

for (const step of isHelpAsked ? [] : STEPS) {
  const code = await runStep(step);
  if (code !== 0) {
    process.exitCode = code;
    break;
  }
}

async function runStep({ name, command, isShown }: Step): Promise<number> {
  const started = performance.now();
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: isShown ? "inherit" : ["ignore", "pipe", "pipe"] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => output.push(chunk));
  const code = await exitOf(child);
  if (isShown) return code;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${name.padEnd(6)} ${code === 0 ? "ok" : "failed"}  ${seconds} s\n`);
  if (code !== 0) process.stdout.write(Buffer.concat(output));
  return code;
}
