import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { bundleWorker } from "../../../src/host/workerd/bundle.ts";
import { workerdConfig } from "../../../src/host/workerd/config.ts";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS, quoted } from "../../../src/host/workerd/config-text.ts";
import { serveWorker } from "../../../src/host/workerd/gateway.ts";
import { startWorkerd } from "../../../src/host/workerd/workerd.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const folder = mkdtempSync(join(tmpdir(), "waybill-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Each tries to end the string and to say something else; or is read as something else when not escaped. */
const HOSTILE = [
  '"), (name = "X',
  "\\",
  '\\"',
  "\n\r\t\b\u0001\u007f",
  "\\x41\\101",
  "# no comment",
  "é€😀",
  "$(x)",
  "'",
];

/** With and without their prefix. workerd has `node:process` under all flags, so it is not here. */
const NODE_NAMES = ["buffer", "fs", "events", "async_hooks", "crypto", "path", "util", "module", "net", "http"];
const NODE_MODULES = ["process", ...NODE_NAMES, ...NODE_NAMES.map((name) => `node:${name}`)];

const settings = (vars: Record<string, string>) => ({
  address: "127.0.0.1:0",
  kvFolder: "/kv",
  durableObjectsFolder: "/objects",
  workerFolder: "worker",
  modules: ["worker.js"],
  vars,
});

describe("the configuration of workerd", () => {
  it("lets no name lead to a cloud's metadata service", () => {
    expect(workerdConfig(settings({}))).toMatch(/deny = \["169\.254\.0\.0\/16", "fe80::\/10", /);
  });

  it("escapes hostile strings", () => {
    expect(quoted('a"b\\c\n')).toBe('"a\\"b\\\\c\\x0a"');
    for (const text of HOSTILE) {
      expect(quoted(text)).toMatch(/^"(?:[^"\\\p{Cc}]|\\["\\]|\\x[01][0-9a-f]|\\x7f)*"$/u);
    }
  });

  it("refuses what workerd cannot carry", () => {
    expect(() => quoted("a\0b")).toThrow(RangeError);
    expect(() => quoted("\ud800")).toThrow(RangeError);
  });

  it("hands each hostile string to the Worker as it is", async () => {
    const workerPath = join(folder, "echo-env.ts");
    writeFileSync(
      workerPath,
      `export class SequenceBlocks {}
       export class TrafficReports {}
       export class TableTruth {}
       export class IdempotencyKeys {}
       export class DirectoryKeys {}
       export default { fetch: (request, env) => {
         const { TABLE_KV, SEQUENCES, TRAFFIC, TABLE_TRUTH, IDEMPOTENCY, DIRECTORY, CLIENT_ADDRESS, ...others } = env;
         const { REQUEST_LOG, OPEN_PAGES, START_TABLE, ...rest } = others;
         return Response.json(rest);
       } };`,
    );
    const vars = Object.fromEntries(HOSTILE.map((text, index) => [`H${index}`, text]));
    const gateway = await serveWorker(await bundleWorker({ entries: { worker: workerPath } }), {
      port: 0,
      tableText: JSON.stringify(DECLARED_TABLE),
      stateFolder: join(folder, "state"),
      vars,
    });
    try {
      expect(await (await fetch(gateway.url)).json()).toEqual(vars);
    } finally {
      await gateway.stop();
    }
    expect(await gateway.exited).toBe(0);
  });

  it("gives the Worker no globals and no modules of Node, and starts without a warning", async () => {
    const workerPath = join(folder, "node.ts");
    writeFileSync(
      workerPath,
      `export class SequenceBlocks {}
       export class TrafficReports {}
       export class TableTruth {}
       export class IdempotencyKeys {}
       export class DirectoryKeys {}
       const modules = ${JSON.stringify(NODE_MODULES)};
       const load = (name) => import(name).then(() => name, () => undefined);
       export default { fetch: async () => Response.json({
         globals: ["process", "Buffer", "global", "setImmediate", "clearImmediate", "require"].filter((name) => name in globalThis),
         timer: typeof setTimeout(() => undefined, 0),
         modules: (await Promise.all(modules.map(load))).filter((name) => name !== undefined),
       }) };`,
    );
    const tableText = JSON.stringify(DECLARED_TABLE);
    const worker = await bundleWorker({ entries: { worker: workerPath } });
    const gateway = await serveWorker(worker, { port: 0, tableText, stateFolder: join(folder, "node") });
    try {
      expect(await (await fetch(gateway.url)).json()).toEqual({ globals: [], timer: "number", modules: [] });
      expect(gateway.lines).toEqual([]);
    } finally {
      await gateway.stop();
    }
  });

  it("agrees with wrangler.toml", () => {
    const wrangler = readFileSync(new URL("../../../wrangler.toml", import.meta.url), "utf8");
    expect(wrangler).toContain(`compatibility_date = "${COMPATIBILITY_DATE}"`);
    expect(wrangler).toContain(`compatibility_flags = [${COMPATIBILITY_FLAGS.map((flag) => `"${flag}"`).join(", ")}]`);
    for (const [, binding = ""] of wrangler.matchAll(/^(?:binding|name) = "([A-Z_]+)"$/gm)) {
      expect(workerdConfig({ ...settings({}), consoleFolder: "/console" })).toContain(`(name = "${binding}"`);
    }
  });

  it("that workerd refuses is an error with its words", async () => {
    const configPath = join(folder, "bad.capnp");
    writeFileSync(configPath, workerdConfig(settings({})));
    await expect(startWorkerd({ configPath })).rejects.toThrow(/worker\.js/);
  });
});
