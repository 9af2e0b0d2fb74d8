import { createHash, timingSafeEqual } from "node:crypto";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { build, type Plugin } from "esbuild";

/**
 * The whole Worker of a checkout inside this process, many times over: each instance has its own bindings, clock and
 * origins, as an isolate has. Nothing but the entry `src/worker.ts` and the platform's interface is taken for granted, so two
 * checkouts may differ in everything between.
 */

export interface Platform {
  /** Unix ms, which stand still during a request. */
  readonly nowMs: () => number;
  /** Answers what the Worker sends. */
  readonly fetch: (request: Request) => Promise<Response>;
}

export interface WorkerModule {
  readonly default: {
    fetch(request: Request, env: object, context: { waitUntil(work: Promise<unknown>): void }): Promise<Response>;
  };
}

export interface NodeWorker {
  /** Evaluates the Worker anew; its compiled code is shared. */
  readonly make: (platform: Platform) => WorkerModule;
  /** Each module follows a line with its path. */
  readonly code: string;
  /** The name of the code, for the inspector. */
  readonly url: string;
}

/** A table that no request should be decided by: the gateway falls back to it where it refuses the published one. */
const TABLE_OF_BUILD = {
  regions: { build: { origins: [{ url: "https://build.test" }] } },
  routes: [],
  default: "build",
};

const BUILT_IN = [
  "Date",
  "crypto",
  "fetch",
  "caches",
  "Request",
  "FixedLengthStream",
  "IdentityTransformStream",
] as const;

export async function workerOf(checkout: string): Promise<NodeWorker> {
  const contents = JSON.stringify(TABLE_OF_BUILD);
  const table: Plugin = {
    name: "routing-table",
    setup: ({ onLoad }) => onLoad({ filter: /[\\/]routing-table\.json$/ }, () => ({ contents, loader: "json" })),
  };
  const { outputFiles } = await build({
    entryPoints: [resolve(checkout, "src/worker.ts")],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "worker",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    define: { "globalThis.process": "undefined" },
    logLevel: "silent",
    plugins: [table],
  });
  const code = `(function (${[...BUILT_IN, "console", "require"].join(", ")}) { ${outputFiles[0]?.text}\nreturn worker; })`;
  const url = pathToFileURL(resolve(checkout, "worker.js")).href;
  const evaluate = new Script(code, { filename: url }).runInThisContext() as (...values: unknown[]) => WorkerModule;
  const make = (platform: Platform): WorkerModule => {
    const built = builtIn(platform);
    return evaluate(...BUILT_IN.map((name) => built[name]), SILENT, (name: string) => {
      if (name !== "cloudflare:workers") throw new Error(`a Worker imports ${name}`);
      return CLOUDFLARE_WORKERS;
    });
  };
  return { make, code, url };
}

const SILENT = Object.fromEntries(["debug", "error", "info", "log", "warn"].map((name) => [name, () => undefined]));

const ignore = (work: Promise<unknown>): void => void work.catch(() => undefined);

const CLOUDFLARE_WORKERS = { DurableObject: class {}, WorkerEntrypoint: class {}, waitUntil: ignore, env: {} };

/** Passes bytes on in copies, since a writer may use its buffer again; bodies here are small enough to wait in memory. */
class ByteStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;

  constructor() {
    let isLeft = false;
    const end: { controller?: ReadableByteStreamController } = {};
    this.readable = new ReadableStream({
      type: "bytes",
      start(controller) {
        end.controller = controller;
      },
      cancel() {
        isLeft = true;
      },
    });
    this.writable = new WritableStream({
      write(chunk) {
        if (isLeft) throw new TypeError("the reader has left");
        if (chunk.byteLength > 0) end.controller?.enqueue(chunk.slice());
      },
      close() {
        if (isLeft) return;
        end.controller?.close();
        (end.controller?.byobRequest as { respond(bytes: number): void } | null | undefined)?.respond(0);
      },
      abort: (reason) => end.controller?.error(reason),
    });
  }
}

/** The Fetch standard wants a word for a body that streams; workerd does not. */
class StreamingRequest extends Request {
  constructor(input: string | URL | Request, init?: RequestInit) {
    super(input, init?.body instanceof ReadableStream ? { ...init, duplex: "half" } : init);
  }
}

const EMPTY_CACHE = { match: async () => undefined, put: async () => undefined, delete: async () => false };

