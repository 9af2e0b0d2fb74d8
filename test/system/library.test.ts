import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as ids from "../../src/ids/index.ts";
import * as publicIds from "../../src/ids/public/index.ts";
import * as origin from "../../src/origin/index.ts";

/** The library as a stranger gets it: built, packed, unpacked in a folder of its own, without the network. */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** A user's cost, minified and gzipped, of reading one layout. */
const PARSE_BYTES_MAX = 3072;
const MODULES: Readonly<Record<string, object>> = {
  "@waybill/ids": ids,
  "@waybill/ids/public": publicIds,
  "@waybill/ids/origin": origin,
};

let project: string;
let library: string;
let tarball: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "waybill-library-"));
  const built = join(project, "built");
  node("src/host/run.mjs", "src/package/pack.ts", "--only", "@waybill/ids", "--out", built);
  tarball = join(built, readdirSync(built).find((name) => name.endsWith(".tgz")) ?? "");
  library = join(project, "node_modules", "@waybill", "ids");
  mkdirSync(library, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", library, "--strip-components", "1"]);
});
afterAll(() => rmSync(project, { recursive: true }));

describe("the package", () => {
  it("has no fault that publint knows", async () => {
    const contents = readFileSync(tarball);
    const tarballBytes = contents.buffer.slice(contents.byteOffset, contents.byteOffset + contents.byteLength);
    expect(await publint({ pack: { tarball: tarballBytes as ArrayBuffer }, strict: true })).toMatchObject({
      messages: [],
    });
  });

  it("has types that every reader of ECMAScript modules finds", () => {
    const attw = join(dirname(resolve("@arethetypeswrong/cli/package.json")), "dist", "index.js");
    const options = ["--profile", "esm-only", "--no-definitely-typed", "--format", "json"];
    const { status, stdout } = spawnSync(process.execPath, [attw, tarball, ...options], { encoding: "utf8" });
    expect(status, stdout).toBe(0);
    expect(Object.keys(JSON.parse(stdout).analysis.entrypoints)).toEqual([
      ".",
      "./public",
      "./origin",
      "./package.json",
    ]);
  });

  it("compiles into a program without any platform's types", () => {
    const program = `
      import { iuid, type Result, startIuid, type Words } from "@waybill/ids";
      import { keyRing } from "@waybill/ids/public";
      import { type RequestLike, verifyRequest, waybillOrigin } from "@waybill/ids/origin";
      export const middleware = waybillOrigin({ keys: [] });
      export const verified = (request: RequestLike) => verifyRequest(request, { keys: [], regions: ["eu"] });
      export const words: Result<Words, { readonly reason: string }> = iuid.parse("");
      export const reasons = [startIuid({ country: 1, service: 1 }), keyRing([])].map((made) => (made.ok ? "" : made.error.reason));
    `;
    writeFileSync(join(project, "program.mts"), program);
    expect(typeFaults(["program.mts", "--lib", "es2023"])).toBe("");
  });

  it("depends on a block of AES, from the public IDs alone", async () => {
    const manifest: { dependencies: object } = JSON.parse(readFileSync(join(library, "package.json"), "utf8"));
    expect(Object.keys(manifest.dependencies)).toEqual(["@stablelib/aes", "@stablelib/cmac"]);
    expect(await importsOf("@waybill/ids")).toEqual([]);
    expect(await importsOf("@waybill/ids/origin")).toEqual([]);
    expect(await importsOf("@waybill/ids/public")).toEqual(["@stablelib/aes", "@stablelib/cmac"]);
  });

  it.each(Object.entries(MODULES))(
    "%s loads in a bare ECMAScript realm: nothing of Node, of Workers or of a browser",
    async (name, sources) => {
      installCipher();
      const code = await bundled(`export * from "${name}";`, { format: "iife", globalName: "library" });
      const realm = runInNewContext(`${code}; Object.keys(library)`);
      expect([...realm].toSorted()).toEqual(Object.keys(sources).toSorted());
    },
  );

  it("makes IDs in a realm without crypto, of the words that it is given", async () => {
    const code = await bundled(
      'import { startMinter, mintNext, ulid } from "@waybill/ids"; const { value } = startMinter(ulid, {});' +
        "text = ulid.format(mintNext(value, 1469922850259, { word: () => 1 }).value.words);",
      { format: "iife" },
    );
    expect(runInNewContext(`let text; ${code}; text + typeof crypto`)).toMatch(/^01ARZ3NDEK[0-9A-Z]{16}undefined$/);
  });
});

