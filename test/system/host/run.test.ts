import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const RUN = join(ROOT, "src/host/run.mjs");

const LOCK = {
  packages: {
    "": { name: "house" },
    "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
    "node_modules/other-machine": { version: "1.0.0", integrity: "sha512-b", optional: true },
  },
};
const INSTALLED = { packages: { "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } } };

const OPTIONS = "--include=optional --ignore-scripts --no-progress\n";

/** A house with one package in its lock file, and an npm that notes how it was called and may leave something behind. */
let house: string;
beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), "waybill run-"));
  mkdirSync(join(house, "src/host"), { recursive: true });
  mkdirSync(join(house, "bin"));
  copyFileSync(RUN, join(house, "src/host/run.mjs"));
  cpSync(join(ROOT, "src/host/checkout"), join(house, "src/host/checkout"), { recursive: true });
  write("package-lock.json", LOCK);
  write(".node/package-lock.json", { packages: {} });
  writeNpm("");
  writeFileSync(
    join(house, "hello.ts"),
    `const args: string[] = process.argv.slice(2);
     console.log(JSON.stringify({ args, path: process.env.PATH?.split(":").slice(0, 2), metrics: process.env.WRANGLER_SEND_METRICS }));
     process.exitCode = 7;`,
  );
});
afterEach(() => rmSync(house, { recursive: true }));

const writeNpm = (script: string) =>
  writeFileSync(join(house, "bin/npm"), `#!/bin/sh\necho "$@" >> "${house}/npm-calls"\n${script}\n`, { mode: 0o755 });

function write(name: string, content: unknown): void {
  mkdirSync(join(house, name, ".."), { recursive: true });
  writeFileSync(join(house, name), JSON.stringify(content));
}

function env(): NodeJS.ProcessEnv {
  // Set by the npm that runs these tests: the runner would start that one.
  const { npm_execpath: _, npm_command: __, ...rest } = process.env;
  return { ...rest, PATH: `${join(house, "bin")}${delimiter}${process.env["PATH"]}` };
}

const run = (...args: string[]) =>
  spawnSync(process.execPath, [join(house, "src/host/run.mjs"), ...args], { env: env(), encoding: "utf8" });

const npmCalls = () => (existsSync(join(house, "npm-calls")) ? readFileSync(join(house, "npm-calls"), "utf8") : "");

/** Makes npm leave the record of an installation. */
function npmInstalls(packages: object): void {
  write("record.json", { packages });
  writeNpm(`mkdir -p node_modules; cp "${house}/record.json" node_modules/.package-lock.json`);
}

