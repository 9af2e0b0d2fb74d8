/** What a self-hosted Waybill needs to know of its surroundings. */
export interface WorkerdSettings {
  /** `host:port` to listen on; port 0 lets the system choose. */
  readonly address: string;
  /** Absolute folder of the KV files, one a key. */
  readonly kvFolder: string;
  /** Absolute folder of the Durable Objects' SQLite files. */
  readonly durableObjectsFolder: string;
  /** The bundled Worker, relative to the configuration file. */
  readonly workerFile: string;
  /** Text bindings by name. */
  readonly vars: Readonly<Record<string, string>>;
}

/** The same date as in `wrangler.toml`; a test holds the two together. */
export const COMPATIBILITY_DATE = "2026-10-20";

/**
 * From 2026-08-04 on the date alone would turn Node's modules on: start-up time and size that Waybill has no use for. The
 * request's signal tells that a client has left while its origin is silent.
 */
export const COMPATIBILITY_FLAGS = ["no_nodejs_compat", "enable_request_signal"];

/**
 * Names the objects on disk. Another name would find none of the sequences handed out so far, and mint their numbers
 * again: it never changes.
 */
const SEQUENCES_UNIQUE_KEY = "waybill-sequence-blocks";

/** Another name would find none of the counts so far: every counter would begin again at 0. It never changes. */
const TRAFFIC_UNIQUE_KEY = "waybill-traffic-reports";

/** Another name would find no revision, and begin the history anew with what KV holds. It never changes. */
const TABLE_TRUTH_UNIQUE_KEY = "waybill-table-truth";

/**
 * The variable of workerd's own environment that opens the pages. It is none of the settings in the file: whoever serves the
 * same file elsewhere opens nothing.
 */
export const OPEN_PAGES_VARIABLE = "WAYBILL_OPEN_PAGES";

/** The name of the socket, as `--control-fd` reports it and `--socket-addr` overrides it. */
export const SOCKET_NAME = "http";

/**
 * Short collections of the young generation instead of long ones of the old: at full load the 99th percentile halves,
 * and throughput stays.
 */
const V8_FLAGS = ["--max-semi-space-size=1"];

/** The configuration of `workerd serve`, as Cap'n Proto text. Pure: the same settings give the same text. */
export function workerdConfig(settings: WorkerdSettings): string {
  const vars = Object.entries(settings.vars).map(
    ([name, value]) => `    (name = ${quoted(name)}, text = ${quoted(value)}),\n`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "waybill", worker = .waybill),
    (name = "kv", disk = (path = ${quoted(settings.kvFolder)}, writable = true)),
    (name = "durable-objects", disk = (path = ${quoted(settings.durableObjectsFolder)}, writable = true)),
    # Origins stand on private networks as well as on public ones.
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "${SOCKET_NAME}", address = ${quoted(settings.address)}, http = (), service = "waybill")],
  v8Flags = ${list(V8_FLAGS)},
);

const waybill :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed ${quoted(settings.workerFile)})],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ${list(COMPATIBILITY_FLAGS)},
  bindings = [
    (name = "TABLE_KV", kvNamespace = "kv"),
    (name = "SEQUENCES", durableObjectNamespace = "SequenceBlocks"),
    (name = "TRAFFIC", durableObjectNamespace = "TrafficReports"),
    (name = "TABLE_TRUTH", durableObjectNamespace = "TableTruth"),
    (name = "OPEN_PAGES", fromEnvironment = "${OPEN_PAGES_VARIABLE}"),
${vars.join("")}  ],
  durableObjectNamespaces = [
    (className = "SequenceBlocks", uniqueKey = "${SEQUENCES_UNIQUE_KEY}", enableSql = true),
    (className = "TrafficReports", uniqueKey = "${TRAFFIC_UNIQUE_KEY}", enableSql = true),
    (className = "TableTruth", uniqueKey = "${TABLE_TRUTH_UNIQUE_KEY}", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "durable-objects"),
);
`;
}

const list = (texts: readonly string[]) => `[${texts.map(quoted).join(", ")}]`;

/**
 * A string of Cap'n Proto's schema language. Whatever the text holds, it stays one string: quotes, backslashes and
 * control characters are escaped. Throws for what has no UTF-8 form or would end a C string early.
 */
export function quoted(text: string): string {
  if (/\p{Surrogate}|\0/u.test(text)) {
    throw new RangeError(`a setting of workerd holds a character that it cannot carry: ${JSON.stringify(text)}`);
  }
  let escaped = "";
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (character === '"' || character === "\\") escaped += `\\${character}`;
    else if (code < 0x20 || code === 0x7f) escaped += `\\x${code.toString(16).padStart(2, "0")}`;
    else escaped += character;
  }
  return `"${escaped}"`;
}
