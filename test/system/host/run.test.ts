import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
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

/** A house with one package in its lock file, and an npm that only notes that it was called. */
let house: string;
beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), "waybill-run-"));
  mkdirSync(join(house, "src/host"), { recursive: true });
  mkdirSync(join(house, "bin"));
  copyFileSync(RUN, join(house, "src/host/run.mjs"));
  write("package-lock.json", LOCK);
  writeFileSync(
    join(house, "bin/npm"),
    `#!/bin/sh\necho "$@" >> "${house}/npm-calls"\n[ ! -e "${house}/npm-fails" ]\n`,
  );
  chmodSync(join(house, "bin/npm"), 0o755);
  writeFileSync(
    join(house, "hello.ts"),
    `const args: string[] = process.argv.slice(2);
     console.log(JSON.stringify({ args, path: process.env.PATH?.split(":").slice(0, 2), metrics: process.env.WRANGLER_SEND_METRICS }));
     process.exitCode = 7;`,
  );
});
afterEach(() => rmSync(house, { recursive: true }));

function write(name: string, content: unknown): void {
  mkdirSync(join(house, name, ".."), { recursive: true });
  writeFileSync(join(house, name), JSON.stringify(content));
}

const env = () => ({ ...process.env, PATH: `${join(house, "bin")}${delimiter}${process.env["PATH"]}` });

const run = (...args: string[]) =>
  spawnSync(process.execPath, [join(house, "src/host/run.mjs"), ...args], { env: env(), encoding: "utf8" });

const npmCalls = () => (existsSync(join(house, "npm-calls")) ? readFileSync(join(house, "npm-calls"), "utf8") : "");

