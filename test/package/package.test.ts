import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire, SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as hostParts from "../../src/host/parts.ts";
import { brokenLinks } from "../rules/links.ts";
import { filesOf, findNode20, type Packed, packOnce, ROOT, scriptsIn } from "./packed.ts";

/** The packages as strangers get them, without the network. */

/** The console is a quarter of it: its pages in files of their own, and its fonts. */
const BYTES_MAX = 2 * 1000 * 1000;
const NAMES = ["waybill", "waybill-ids", "create-waybill"] as const;

let project: string;
let packages: readonly Packed[];
const packed = (name: Packed["name"]): Packed => packages.find((each) => each.name === name) as Packed;

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "waybill-package-"));
  packages = await packOnce();
  // As npm would install it; workerd is a link.
  const modules = join(project, "node_modules");
  mkdirSync(modules);
  cpSync(packed("waybill").folder, join(modules, "waybill"), { recursive: true });
  for (const name of ["workerd", "@stablelib"]) symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  cpSync(join(ROOT, "routing-table.json"), join(project, "routing-table.json"));
}, 180_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Names that a build makes anew are cut; of many parts one stands for all. */
const nameOf = (path: string): string =>
  path
    .replace(/^dist\/cli\/(?!main\.js$|table\.js$)[\w.-]+\.js$/, "dist/cli/<part>.js")
    .replace(/^dist\/worker\/(?!index\.js|objects\.js|core\.js)[\w.-]+?\.js(\.map)?$/, "dist/worker/<part>.js$1")
    .replace(/^dist\/console\/[\w.-]+\.(\w+)\.gz$/, "dist/console/<part>.$1.gz")
    .replace(/^dist\/(ids|origin|proxy|formats)\/.+?(\.d\.ts|\.js)$/, "dist/$1/<module>$2")
    .replace(/^templates\/([\w-]+)\/.+$/, "templates/$1/<file>")
    .replace(/^docs\/.+\.(\w+)$/, "docs/<page>.$1");

describe.each(NAMES)("%s", (name) => {
  it("has these files and no others", async () => {
    const files = [...new Set(filesOf(packed(name)).map(nameOf))].toSorted();
    await expect(`${files.join("\n")}\n`).toMatchFileSnapshot(`files/${name}.txt`);
  });

  it("names no path of the machine that packed it", () => {
    const { folder } = packed(name);
    const naming = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => {
      if (!statSync(join(folder, path)).isFile() || path.endsWith(".gz")) return false;
      const text = readFileSync(join(folder, path), "utf8");
      return [ROOT, dirname(process.execPath), dirname(folder)].some((place) =>
        text.includes(place.replace(/\/$/, "")),
      );
    });
    expect(naming).toEqual([]);
  });

  it("has documents whose links lead to a file of it, and to a heading there", () => {
    const { folder } = packed(name);
    const pages = filesOf(packed(name)).filter((path) => path.endsWith(".md"));
    expect(pages).toContain("README.md");
    expect(pages.flatMap((page) => brokenLinks(folder, page))).toEqual([]);
  });

  it("is small", () => expect(statSync(packed(name).tarball).size).toBeLessThan(BYTES_MAX));

  it("has no fault that publint knows", async () => {
    const contents = readFileSync(packed(name).tarball);
    const tarball = contents.buffer.slice(contents.byteOffset, contents.byteOffset + contents.byteLength);
    expect(await publint({ pack: { tarball: tarball as ArrayBuffer }, strict: true })).toMatchObject({ messages: [] });
  });
});

describe.each(["waybill", "waybill-ids"] as const)("the types of %s", (name) => {
  it("are found by every reader of ECMAScript modules", () => {
    const attw = join(
      dirname(createRequire(import.meta.url).resolve("@arethetypeswrong/cli/package.json")),
      "dist/index.js",
    );
    const options = ["--profile", "esm-only", "--no-definitely-typed", "--format", "json"];
    const { status, stdout } = spawnSync(process.execPath, [attw, packed(name).tarball, ...options], {
      encoding: "utf8",
    });
    expect(status, stdout).toBe(0);
  });
});