describe("missing packages", () => {
  const { packages } = INSTALLED;
  const a = packages["node_modules/a"];
  it.each([
    ["nothing is installed", undefined, "nothing is installed yet"],
    ["another version is installed", { "node_modules/a": { ...a, version: "0.9.0" } }, "a is not at version 1.0.0"],
    ["another build is installed", { "node_modules/a": { ...a, integrity: "sha512-x" } }, "a is not at version 1.0.0"],
    [
      "a package is no longer in package-lock.json",
      { ...packages, "node_modules/old": { version: "1.0.0" } },
      "old is no longer in package-lock.json",
    ],
  ])("are installed once when %s", (_, found, reason) => {
    if (found !== undefined) write("node_modules/.package-lock.json", { packages: found });
    npmInstalls(packages);
    const { stderr, status } = run("hello.ts");
    expect([status, stderr.includes(reason)]).toEqual([7, true]);
    expect(npmCalls()).toBe(`${found === undefined ? "ci" : "install --no-save"} --include=dev ${OPTIONS}`);
    expect(run("hello.ts").stderr).toBe("");
  });

  it("are installed by npm ci where npm install does not follow the lock file", () => {
    write("node_modules/.package-lock.json", { packages: { "node_modules/a": { ...a, version: "0.9.0" } } });
    expect(run("hello.ts").status).toBe(7);
    expect(npmCalls()).toBe(`install --no-save --include=dev ${OPTIONS}ci --include=dev ${OPTIONS}`);
  });

  it("of tests are installed when tests are run, and stay", () => {
    const dev = { version: "2.0.0", integrity: "sha512-d", dev: true };
    write("package-lock.json", { packages: { ...LOCK.packages, "node_modules/d": dev } });
    npmInstalls(packages);
    const first = run("--product", "hello.ts");
    expect(first.stderr).toMatch(/^Installing what npm start needs \(nothing is installed yet\)\.\nAbout \d+ MB/);
    npmInstalls({ ...packages, "node_modules/d": dev });
    const second = run("hello.ts");
    expect(second.stderr).toMatch(/^Installing tests and tools \(not needed until now\)\.\nAbout \d+ MB/);
    expect(run("--product", "hello.ts").stderr).toBe("");
    const other = { ...a, integrity: "sha512-y" };
    write("package-lock.json", { packages: { ...LOCK.packages, "node_modules/a": other, "node_modules/d": dev } });
    npmInstalls({ "node_modules/a": other, "node_modules/d": dev });
    expect(run("--product", "hello.ts").status).toBe(7);
    expect(npmCalls().split("\n")).toEqual(
      ["ci --omit=dev", "install --no-save --include=dev", "install --no-save --include=dev"]
        .map((call) => `${call} ${OPTIONS.trim()}`)
        .concat(""),
    );
  });

  it("are none when all is there but what is for other machines", () => {
    write("node_modules/.package-lock.json", INSTALLED);
    expect(run("hello.ts").stderr).toBe("");
    expect(npmCalls()).toBe("");
  });

  it("stop the run with npm's failure when they cannot be installed", () => {
    writeNpm("exit 1");
    const { status, stderr, stdout } = run("hello.ts");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("npm ci failed with exit code 1, see above. The first install needs the npm registry");
    expect(stderr).toContain("(ENOTEMPTY, EBUSY), another program changes node_modules");
  });

  it("stop the run where npm installed nothing, and does not say so by its exit code", () => {
    writeNpm("exit 0");
    const { status, stderr, stdout } = run("hello.ts");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("npm has installed nothing, see above. The first install needs the npm registry");
  });

  it("cannot be known without a lock file", () => {
    rmSync(join(house, "package-lock.json"));
    expect(run("hello.ts").stderr).toContain("package-lock.json is missing or damaged");
  });
});