describe("what is missing", () => {
  it.each([
    ["nothing is installed", undefined, "nothing is installed yet"],
    [
      "another version is installed",
      { ...INSTALLED.packages["node_modules/a"], version: "0.9.0" },
      "a is not at version",
    ],
    [
      "another build is installed",
      { ...INSTALLED.packages["node_modules/a"], integrity: "sha512-x" },
      "a is not at version",
    ],
  ])("is installed when %s", (_, found, reason) => {
    if (found !== undefined) write("node_modules/.package-lock.json", { packages: { "node_modules/a": found } });
    expect(run("hello.ts").stderr).toContain(reason);
    expect(npmCalls()).toBe("ci --include=optional\n");
  });

  it("is installed when a package is no longer in package-lock.json", () => {
    const packages = { ...INSTALLED.packages, "node_modules/old": { version: "1.0.0" } };
    write("node_modules/.package-lock.json", { packages });
    expect(run("hello.ts").stderr).toContain("old is no longer in package-lock.json");
    expect(npmCalls()).toBe("ci --include=optional\n");
  });

  it("is nothing when all is there but what is for other machines", () => {
    write("node_modules/.package-lock.json", INSTALLED);
    expect(run("hello.ts").stderr).toBe("");
    expect(npmCalls()).toBe("");
  });

  it("that cannot be installed stops the run with npm's failure", () => {
    writeFileSync(join(house, "npm-fails"), "");
    const { status, stderr, stdout } = run("hello.ts");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("npm ci failed");
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

  it("may be a tool of a package, which runs on the same Node", () => {
    mkdirSync(join(house, "node_modules/.bin"), { recursive: true });
    const tool = join(house, "node_modules/.bin/tool");
    writeFileSync(
      tool,
      "#!/usr/bin/env node\nconsole.log(process.execPath, ...process.argv.slice(2)); process.exit(3);\n",
    );
    chmodSync(tool, 0o755);
    const { status, stdout } = run("--tool", "tool", "--in-callers-folder", "a");
    expect([status, stdout]).toEqual([3, `${process.execPath} --in-callers-folder a\n`]);
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

  it("ends with a shell of npx, which hands no signal on", async () => {
    writeFileSync(
      join(house, "wait.ts"),
      `process.on("SIGTERM", () => { console.log("stopped"); process.exit(); }); setInterval(() => {}, 1000); console.log("waiting");`,
    );
    const command = `"${process.execPath}" "${join(house, "src/host/run.mjs")}" wait.ts; true`;
    const shell = spawn("sh", ["-c", command], { env: { ...env(), npm_command: "exec" } });
    let text = "";
    await new Promise<void>((resolve) => {
      shell.stdout.on("data", (chunk: Buffer) => {
        if (text === "") shell.kill("SIGTERM");
        text += chunk.toString();
      });
      shell.stdout.once("end", resolve);
    });
    expect(text).toBe("waiting\nstopped\n");
  });

  it("must be named", () => {
    const { status, stderr } = run();
    expect(status).toBe(1);
    expect(stderr).toContain("usage");
  });
});

describe("an old Node", () => {
  // Stands in for Node 20: the runner believes what `process.versions` says.
  const asNode20 = `Object.defineProperty(process.versions, "node", { value: "20.20.2" });`;
  const folder = `node_modules/node-${process.platform}-${process.arch}/bin`;
  const runOld = (...args: string[]) => {
    writeFileSync(join(house, "old.mjs"), asNode20);
    return spawnSync(process.execPath, ["--import", join(house, "old.mjs"), join(house, "src/host/run.mjs"), ...args], {
      env: env(),
      encoding: "utf8",
    });
  };
  beforeEach(() => write("node_modules/.package-lock.json", INSTALLED));

  it("starts the Node of this machine's package, which npm 10 links nowhere", () => {
    mkdirSync(join(house, folder), { recursive: true });
    symlinkSync(process.execPath, join(house, folder, "node"));
    const { status, stdout } = runOld("hello.ts", "a");
    expect(status).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({
      args: ["a"],
      path: [join(house, folder), join(house, "node_modules/.bin")],
    });
  });

  const NAME = `node-${process.platform}-${process.arch}`;
  const OWN = "Waybill needs Node 22.18 or later; this is 20.20.2.";
  const INSTALL = "install Node 24 from nodejs.org or with your version manager, then try again.";
  const lockPackage = () => {
    const own = { [`node_modules/${NAME}`]: { version: "24.0.0", integrity: "sha512-n", optional: true } };
    write("package-lock.json", { packages: { ...LOCK.packages, ...own } });
  };

  it("says that no package has a newer one for this machine", () => {
    const { status, stderr } = runOld("hello.ts");
    expect([status, stderr]).toEqual([
      1,
      `${OWN} No package has one for ${process.platform} on ${process.arch}: ${INSTALL}\n`,
    ]);
  });

  it("says that npm skipped the package that has a newer one, and how to see why", () => {
    lockPackage();
    const { status, stderr } = runOld("hello.ts");
    expect([status, npmCalls()]).toEqual([1, ""]);
    expect(stderr).toContain(`${OWN} npm did not install the package that has one, ${NAME}: its download failed, or`);
    expect(stderr).toContain(
      "Run `npm ci --include=optional --loglevel=http` where npm reaches its registry, or install",
    );
  });

  it.each([
    ["has no loader, as with musl", "#!/lib/ld-of-no-machine.so\n", "it needs glibc"],
    [
      "fails by its loader",
      "#!/bin/sh\necho 'libc.so.6: version GLIBC_2.28 not found' >&2\nexit 1\n",
      "libc.so.6: version",
    ],
    ["says nothing", "#!/bin/sh\nexit 3\n", "exit code 3"],
  ])("says why the package's Node does not start when it %s", (_, program, why) => {
    lockPackage();
    mkdirSync(join(house, folder), { recursive: true });
    writeFileSync(join(house, folder, "node"), program, { mode: 0o755 });
    const { status, stderr } = runOld("hello.ts");
    expect(status).toBe(1);
    expect(stderr).toContain(`${OWN} The one of the package ${NAME} does not start here (${why}`);
    expect(stderr).toContain(INSTALL);
  });

  it("may not be executed", () => {
    lockPackage();
    mkdirSync(join(house, folder), { recursive: true });
    writeFileSync(join(house, folder, "node"), "", { mode: 0o644 });
    expect(runOld("hello.ts").stderr).toContain("EACCES");
  });

  it("is met by no script that leaves the choice of Node to PATH", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const commands = Object.values(scripts).flatMap((script) => script.split(" && "));
    expect(commands.filter((command) => !/^(?:exec )?node src\/host\/run\.mjs /.test(command))).toEqual([]);
  });
});

describe("the sample of docs/start.md", () => {
  it("runs as the page says", () => {
    const page = readFileSync(join(ROOT, "docs/start.md"), "utf8");
    const [, runner = ""] = /`node (\S+) sample\.ts`/.exec(page) ?? [];
    const [, code = ""] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
    const sample = join(house, "sample.ts");
    writeFileSync(sample, code.replaceAll('"./', `"${ROOT}`));
    const { stdout } = spawnSync(process.execPath, [join(ROOT, runner), relative(ROOT, sample)], { encoding: "utf8" });
    expect(stdout).toContain("mintedAt: 1730616064560");
  });
});