describe("the command", () => {
  const NODES = { "this Node": process.execPath, "Node 20": findNode20() };
  const program = () => join(project, "node_modules/waybill/dist/cli/main.js");
  // The runner of tests asks for colours.
  const env = { ...process.env, FORCE_COLOR: undefined };
  const run = (node: string, ...args: readonly string[]) =>
    spawnSync(node, [program(), ...args], { cwd: project, encoding: "utf8", env });

  describe.each(Object.entries(NODES))("on %s", (_, node = "") => {
    it.skipIf(node === "")("prints its version", () => {
      expect(run(node, "--version")).toMatchObject({ status: 0, stdout: `${hostParts.version}\n`, stderr: "" });
    });

    it.skipIf(node === "")("checks a table, and explains an ID by it", () => {
      expect(run(node, "table", "check", "routing-table.json")).toMatchObject({ status: 0, stderr: "" });
      const { stdout } = run(node, "explain", "--url", "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d78");
      expect(stdout).toMatch(/→ order → eu$/m);
    });

    it.skipIf(node === "")("lists the faults of a table", () => {
      writeFileSync(join(project, "faulty.json"), '{ "regions": {} }');
      const { status, stdout } = run(node, "table", "check", "faulty.json");
      expect(status).toBe(1);
      expect(stdout).toContain("faulty.json:1:");
    });
  });

  /** KB of the package's own code that a run loads, by V8's own account. */
  const loadedKb = (...args: readonly string[]): number => {
    const coverage = mkdtempSync(join(project, "coverage-"));
    spawnSync(process.execPath, [program(), ...args], { cwd: coverage, env: { ...env, NODE_V8_COVERAGE: coverage } });
    const files = readdirSync(coverage).flatMap((name) => {
      const { result }: { result: readonly { url: string }[] } = JSON.parse(readFileSync(join(coverage, name), "utf8"));
      return result.map(({ url }) => url).filter((url) => url.includes("/waybill/dist/cli/"));
    });
    return Math.round(files.reduce((bytes, url) => bytes + statSync(fileURLToPath(url)).size, 0) / 1000);
  };

  it.each([
    [["--version"], 2],
    [["--help"], 80],
    [["table", "--help"], 80],
    [["tabel"], 80],
    [["complete", "--", "table", "ch"], 160],
    [["health", "http://127.0.0.1:9"], 100],
    [["layout", "hotguid"], 120],
    [["id", "check", "0192f0c1-7a30-8005-8040-8f3b2a1c9d78"], 180],
    [["mint", "ulid"], 240],
  ])("loads for %j what it runs, at most %i KB", (args, kb) => {
    const loaded = loadedKb(...args);
    expect(loaded).toBeGreaterThan(0);
    expect(loaded).toBeLessThanOrEqual(kb);
  });

  it("loads more for what needs a table", () => {
    expect(loadedKb("table", "check", join(project, "routing-table.json"))).toBeGreaterThan(250);
  });

  it("says how to get wrangler where a project has none", () => {
    writeFileSync(join(project, "wrangler.toml"), 'name = "a"\n');
    const { status, stderr } = run(process.execPath, "config", "check", "wrangler.toml");
    expect(status).toBe(1);
    expect(stderr).toContain("npm install --save-dev wrangler");
  });

  it("builds a table and serves it, without a bundler", async () => {
    const node = findNode20() ?? process.execPath;
    expect(run(node, "build", "--out", "build")).toMatchObject({ status: 0 });
    const serve = ["serve", "build", "--listen", "127.0.0.1:0", "--state", "state"];
    const gateway = spawn(node, [program(), ...serve], { cwd: project, env, stdio: ["ignore", "ignore", "pipe"] });
    try {
      const url = await readyAt(gateway);
      const answer = await fetch(`${url}/-/ready`, { headers: { accept: "application/json" } });
      expect(answer.status).toBe(200);
      // The package has compressed files alone; a build has both forms.
      const assets = readdirSync(join(project, "build/console"));
      const compressed = assets.filter((name) => name.endsWith(".gz"));
      expect(assets.toSorted()).toEqual(
        [...compressed, ...compressed.map((name) => name.slice(0, -3)), "shell.html"].toSorted(),
      );
    } finally {
      gateway.kill("SIGTERM");
      await once(gateway, "exit");
    }
  });

  it("imports packages that are installed with it, and no others", () => {
    const imported = ["waybill", "create-waybill"].flatMap((name) =>
      scriptsIn(join(packed(name as Packed["name"]).folder, "dist/cli")).flatMap(([, text]) => importsIn(text)),
    );
    const bare = new Set(imported.filter((specifier) => !/^(?:\.\/|node:)/.test(specifier)));
    // The first three stand in the text of the Worker that `waybill prepare` writes for a project without one.
    const written = ["../routing-table.json", "waybill/worker", "waybill/worker/objects"];
    expect([...bare].toSorted()).toEqual([...written, "wrangler"]);
  });
});