/** Ends as soon as a file is there, or a process is not. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A process that nobody has waited for yet is dead all the same.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

describe.skipIf(process.platform !== "linux")("an installation", () => {
  const start = () => {
    const child = spawn(process.execPath, [join(house, "src/host/run.mjs"), "hello.ts"], {
      env: env(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const ended = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) =>
      child.once("close", (code, signal) => resolve([code, signal])),
    );
    return { child, stderr: () => stderr, ended };
  };
  const pids = () => ["npm-pid", "helper-pid"].map((name) => Number(readFileSync(join(house, name), "utf8")));
  /** npm with a process of its own, as it has for packages, that takes its time. */
  const slowNpm = (trap: string) =>
    writeNpm(
      `${trap}\nsleep 60 &\necho $! > "${house}/helper-pid"\necho $$ > "${house}/npm-pid.new"\n` +
        `mv "${house}/npm-pid.new" "${house}/npm-pid"\nwait\nwait`,
    );

  it.each([
    ["SIGINT", 130, ""],
    ["SIGTERM", 143, ""],
    ["SIGHUP", 129, ""],
    // npm goes on with what it has begun, and is killed after a while.
    ["SIGTERM", 143, "trap '' TERM"],
  ] as const)("ends whole on %s with %s, and the next start begins anew %s", async (signal, code, trap) => {
    write("node_modules/.package-lock.json", { packages: {} });
    slowNpm(trap);
    const { child, stderr, ended } = start();
    await until(() => existsSync(join(house, "npm-pid")));
    child.kill(signal);
    expect(await ended).toEqual([code, null]);
    expect(stderr()).toContain("The installation is stopped. The next start begins it again.\n");
    await until(() => !pids().some(isAlive));
    expect(existsSync(join(house, ".node/installing"))).toBe(false);
    npmInstalls(INSTALLED.packages);
    expect(run("hello.ts").stderr).toContain("nothing is installed yet");
  });

  it("ends with a start that is killed", async () => {
    slowNpm("");
    const { child, ended } = start();
    await until(() => existsSync(join(house, "npm-pid")));
    child.kill("SIGKILL");
    await ended;
    await until(() => !pids().some(isAlive));
    // The lock that the killed one has left keeps no start out.
    npmInstalls(INSTALLED.packages);
    expect(run("hello.ts").status).toBe(7);
  });

  it("is waited for by a second start, which then needs none", async () => {
    write("record.json", INSTALLED);
    writeNpm(
      `: > "${house}/begun"\nwhile [ ! -e "${house}/go-on" ]; do sleep 0.05; done\n` +
        `mkdir -p node_modules; cp "${house}/record.json" node_modules/.package-lock.json`,
    );
    const first = start();
    await until(() => existsSync(join(house, "begun")));
    const second = start();
    await until(() => second.stderr().includes("\n"));
    expect(second.stderr()).toBe(
      `Another start installs packages here (process ${first.child.pid}): waiting until it is done. Ctrl-C ends this one.\n`,
    );
    const third = start();
    await until(() => third.stderr().includes("\n"));
    third.child.kill("SIGINT");
    expect(await third.ended).toEqual([null, "SIGINT"]);
    writeFileSync(join(house, "go-on"), "");
    expect([await first.ended, await second.ended]).toEqual([
      [7, null],
      [7, null],
    ]);
    expect(npmCalls().split("\n")).toHaveLength(2);
  });
});

describe("the file", () => {
  beforeEach(() => write("node_modules/.package-lock.json", INSTALLED));

  it("gets its arguments, its Node and the project's commands first on PATH, and quiet tools; its exit code is passed on", () => {
    const { status, stdout } = run("hello.ts", "a", "--b");
    expect(status).toBe(7);
    const path = [dirname(process.execPath), join(house, "node_modules/.bin")];
    expect(JSON.parse(stdout)).toEqual({ args: ["a", "--b"], path, metrics: "false" });
  });

  it("may be the command of a package, which runs on the same Node", () => {
    const bin = { tool: "bin/tool.js" };
    write("package-lock.json", { packages: { "node_modules/a": { ...INSTALLED.packages["node_modules/a"], bin } } });
    mkdirSync(join(house, "node_modules/a/bin"), { recursive: true });
    writeFileSync(
      join(house, "node_modules/a/bin/tool.js"),
      "console.log(process.execPath, ...process.argv.slice(2)); process.exit(3);\n",
    );
    const { status, stdout } = run("--tool", "tool", "--in-callers-folder", "a");
    expect([status, stdout]).toEqual([3, `${process.execPath} --in-callers-folder a\n`]);
    expect(run("--tool", "none").stderr).toBe("No package has a command none.\n");
  });

  it("runs in the folder of the caller where it takes paths, and else where it was started", () => {
    writeFileSync(join(house, "where.ts"), "console.log(process.cwd());");
    const where = (variables: Record<string, string>, ...args: string[]) =>
      spawnSync(process.execPath, [join(house, "src/host/run.mjs"), ...args], {
        env: { ...env(), ...variables },
        cwd: house,
        encoding: "utf8",
      }).stdout.trim();
    const top = realpathSync(house);
    const caller = realpathSync(join(house, "bin"));
    expect(where({ INIT_CWD: caller }, "--in-callers-folder", "where.ts")).toBe(caller);
    expect(where({ INIT_CWD: "" }, "--in-callers-folder", "where.ts")).toBe(top);
    expect(where({ INIT_CWD: caller }, "where.ts")).toBe(top);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const marked = Object.keys(scripts).filter((name) => scripts[name].includes("--in-callers-folder"));
    expect(marked).toEqual(["start", "dev", "waybill", "publish"]);
  });

  it("gets the signals that its runner gets", async () => {
    writeFileSync(
      join(house, "wait.ts"),
      `process.on("SIGINT", () => process.exit(5)); setInterval(() => {}, 1000); console.log("waiting");`,
    );
    const child = spawn(process.execPath, [join(house, "src/host/run.mjs"), "wait.ts"], { env: env() });
    child.stdout.once("data", () => child.kill("SIGINT"));
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(5);
  });

  it.each(["exec", "start", "run-script"])(
    "ends with the shell of npm %s, which hands no signal on",
    async (command) => {
      writeFileSync(
        join(house, "wait.ts"),
        `process.on("SIGTERM", () => { console.log("stopped"); process.exit(); }); setInterval(() => {}, 1000); console.log("waiting");`,
      );
      const script = `"${process.execPath}" "${join(house, "src/host/run.mjs")}" wait.ts; true`;
      const shell = spawn("sh", ["-c", script], { env: { ...env(), npm_command: command } });
      let text = "";
      await new Promise<void>((resolve) => {
        shell.stdout.on("data", (chunk: Buffer) => {
          if (text === "") shell.kill("SIGTERM");
          text += chunk.toString();
        });
        shell.stdout.once("end", resolve);
      });
      expect(text).toBe("waiting\nstopped\n");
    },
  );

  it("must be named", () => {
    const { status, stderr } = run();
    expect(status).toBe(1);
    expect(stderr).toContain("usage");
  });
});

