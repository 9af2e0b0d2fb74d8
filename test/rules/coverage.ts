import { Session } from "node:inspector/promises";
import { environment, storedTable, workerOf } from "../../bench/decide/worker-in-node.ts";
import { readDemoTable } from "../system/demo/demo.ts";
import { ROOT } from "./house.ts";

/** One warm request to the demo's table. */
export interface WarmRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";

const create = {
  method: "POST",
  path: "/orders",
  headers: { "x-country": "KZ", "content-type": "application/json", "content-length": "2" },
  body: "{}",
} as const;

/** `max`: fails the tests, and falls until it is the goal. */
interface Bound {
  readonly max: number;
  readonly goal: number;
}

/** Warm requests, and how many files and functions of the project one may pass. */
export const WARM: readonly {
  readonly name: string;
  readonly request: WarmRequest;
  readonly files: Bound;
  readonly functions?: Bound;
}[] = [
  {
    name: "GET /orders/<iuid>",
    request: { method: "GET", path: `/orders/${ID}` },
    files: { max: 23, goal: 20 },
    functions: { max: 60, goal: 50 },
  },
  {
    name: "GET /any/<iuid>",
    request: { method: "GET", path: `/any/${ID}` },
    files: { max: 26, goal: 20 },
    functions: { max: 65, goal: 50 },
  },
  { name: "POST /orders", request: create, files: { max: 48, goal: 26 } },
  {
    name: "POST /orders with a key",
    request: { ...create, headers: { ...create.headers, "idempotency-key": '"house"' } },
    files: { max: 53, goal: 30 },
  },
];

/** The project's own code that one request runs. */
export interface Passed {
  /** Rising by name. */
  readonly files: readonly string[];
  /** `file name`, once for each function that ran. */
  readonly functions: readonly string[];
}

/** After so many requests the isolate has its table, its host name and its metrics. */
const WARM_UP = 20;

const VARS = {
  CLIENT_ADDRESS: "cf-connecting-ip",
  REQUEST_LOG: "off",
  REPORT_SECONDS: "0",
  TABLE_REFRESH_SECONDS: "86400",
};

/**
 * Code that each warm request passes, by V8's precise coverage: a function counts if it ran, and a file if one of its functions
 * ran. The whole Worker runs in Node, for workerd's inspector gives no coverage. Packages do not count.
 */
export async function passedBy(requests: readonly WarmRequest[]): Promise<readonly Passed[]> {
  const { make, code, url } = await workerOf(ROOT);
  const env = environment({ stored: storedTable(readDemoTable()), keyRegion: () => undefined, vars: VARS });
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    // Labels of tables change each second: a request that comes upon it passes more.
    const nowMs = Date.now();
    const { default: worker } = make({ nowMs: () => nowMs, fetch: answer });
    const send = async ({ method, path, headers, body }: WarmRequest): Promise<void> => {
      const fields = { host: "gateway.test", "cf-connecting-ip": "192.0.2.1", ...headers };
      const request = new Request(`http://gateway.test${path}`, { method, headers: fields, ...(body && { body }) });
      const response = await worker.fetch(request, env, { waitUntil: () => undefined });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} is ${response.status}: ${text}`);
    };
    /** The functions of the Worker that ran since the last call. */
    const take = async () => {
      const { result } = await session.post("Profiler.takePreciseCoverage");
      return result.find((script) => script.url === url)?.functions ?? [];
    };
    const moduleAt = modulesOf(code);
    const passed: Passed[] = [];
    for (const request of requests) {
      for (let count = 0; count < WARM_UP; count++) await send(request);
      await take();
      await send(request);
      const functions = (await take()).flatMap(({ functionName, ranges: [range] }) => {
        const name = range === undefined || range.count === 0 ? undefined : moduleAt(range.startOffset);
        // Module bodies have no name; getters and arrow functions that are arguments may have none either, and count.
        return name === undefined ? [] : [`${name} ${functionName || `(at ${range?.startOffset})`}`];
      });
      const files = [...new Set(functions.map((name) => name.slice(0, name.indexOf(" "))))].toSorted();
      passed.push({ files, functions: functions.toSorted() });
    }
    return passed;
  } finally {
    session.disconnect();
  }
}

/** An origin that reads the whole request first. */
async function answer(request: Request): Promise<Response> {
  await request.arrayBuffer();
  const status = request.method === "POST" ? 201 : 200;
  return Response.json({ status: "shipped" }, { status, headers: { "content-length": "20" } });
}

/** The project's file of an offset in the Worker: esbuild writes each module's path before its code. */
function modulesOf(bundle: string): (offset: number) => string | undefined {
  const starts = [...bundle.matchAll(/^\s*\/\/ (\S+\.(?:ts|js|mjs|json))$/gm)].map(({ index, 1: name = "" }) => ({
    index,
    name,
  }));
  return (offset) => {
    const name = starts.findLast(({ index }) => index <= offset)?.name ?? "";
    return /^(?:src|routes)\//.test(name) ? name : undefined;
  };
}
