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
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const RUN = fileURLToPath(new URL("../../../src/host/run.mjs", import.meta.url));

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
     console.log(JSON.stringify({ args, path: process.env.PATH?.split(":")[0], metrics: process.env.WRANGLER_SEND_METRICS }));
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
    expect(npmCalls()).toBe("ci\n");
  });

  it("is installed when a package is no longer in package-lock.json", () => {
    const packages = { ...INSTALLED.packages, "node_modules/old": { version: "1.0.0" } };
    write("node_modules/.package-lock.json", { packages });
    expect(run("hello.ts").stderr).toContain("old is no longer in package-lock.json");
    expect(npmCalls()).toBe("ci\n");
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

  it("gets its arguments, the project's commands first on PATH, and quiet tools; its exit code is passed on", () => {
    const { status, stdout } = run("hello.ts", "a", "--b");
    expect(status).toBe(7);
    const path = join(house, "node_modules/.bin");
    expect(JSON.parse(stdout)).toEqual({ args: ["a", "--b"], path, metrics: "false" });
  });

  it("runs in the folder of the caller where it takes paths, and else where it was started", () => {
    writeFileSync(join(house, "where.ts"), "console.log(process.cwd());");
    const where = (variables: Record<string, string>, ...args: string[]) =>
      spawnSync(process.execPath, [join(house, "src/host/run.mjs"), ...args], {
        env: { ...env(), ...variables },
        cwd: house,
        encoding: "utf8",
      }).stdout.trim();
    const [top, caller] = [realpathSync(house), realpathSync(join(house, "bin"))];
    expect(where({ INIT_CWD: caller }, "--in-callers-folder", "where.ts")).toBe(caller);
    expect(where({ INIT_CWD: "" }, "--in-callers-folder", "where.ts")).toBe(top);
    expect(where({ INIT_CWD: caller }, "where.ts")).toBe(top);
    const { scripts } = JSON.parse(
      readFileSync(fileURLToPath(new URL("../../../package.json", import.meta.url)), "utf8"),
    );
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

describe("the sample of docs/start.md", () => {
  it("runs on the Node that the page names", () => {
    const root = fileURLToPath(new URL("../../../", import.meta.url));
    const page = readFileSync(join(root, "docs/start.md"), "utf8");
    const [, node = ""] = /`(\S+\/node) sample\.ts`/.exec(page) ?? [];
    const [, code = ""] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
    const { stdout } = spawnSync(join(root, node), ["--input-type=module-typescript", "-e", code], {
      cwd: root,
      encoding: "utf8",
    });
    expect(stdout).toContain("mintedAt: 1730616064560");
  });
});