describe("an old Node", () => {
  // Stands in for an old Node: the runner believes what `process.versions` says.
  const runOn = (version: string, ...args: string[]) => {
    const claim = `Object.defineProperty(process.versions, "node", { value: "${version}" });`;
    writeFileSync(join(house, "old.mjs"), claim);
    const old = ["--import", join(house, "old.mjs"), join(house, "src/host/run.mjs"), ...args];
    return spawnSync(process.execPath, old, { env: env(), encoding: "utf8" });
  };
  const name = `node-${process.platform}-${process.arch}`;
  const locked = { [`node_modules/${name}`]: { version: "24.0.0", integrity: "sha512-n", optional: true } };
  const folder = `.node/node_modules/${name}/bin`;
  beforeEach(() => {
    write("node_modules/.package-lock.json", INSTALLED);
    write(".node/package-lock.json", { packages: locked });
  });

  it("starts the Node of this machine's package for tests, which is installed once", () => {
    write("node.json", { packages: locked });
    writeNpm(
      `mkdir -p "node_modules/${name}/bin"; ln -s "${process.execPath}" "node_modules/${name}/bin/node"
       cp "${house}/node.json" node_modules/.package-lock.json`,
    );
    const { status, stdout, stderr } = runOn("20.20.2", "hello.ts", "a");
    expect(stderr).toMatch(/^Installing a newer Node for tests and tools \(this is 20\.20\.2\)\.\nAbout \d+ MB/);
    expect(status).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({ path: [join(house, folder), join(house, "node_modules/.bin")] });
    expect(runOn("20.20.2", "hello.ts").stderr).toBe("");
    expect(npmCalls()).toBe(
      `ci --include=optional --ignore-scripts --no-audit --no-fund --loglevel=error --no-progress\n`,
    );
  });

  it("runs the product itself, and reads TypeScript by esbuild, in processes that it starts as well", () => {
    symlinkSync(join(ROOT, "node_modules/esbuild"), join(house, "node_modules/esbuild"));
    writeFileSync(
      join(house, "outer.ts"),
      `import { spawnSync } from "node:child_process";
       enum Not { erasable = 7 }
       console.log(Not.erasable);
       spawnSync(process.execPath, [new URL("hello.ts", import.meta.url).pathname.replaceAll("%20", " ")], { stdio: "inherit" });`,
    );
    const { stdout, stderr } = runOn("20.20.2", "--product", "outer.ts");
    // Node alone refuses an enum, so esbuild has read it.
    expect([stderr, stdout.split("\n")[0]]).toEqual(["", "7"]);
    expect(JSON.parse(stdout.split("\n")[1] ?? "")).toMatchObject({ args: [], path: [dirname(process.execPath), {}] });
    expect(npmCalls()).toBe("");
  });

  it("that is older than any that runs Waybill is told so, and nothing is installed", () => {
    rmSync(join(house, "node_modules"), { recursive: true });
    for (const args of [["hello.ts"], ["--product", "hello.ts"], ["--tool", "tsc"]]) {
      const { status, stderr } = runOn("18.20.8", ...args);
      expect([status, stderr]).toEqual([
        1,
        "Waybill needs Node 20.19 or later; this is 18.20.8. Nothing was installed: install Node 24 from nodejs.org or with your version manager, then try again.\n",
      ]);
    }
    expect(npmCalls()).toBe("");
  });

  it.each([
    ["has no loader, as with musl", "#!/lib/ld-of-no-machine.so\n", 0o755, "it needs glibc"],
    ["fails by its loader", "#!/bin/sh\necho 'no GLIBC_2.28' >&2\nexit 1\n", 0o755, "no GLIBC_2.28"],
    ["says nothing", "#!/bin/sh\nexit 3\n", 0o755, "exit code 3"],
    ["may not be executed", "", 0o644, "EACCES"],
  ])("says why the package's Node does not start when it %s", (_, program, mode, why) => {
    write(".node/node_modules/.package-lock.json", { packages: locked });
    mkdirSync(join(house, folder), { recursive: true });
    writeFileSync(join(house, folder, "node"), program, { mode });
    const { status, stderr } = runOn("20.20.2", "hello.ts");
    expect([status, npmCalls()]).toEqual([1, ""]);
    expect(stderr).toContain("Tests, tools and deployment need Node 22.18 or later; this is 20.20.2.");
    expect(stderr).toContain(why);
    expect(stderr).toContain(`The one of the package ${name} does not start here`);
  });

  it("says that npm skipped the package, and how to see why", () => {
    const { status, stderr } = runOn("20.20.2", "hello.ts");
    expect(status).toBe(1);
    expect(stderr).toContain(
      `The one of the package ${name} was not downloaded: run \`npm ci --prefix .node --include=optional --loglevel=http\` where npm reaches its registry, or install Node 24`,
    );
  });

  it("is met by no script that leaves the choice of Node to PATH, or that only a POSIX shell can run", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const commands = Object.values(scripts).flatMap((script) => script.split(" && "));
    expect(commands.filter((command) => !/^(?:exec )?node src\/host\/run\.mjs [\w ./:-]+$/.test(command))).toEqual([]);
    // npm runs scripts in the top folder, where cmd.exe looks for programs first.
    expect(readFileSync(join(ROOT, "exec.cmd"), "utf8")).toMatch(/^@rem .*\r\n@%\*\r\n$/);
  });
});

describe("the sample of docs/start.md", () => {
  it("runs as the page says", () => {
    const page = readFileSync(join(ROOT, "docs/start.md"), "utf8");
    const [, runner = ""] = /`node ([\w ./-]+) sample\.ts`/.exec(page) ?? [];
    const [, code = ""] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
    const sample = join(house, "sample.ts");
    writeFileSync(sample, code.replaceAll('"./', `"${ROOT}`));
    const { stdout } = spawnSync(process.execPath, [...runner.split(" "), relative(ROOT, sample)], {
      cwd: ROOT,
      encoding: "utf8",
    });
    expect(stdout).toContain("mintedAt: 1730616064560");
  });
});
