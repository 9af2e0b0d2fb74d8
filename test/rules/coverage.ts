import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundleWorker, ENTRY_MODULE } from "../../src/host/workerd/modules.ts";
import { startRecordingOrigins } from "../system/stack.ts";

/** What one request runs of the project's own code. */
export interface Passed {
  readonly path: string;
  /** Rising by name. */
  readonly files: readonly string[];
  /** `file name`, once for each function that ran. */
  readonly functions: readonly string[];
}

interface Worker {
  fetch(request: Request, env: object, context: object): Promise<Response>;
}

/** After so many requests the isolate has its table, its host name and its metrics. */
const WARM_UP = 20;

/** Bindings that hold nothing, so that the Worker serves the table of its build. */
const OBJECTS = { idFromName: () => ({ toString: () => "0".repeat(64) }), get: () => ({}) };
const ENV = {
  TABLE_KV: { get: async () => null },
  TABLE_TRUTH: OBJECTS,
  TRAFFIC: OBJECTS,
  SEQUENCES: OBJECTS,
  IDEMPOTENCY: OBJECTS,
  DIRECTORY: OBJECTS,
  CLIENT_ADDRESS: "cf-connecting-ip",
  REQUEST_LOG: "off",
  REPORT_SECONDS: "0",
};

/** What the Worker uses of its platform and Node has not. */
const PLATFORM = `export class DurableObject {}
export const waitUntil = () => undefined;
export const caches = { open: async () => ({ match: async () => undefined, put: async () => undefined }) };
`;

/**
 * What one warm GET of each path passes, by V8's precise coverage: a function counts if it ran, and a file if one of its
 * functions ran. The whole Worker runs in Node, for workerd's inspector gives no coverage; origins are real. Packages do
 * not count.
 */
export async function passedBy(paths: readonly string[]): Promise<readonly Passed[]> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-coverage-"));
  const origins = await startRecordingOrigins();
  const modules = await bundleWorker({ tableText: JSON.stringify(origins.declared) });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "platform.mjs"), PLATFORM);
  /** By its URL: the project's file of an offset in a module. */
  const moduleAt = new Map<string, ReturnType<typeof modulesOf>>();
  for (const { name, code: bundled } of modules) {
    const imported = bundled.replaceAll('from "cloudflare:workers"', 'from "./platform.mjs"');
    const code = `import { caches } from "./platform.mjs";\n${imported}`;
    writeFileSync(join(folder, name), code);
    moduleAt.set(pathToFileURL(join(folder, name)).href, modulesOf(code));
  }
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    const { default: worker } = (await import(pathToFileURL(join(folder, ENTRY_MODULE)).href)) as {
      readonly default: Worker;
    };
    const get = async (path: string): Promise<void> => {
      const context = { waitUntil: () => undefined };
      const headers = { host: "gateway.test", "cf-connecting-ip": "192.0.2.1" };
      const response = await worker.fetch(new Request(`http://gateway.test${path}`, { headers }), ENV, context);
      if (!response.ok) throw new Error(`GET ${path} is ${response.status}: ${await response.text()}`);
      await response.text();
    };
    /** The functions of the modules that ran since the last call, each with its module's URL. */
    const take = async () => {
      const { result } = await session.post("Profiler.takePreciseCoverage");
      return result.flatMap(({ url, functions }) =>
        moduleAt.has(url) ? functions.map((each) => ({ url, ...each })) : [],
      );
    };
    const passed: Passed[] = [];
    for (const path of paths) {
      for (let count = 0; count < WARM_UP; count++) await get(path);
      await take();
      await get(path);
      const functions = (await take()).flatMap(({ url, functionName, ranges: [range] }) => {
        const name = range === undefined || range.count === 0 ? undefined : moduleAt.get(url)?.(range.startOffset);
        // Module bodies have no name; getters and arrow functions that are arguments may have none either, and count.
        return name === undefined ? [] : [`${name} ${functionName || `(at ${range?.startOffset})`}`];
      });
      const files = [...new Set(functions.map((name) => name.slice(0, name.indexOf(" "))))].toSorted();
      passed.push({ path, files, functions: functions.toSorted() });
    }
    return passed;
  } finally {
    session.disconnect();
    await origins.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The project's file of an offset in the bundle: the bundler writes each module's path before its code. */
function modulesOf(bundle: string): (offset: number) => string | undefined {
  const starts = [...bundle.matchAll(/^\/\/ (\S+\.(?:ts|js|mjs|json))$/gm)].map(({ index, 1: name = "" }) => ({
    index,
    name,
  }));
  return (offset) => {
    const name = starts.findLast(({ index }) => index <= offset)?.name ?? "";
    return /^(?:src|routes)\//.test(name) ? name : undefined;
  };
}