/** With the comparison that workerd adds. */
const SUBTLE = new Proxy(crypto.subtle, {
  get(subtle, name) {
    if (name === "timingSafeEqual") {
      return (a: ArrayBuffer, b: ArrayBuffer) => timingSafeEqual(new Uint8Array(a), new Uint8Array(b));
    }
    return Reflect.get(subtle, name).bind(subtle);
  },
});

function builtIn({ nowMs, fetch }: Platform): Record<(typeof BUILT_IN)[number], unknown> {
  class FixedDate extends Date {
    constructor(...values: [] | [number | string | Date]) {
      if (values.length === 0) super(nowMs());
      else super(...(values as unknown as [number]));
    }
    static override now = nowMs;
  }
  return {
    Date: FixedDate,
    // Every version draws the same words, however many it draws.
    crypto: {
      subtle: SUBTLE,
      getRandomValues: <Words extends ArrayBufferView>(words: Words): Words => {
        new Uint8Array(words.buffer, words.byteOffset, words.byteLength).fill(0x5a);
        return words;
      },
      randomUUID: () => "5a5a5a5a-5a5a-4a5a-9a5a-5a5a5a5a5a5a",
    },
    fetch: (target: string | URL | Request, init?: RequestInit) => fetch(new StreamingRequest(target, init)),
    caches: { default: EMPTY_CACHE, open: async () => EMPTY_CACHE },
    Request: StreamingRequest,
    FixedLengthStream: ByteStream,
    IdentityTransformStream: ByteStream,
  };
}

export interface Bindings {
  /** Values stored in KV, by key. */
  readonly stored: ReadonlyMap<string, string | Uint8Array<ArrayBuffer>>;
  /** The directory's answer about a key: its region, `undefined` without one. Throws where it does not answer. */
  readonly keyRegion: (directory: string, key: string) => string | undefined;
  readonly vars: Readonly<Record<string, string>>;
}

export function environment({ stored, keyRegion, vars }: Bindings): object {
  const read = async (key: string, options: { readonly type?: string } | string = "text") => {
    const value = stored.get(key);
    if (value === undefined) return null;
    const type = typeof options === "string" ? options : (options.type ?? "text");
    if (type === "arrayBuffer")
      return typeof value === "string" ? new TextEncoder().encode(value).buffer : value.slice().buffer;
    if (type === "stream") return new Response(value).body;
    const text = typeof value === "string" ? value : new TextDecoder().decode(value);
    return type === "json" ? JSON.parse(text) : text;
  };
  const kv = {
    get: read,
    getWithMetadata: async (key: string, options?: object) => ({ value: await read(key, options), metadata: null }),
    put: async () => undefined,
    delete: async () => undefined,
    list: async () => ({ keys: [], list_complete: true }),
  };
  const directory = {
    async get(_of: unknown, { directory: name, key }: { readonly directory: string; readonly key: string }) {
      const region = keyRegion(name, key);
      return region === undefined ? undefined : { state: "confirmed", region, owner: "", version: 1 };
    },
    noteChange: async () => undefined,
    learn: async () => undefined,
  };
  /** Every key is new. */
  const idempotency = {
    begin: async ({ proposal }: { readonly proposal: unknown }) => ({
      state: "started",
      record: proposal,
      isResumed: false,
      untilMs: 0,
    }),
    finish: async () => undefined,
  };
  return {
    ...vars,
    TABLE_KV: kv,
    DIRECTORY: objects(directory),
    TABLE_TRUTH: objects({}),
    TRAFFIC: objects({}),
    SEQUENCES: objects({}),
    IDEMPOTENCY: objects(idempotency),
  };
}

/** Keys that a control plane stores for a table, and for a canary of the whole table beside it. */
export function storedTable(
  declared: object,
  canary?: { readonly declared: object; readonly audience: object },
): Map<string, string | Uint8Array<ArrayBuffer>> {
  const stored = new Map<string, string | Uint8Array<ArrayBuffer>>();
  const put = (table: object): string => {
    const text = JSON.stringify(table);
    const digest = createHash("sha256").update(text).digest("hex");
    stored.set(`table.${digest}`, text);
    return digest;
  };
  const pointer = {
    revision: 1,
    digest: put(declared),
    publishedAt: "2026-11-21T00:00:00.000Z",
    ...(canary && { canary: { revision: 2, digest: put(canary.declared), audience: canary.audience } }),
  };
  stored.set("table.current", JSON.stringify(pointer));
  return stored;
}

/** Durable Objects that all have the same methods; another one fails, as an object that is not there does. */
const objects = (methods: object) => ({
  idFromName: () => ({ toString: () => "0".repeat(64) }),
  get: () => methods,
});