it("mints strings with the crypto of any platform, and says what to do without", async () => {
  const code = await bundled(
    'import { createMinter, iuid } from "@waybill/ids"; const mint = createMinter({ layout: iuid, country: 5, service: 1 });' +
      "id = mint() + mint();",
    { format: "iife" },
  );
  // As react-native-get-random-values leaves it: nothing else of the web's crypto.
  const getRandomValues = (words: Uint32Array) => words.fill(7);
  expect(runInNewContext(`let id; ${code}; id`, { crypto: { getRandomValues } })).toMatch(
    /^([0-9a-f]{8}-[0-9a-f]{4}-8005-804[0-9a-f]-[0-9a-f]{12}){2}$/,
  );
  expect(() => runInNewContext(`let id; ${code}`)).toThrow("import react-native-get-random-values");
});

describe("bundled for a browser, to read one layout", () => {
  const tables = Object.keys(ids).filter((name) => name.endsWith("Table"));

  it("there are all of them", () => expect(tables.length).toBeGreaterThan(30));

  it.each(tables)(`%s is under ${PARSE_BYTES_MAX} bytes`, async (name) => {
    const code = await bundled(`export { parseId, ${name} } from "@waybill/ids";`, { platform: "browser" });
    expect(gzipSync(code).length).toBeLessThan(PARSE_BYTES_MAX);
  });
});

describe("docs/reference/library.md", () => {
  const page = readFileSync(join(ROOT, "docs/reference/library.md"), "utf8");
  const examples = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);
  const samples = [...examples, examples.join("\n")];

  it("has examples, all of them in TypeScript", () => {
    expect(examples.length).toBeGreaterThan(5);
    expect(page.match(/```(?!ts\n|sh\n|\n)\w+/g)).toBeNull();
  });

  it.each(["true", "false"])(
    "compiles alone and as one program, with noUncheckedIndexedAccess %s",
    (isUncheckedRefused) => {
      installCipher();
      const files = samples.map((code, at) => {
        writeFileSync(join(project, `sample-${at}.mts`), code);
        return `sample-${at}.mts`;
      });
      expect(typeFaults([...files, "--noUncheckedIndexedAccess", isUncheckedRefused])).toBe("");
    },
  );

  it("would not compile with a result that nobody has looked at", () => {
    const careless = examples[0]?.replace(/^if \(!order.ok\).*$/m, "") ?? "";
    writeFileSync(join(project, "careless.mts"), careless);
    expect(typeFaults(["careless.mts"])).toContain("Property 'value' does not exist");
  });

  it.each(samples)("example %# prints what its comments say", (code) => {
    installCipher();
    writeFileSync(join(project, "example.mts"), code);
    const expected = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
    expect(expected.length).toBeGreaterThan(0);
    const output = execFileSync(process.execPath, ["example.mts"], { cwd: project, encoding: "utf8" });
    // A newly minted ID has a known shape and no more.
    const shapeOf = (text = "") =>
      text.replace(/^such as /, "").replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "a UUID");
    const shown = output.trimEnd().split("\n");
    expect(shown.map((line, at) => (expected[at]?.startsWith("such as ") ? shapeOf(line) : line))).toEqual(
      expected.map((comment) => (comment?.startsWith("such as ") ? shapeOf(comment) : comment)),
    );
  });

  it("names all that can be imported", () => {
    // "`uuidV1` to `uuidV8`" stands for those between.
    const isNamed = (name: string) =>
      /^uuidV[2-7](?:Table)?$/.test(name) || new RegExp(`\\b${name}\\b`).test(page.replace(/^import .*$/gm, ""));
    expect(Object.keys({ ...ids, ...publicIds }).filter((name) => !isNamed(name))).toEqual([]);
  });
});

const { resolve } = createRequire(import.meta.url);

function node(...args: string[]): void {
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
}

/** The compiler's faults in files of the outside project. */
function typeFaults(options: readonly string[]): string {
  const strict = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023"];
  const compiler = [resolve("typescript/bin/tsc"), ...strict, ...options];
  const { stdout, stderr } = spawnSync(process.execPath, compiler, { cwd: project, encoding: "utf8" });
  return stdout + stderr;
}

/** The dependencies with their own, as npm would install them. */
function installCipher(): void {
  cpSync(join(ROOT, "node_modules", "@stablelib"), join(project, "node_modules", "@stablelib"), { recursive: true });
}

async function bundled(contents: string, options: object): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: project },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["main"],
    target: "es2023",
    write: false,
    logLevel: "silent",
    ...options,
  });
  return outputFiles[0]?.text ?? "";
}

/** The packages that a module needs. */
async function importsOf(name: string): Promise<readonly string[]> {
  const { metafile } = await build({
    stdin: { contents: `export * from "${name}";`, resolveDir: project },
    bundle: true,
    format: "esm",
    platform: "neutral",
    external: ["@stablelib/*"],
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  return [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))];
}
