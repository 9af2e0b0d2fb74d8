import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { exitOf } from "../host/child.ts";
import { startChecks } from "./checks.ts";
import { readDemoTable } from "./demo-table.ts";
import { findFreePorts } from "./ports.ts";
import { checkEdges, checkMintedIds } from "./smoke-checks.ts";

/** The main job as a newcomer starts it: `npm start`, IDs minted and looked up over HTTP, Ctrl-C. */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const READY_DEADLINE_MS = 180_000;
const STOP_DEADLINE_MS = 15_000;
const POLL_MS = 50;

const print = (line: string) => process.stdout.write(`${line}\n`);
const checks = startChecks(print);

async function main(): Promise<void> {
  const port = await findFreePorts();
  const stateFolder = mkdtempSync(join(tmpdir(), "waybill-smoke-"));
  print(`Starting npm start with PORT=${port}`);
  // A group of its own, as a terminal gives it: what is left in it afterwards was forgotten.
  const child = spawn("npm", ["start"], {
    cwd: ROOT,
    env: { ...process.env, PORT: String(port), WAYBILL_STATE: stateFolder },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const printed: string[] = [];
  try {
    const url = await readyUrl(child, printed);
    const target = { url, table: readDemoTable(), checks };
    await checkMintedIds(target);
    await checkEdges(target);
    const requestLines = printed.filter((line) => /^(?:GET|PUT|POST) .* \d{3} +\d+ ms$/.test(line));
    checks.equal("each request prints a line", requestLines.length > 0, true);
  } finally {
    await checkEnd(child);
    rmSync(stateFolder, { recursive: true });
    if (checks.failed > 0) for (const line of printed) print(`  | ${line}`);
  }
}

/** The URL of the line that says that all is ready. Rejects when the command ends, or takes too long. */
function readyUrl(child: ChildProcess, printed: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error([`npm start ${why}`, ...printed].join("\n")));
    const deadline = setTimeout(() => fail("is not ready in time"), READY_DEADLINE_MS);
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        printed.push(line);
        const url = /^ready (http:\S+)$/.exec(line)?.[1];
        if (url === undefined) return;
        clearTimeout(deadline);
        resolve(url);
      });
    }
    void exitOf(child).then((code) => {
      clearTimeout(deadline);
      fail(`ended with code ${code}`);
    }, reject);
  });
}

async function checkEnd(child: ChildProcess): Promise<void> {
  const group = -(child.pid ?? 0);
  const ended = exitOf(child);
  child.kill("SIGINT");
  const deadline = Date.now() + STOP_DEADLINE_MS;
  while (isAlive(group) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  const isLeft = isAlive(group);
  checks.equal("a process is left after SIGINT", isLeft, false);
  if (isLeft) process.kill(group, "SIGKILL");
  checks.equal("exit code after SIGINT", await ended, 0);
}

function isAlive(group: number): boolean {
  try {
    process.kill(group, 0);
    return true;
  } catch {
    return false;
  }
}

try {
  await main();
} catch (error) {
  checks.equal("the main job", error instanceof Error ? error.message : error, undefined);
}
print(`main job: ${checks.passed} passed, ${checks.failed} failed`);
process.exitCode = checks.failed === 0 ? 0 : 1;
