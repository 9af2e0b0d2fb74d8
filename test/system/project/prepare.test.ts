import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readWorkerFile, WORKER_TEXT } from "../../../src/host/project/worker-file.ts";
import { DURABLE_OBJECTS } from "../../../src/host/workerd/config-text.ts";
import { serveWorker } from "../../../src/host/workerd/gateway.ts";
import { readWorker } from "../../../src/host/workerd/modules.ts";
import { MAIN, scratch } from "./started.ts";

const root = scratch();
const TABLE = JSON.stringify({
  regions: { eu: { origins: [{ url: "https://eu.example.com" }] } },
  entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid" }] } },
  routes: [],
  default: "eu",
});

/** A project with these files. */
function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(root, "project-"));
  for (const [name, text] of Object.entries({ "routing-table.json": TABLE, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function prepare(cwd: string, ...args: readonly string[]) {
  const env = { ...process.env, NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "prepare", ...args], {
    cwd,
    encoding: "utf8",
    env,
  });
  return { status, stdout, stderr: stderr.replaceAll(/^\(node:.*\n|^\(Use `node.*\n/gm, "") };
}

const read = async (text: string, name = "src/worker.ts") => {
  const made = await readWorkerFile(join(root, name), text);
  return made.ok ? made.value.code : made.error;
};

const LINES = WORKER_TEXT.trimEnd().split("\n");

describe("imports of a project's own Worker", () => {
  it.each([
    ["the four lines", WORKER_TEXT],
    ["an attribute", WORKER_TEXT.replace('.json"', '.json" with { type: "json" }')],
    ["single quotes", WORKER_TEXT.replaceAll('"', "'")],
    ["other words between", `/* import "x" */ const no = 'import "y" from "z"';\n${WORKER_TEXT}`],
    [
      "types",
      `${WORKER_TEXT.replace("default gateway(table)", "default gateway(table) satisfies object")}interface A { a: 1 }\n`,
    ],
    ["imports of types alone", `import type { Env } from "./env.ts";\n${WORKER_TEXT}`],
    ["the runtime's modules", `import { WorkerEntrypoint } from "cloudflare:workers";\n${WORKER_TEXT}`],
    ["import.meta", `${WORKER_TEXT}console.log(import.meta.url);\n`],
    [
      "comments between",
      WORKER_TEXT.replace("export *", "export /* all */ *").replace("import table", "import /* the */ table"),
    ],
    ["lines that end in CRLF", WORKER_TEXT.replaceAll("\n", "\r\n")],
  ])("are resolved with %s", async (_, text) => {
    const code = await read(text);
    expect(code).toContain('import { gateway } from "./waybill.js"');
    expect(code.replaceAll("/* the */ ", "")).toMatch(/import table from "\.\/routing-table\.js";/);
    expect(code.replaceAll("/* all */ ", "")).toContain('export * from "./objects.js"');
    expect(code).not.toMatch(/"waybill\/|\.\.\/routing-table|env\.ts|satisfies/);
  });

  it.each([
    [
      "another file",
      `import { a } from "./own.ts";\n${WORKER_TEXT}`,
      /^.*src\/worker\.ts:1:1: imports "\.\/own\.ts", and/,
    ],
    ["a package", `${WORKER_TEXT}import "hono";\n`, /worker\.ts:5:1: imports "hono"/],
    ["Node's modules", `import "node:fs";\n${WORKER_TEXT}`, /imports "node:fs"/],
    ["a dynamic import", `${WORKER_TEXT}const a = () => import("./a.js");\n`, /worker\.ts:5:17: imports "\.\/a\.js"/],
    ["a computed one", `${WORKER_TEXT}const a = (b) => import(b);\n`, /imports by a name that is computed/],
    ["a dynamic import of the gateway", `${WORKER_TEXT}import("waybill/worker");\n`, /by static imports/],
    ["a part of the package", `import "waybill/table";\n${WORKER_TEXT}`, /imports "waybill\/table"/],
    ["a re-export", `export { a } from "./a.js";\n${WORKER_TEXT}`, /imports "\.\/a\.js"/],
    ["a table by its package", `import a from "tables/a.json";\n${WORKER_TEXT}`, /imports "tables\/a\.json"/],
  ])("are refused for %s, with the remedy", async (_, text, words) => {
    const refused = await read(text);
    expect(refused).toMatch(words);
    expect(refused).toContain('command = "npx waybill prepare --no-worker"');
  });

  it.each([
    ["no gateway", LINES.toSpliced(0, 1).join("\n"), 'does not import the gateway from "waybill/worker"'],
    ["no classes", LINES.toSpliced(2, 1).join("\n"), 'does not export the classes of "waybill/worker/objects"'],
    [
      "classes that are imported alone",
      WORKER_TEXT.replace("export * from", "import * as all from"),
      "SequenceBlocks, Tr",
    ],
    ["classes as members", WORKER_TEXT.replace("* from", "* as all from"), "does not export the classes"],
    ["some classes", WORKER_TEXT.replace("* from", "{ TableTruth, DirectoryKeys } from"), "name: SequenceBlocks, T"],
    ["no table", LINES.toSpliced(1, 1).join("\n").replace("(table)", "({})"), "does not import its routing table"],
    ["the namespace of the table", WORKER_TEXT.replace("import table", "import * as table"), "imports a part of the"],
    ["a part of the table", WORKER_TEXT.replace("import table", "import { regions }"), "imports a part of the routing"],
    ["a part beside it", WORKER_TEXT.replace("import table", "import table, { regions }"), "imports a part of the"],
    ["a table without a name", WORKER_TEXT.replace("import table from", "import"), "imports a part of the routing"],
    ["no default export", LINES.toSpliced(3, 1).join("\n"), "has no default export"],
    ["two tables", `import b from "../b.json";\n${WORKER_TEXT}`, "imports two tables"],
    ["broken code", `${WORKER_TEXT}const a = {;\n`, "worker.ts"],
    ["TypeScript that must be made", `${WORKER_TEXT}enum A { B }\n`, "more than types needs a bundler"],
  ])("are refused with %s", async (_, text, words) => {
    expect(await read(text)).toContain(words);
  });

  it("may name all classes, and the default of the table", async () => {
    const named = DURABLE_OBJECTS.map(([, name]) => name).join(", ");
    const text = WORKER_TEXT.replace("* from", `{ ${named} } from`).replace(
      "import table",
      "import { default as table }",
    );
    expect(await read(text)).toContain('import { default as table } from "./routing-table.js"');
  });

  it("are those of JavaScript in a .js file", async () => {
    expect(await read(WORKER_TEXT, "src/worker.js")).toContain('from "./waybill.js"');
  });
});

describe("waybill prepare", () => {
  const own = `${WORKER_TEXT.replace("export default gateway(table);", "")}
const waybill = gateway(table);
export default {
  ...waybill,
  fetch(request: Request, ...rest: unknown[]): Promise<Response> {
    return new URL(request.url).pathname === "/own" ? new Response("own") : waybill.fetch(request, ...rest);
  },
};
`;
  const typesIn = (made: string): string => readFileSync(join(made, "worker/main.d.ts"), "utf8");
  let folder = "";
  beforeAll(() => {
    folder = project({ "src/worker.ts": own.replace("../routing-table", "../tables/edge"), "tables/edge.json": TABLE });
  });

  it("makes the project's own Worker with the table that it imports, and the console", async () => {
    const version = JSON.parse(readFileSync("package.json", "utf8")).version;
    expect(prepare(folder)).toEqual({
      status: 0,
      stdout: `.waybill: the gateway of waybill ${version} as src/worker.ts has it, with tables/edge.json\n`,
      stderr: "",
    });
    expect(readdirSync(join(folder, ".waybill")).toSorted()).toEqual(["console", "worker"]);
    expect(typesIn(join(folder, ".waybill"))).toContain('export { default } from "../../src/worker";');
    const options = { port: 0, tableText: TABLE, stateFolder: join(folder, "state"), vars: { REQUEST_LOG: "off" } };
    const gateway = await serveWorker(readWorker(join(folder, ".waybill")), options);
    try {
      expect(await (await fetch(`${gateway.url}/own`)).text()).toBe("own");
      expect((await fetch(`${gateway.url}/-/ready`)).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  });

  it("leaves the folder as it was where something is faulty", () => {
    const before = readdirSync(join(folder, ".waybill/worker"));
    writeFileSync(join(folder, "tables/edge.json"), TABLE.replace('"default":"eu"', '"default":"mars"'));
    expect(prepare(folder)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/\/default: .*\n.*\nNothing was made/s),
    });
    expect(prepare(folder, "routing-table.json")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("imports tables/edge.json"),
    });
    expect(prepare(folder, "--worker", "no.js")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("no.js cannot be read"),
    });
    expect(readdirSync(join(folder, ".waybill/worker"))).toEqual(before);
  });

  it("has the gateway with the table where the project has no Worker, and the console alone where wrangler bundles", () => {
    const plain = project({ "src/other.ts": "" });
    expect(prepare(plain, "--out", "made")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("with routing-table.json"),
    });
    expect(existsSync(join(plain, "made/worker/main.js"))).toBe(true);
    expect(typesIn(join(plain, "made"))).toContain('export * from "waybill/worker/objects";');
    expect(prepare(plain, "--no-worker")).toMatchObject({
      status: 0,
      stdout: ".waybill: the console, with routing-table.json\n",
    });
    expect(readdirSync(join(plain, ".waybill"))).toEqual(["console"]);
  });

  it("loses no file of the project, whatever --out names", () => {
    const own = {
      "src/worker/a.ts": "a",
      "web/console/a.css": "b",
      "worker.js": WORKER_TEXT.replace("../routing", "./routing"),
    };
    const mine = project(own);
    const refused = (...args: readonly string[]) =>
      expect(prepare(mine, ...args)).toMatchObject({ status: 1, stderr: expect.stringMatching(/^No build wrote /) });
    refused("--out", "src");
    refused("--out", "web");
    refused("--no-worker", "--out", "web");
    expect(prepare(mine, "--out", ".")).toMatchObject({ status: 0 });
    expect(prepare(mine, "--out", ".")).toMatchObject({ status: 0 });
    rmSync(join(mine, "console/shell.html"));
    expect(prepare(mine, "--no-worker", "--out", ".")).toMatchObject({ status: 0 });
    for (const [name, text] of Object.entries(own)) expect(readFileSync(join(mine, name), "utf8")).toBe(text);
  });
});