async function readyAt({ stderr }: ChildProcess): Promise<string> {
  if (stderr === null) throw new Error("the gateway's messages are not read");
  for await (const line of createInterface({ input: stderr })) {
    const [, url] = /^ready (\S+),/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the gateway ended");
}

const importsIn = (text: string): readonly string[] =>
  ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);

describe("the modules of the Worker", () => {
  it.each([
    ["edge-machines-calls", "no state node answered a moment ago", "src/edge/machines/calls.ts"],
    ["edge-machines-calls", "no state node answers", "src/edge/machines/calls.ts"],
  ])("%s: a trace finds the line of %s", (name, text, file) => {
    const folder = join(packed("waybill").folder, "dist/worker");
    const code = readFileSync(join(folder, `${name}.js`), "utf8").split("\n");
    const line = code.findIndex((each) => each.includes(text));
    const map = new SourceMap(JSON.parse(readFileSync(join(folder, `${name}.js.map`), "utf8")));
    const entry = map.findEntry(line, code[line]?.indexOf(text) ?? -1);
    expect(entry).toMatchObject({ originalSource: file });
    const own = readFileSync(join(ROOT, file), "utf8").split("\n");
    expect(own["originalLine" in entry ? entry.originalLine : -1]).toContain(text);
  });
});

describe("the exports", () => {
  it("load in a plain Node, but for those that need the Workers runtime", () => {
    const { manifest } = packed("waybill");
    const names = Object.entries(manifest.exports ?? {}).flatMap(([name, target]) =>
      typeof target === "string" || name.startsWith("./worker") ? [] : [name.replace(".", "waybill")],
    );
    expect(names).toEqual(["waybill/table", "waybill/ids", "waybill/ids/public", "waybill/origin"]);
    const program = names.map((name) => `console.log(Object.keys(await import("${name}")).length > 0);`).join("\n");
    writeFileSync(join(project, "imports.mjs"), program);
    const node = findNode20() ?? process.execPath;
    const printed = execFileSync(node, ["imports.mjs"], { cwd: project, encoding: "utf8" });
    expect(printed.trimEnd().split("\n")).toEqual(names.map(() => "true"));
  });

  it("of the table library do what the page says", () => {
    const page = readFileSync(join(ROOT, "docs/reference/table-library.md"), "utf8");
    const example = /```js\n(.*?)```/s.exec(page)?.[1] ?? "";
    const expected = [...example.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
    expect(expected.length).toBeGreaterThan(4);
    writeFileSync(join(project, "faulty.json"), '{ "regions": {} }');
    const examples = [{ path: "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d78", region: "eu" }];
    writeFileSync(join(project, "examples.json"), JSON.stringify({ examples }));
    writeFileSync(join(project, "example.mjs"), example);
    const printed = execFileSync(findNode20() ?? process.execPath, ["example.mjs"], { cwd: project, encoding: "utf8" });
    expect(printed.trimEnd().split("\n")).toEqual(expected);
  });

  it("of the ID library bring no runtime", () => {
    expect(Object.keys(packed("waybill-ids").manifest.dependencies ?? {})).toEqual([
      "@stablelib/aes",
      "@stablelib/cmac",
    ]);
    const { dependencies } = packed("waybill").manifest;
    expect(dependencies).toMatchObject(packed("waybill-ids").manifest.dependencies ?? {});
  });
});

describe("the licences", () => {
  it("are there for each package that is bundled, with a text", () => {
    const text = readFileSync(join(packed("waybill").folder, "THIRD-PARTY-LICENSES.txt"), "utf8");
    const parts = text.split(/^-{80}\n/m).slice(1);
    const names = parts.map((part) => /^(\S+) (?:\d+\.\d+\.\d+\S*|fonts) \([\w.-]+\)\n\n\S/.exec(part)?.[1]);
    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(
      expect.arrayContaining([
        "@codemirror/view",
        "Geist",
        "commander",
        "graphql",
        "hono",
        "jose",
        "preact",
        "valibot",
      ]),
    );
    // Tools must not be in it.
    expect(names).not.toEqual(expect.arrayContaining(["rolldown"]));
    for (const part of parts) expect(part).toMatch(/copyright/i);
  });
});
