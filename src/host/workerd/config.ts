import { TEXT_MODULE } from "./modules.ts";

/** Deployment settings of a self-hosted gateway. */
export interface WorkerdSettings {
  /** `host:port` to listen on; the system chooses a port for 0. */
  readonly address: string;
  /** Absolute path; one file per KV key. */
  readonly kvFolder: string;
  /** Absolute path; the Durable Objects' SQLite files. */
  readonly durableObjectsFolder: string;
  /** Folder of the bundled Worker, relative to the configuration file. */
  readonly workerFolder: string;
  /** Names of the Worker's modules, the main one first. */
  readonly modules: readonly string[];
  /** Text bindings by name. */
  readonly vars: Readonly<Record<string, string>>;
  /** Absolute path of the console's files; without it the gateway has no console. */
  readonly consoleFolder?: string | undefined;
  /** Absolute path of the folder by which a start hands a table over. */
  readonly startFolder?: string | undefined;
  /** Where origins on loopback really listen, by the port that the table names. */
  readonly loopbackPorts?: Readonly<Record<string, number>> | undefined;
  /** URL that says, with an encoded origin on loopback behind it, at which port another server stands in for it. */
  readonly standInsUrl?: string | undefined;
}

/** Same as in `wrangler.toml`; a test compares them. */
export const COMPATIBILITY_DATE = "2026-11-24";

/**
 * The date alone enables Node's modules by two flags, and each "no" clears only its own. Waybill does not need them,
 * and they slow the start. From 2026-11-17 the date also enables two things. The request's signal reports a client that
 * disconnects while the origin is silent. Modules are compiled at their first import. workerd warns if a flag names
 * what the date enables.
 */
export const COMPATIBILITY_FLAGS = ["no_nodejs_compat", "no_nodejs_compat_v2"];

/** Binding, class and unique key, which names the objects on disk. It never changes: under another the state is lost. */
export const DURABLE_OBJECTS = [
  // A lost state would mint sequence numbers again.
  ["SEQUENCES", "SequenceBlocks", "waybill-sequence-blocks"],
  // A lost state would reset every counter to 0.
  ["TRAFFIC", "TrafficReports", "waybill-traffic-reports"],
  // A lost state would restart the revision history from the contents of KV.
  ["TABLE_TRUTH", "TableTruth", "waybill-table-truth"],
  // A lost state would create an entity again on a retry.
  ["IDEMPOTENCY", "IdempotencyKeys", "waybill-idempotency-keys"],
  // A lost state would route no key of a directory, and give names again.
  ["DIRECTORY", "DirectoryKeys", "waybill-directory-keys"],
] as const;

/**
 * Environment variable of workerd that opens the gateway's own pages. It is not in the configuration file, so serving
 * that file elsewhere opens nothing.
 */
export const OPEN_PAGES_VARIABLE = "WAYBILL_OPEN_PAGES";

/** Socket name, used by `--control-fd` and `--socket-addr`. */
export const SOCKET_NAME = "http";

/**
 * A small young generation makes its collections short. A full collection stops the isolate for longer the more requests came
 * before it; by itself it costs little. So the first comes early, and the heap at most doubles before the next
 * (docs/design/performance.md).
 */
const V8_FLAGS = ["--max-semi-space-size=1", "--initial-old-space-size=8", "--heap-growing-percent=100"];

/**
 * Stands between the gateway and its origins on loopback that listen at other ports than the table names. So a table stays as it
 * was written, whatever ports are free.
 */
const outboundWorker = (ports: Readonly<Record<string, number>>): string => `
const ports = ${JSON.stringify(ports)};
export default {
  fetch(request) {
    const url = new URL(request.url);
    const isLoopback = /^(?:127(?:\\.\\d+){3}|localhost|\\[::1\\])$/.test(url.hostname);
    if (isLoopback) url.port = ports[url.port] ?? url.port;
    return fetch(new Request(url, request));
  },
};
`;

/** Loopback names and addresses: RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3. */
export const LOOPBACK =
  /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])\.?$/;

/** Asks the host for each request whether the origin is there: it may be started or stopped at any moment. */
const standInsWorker = (standInsUrl: string): string => `
const standIns = ${JSON.stringify(standInsUrl)};
const loopback = ${LOOPBACK};
export default {
  async fetch(request) {
    const url = new URL(request.url);
    if (!loopback.test(url.hostname)) return fetch(request);
    const answer = await fetch(standIns + encodeURIComponent(url.origin));
    const port = await answer.text();
    if (!/^\\d+$/.test(port)) return fetch(request);
    url.protocol = "http:";
    url.hostname = "127.0.0.1";
    url.port = port;
    return fetch(new Request(url, request));
  },
};
`;

/** The configuration of `workerd serve` as Cap'n Proto text. Pure. */
export function workerdConfig(settings: WorkerdSettings): string {
  const vars = Object.entries(settings.vars).map(
    ([name, value]) => `    (name = ${quoted(name)}, text = ${quoted(value)}),\n`,
  );
  const objects = DURABLE_OBJECTS.map(
    ([name, className]) => `    (name = "${name}", durableObjectNamespace = "${className}"),\n`,
  );
  const classes = DURABLE_OBJECTS.map(
    ([, name, key]) => `    (className = "${name}", uniqueKey = "${key}", enableSql = true),\n`,
  );
  const modules = settings.modules.map(
    (name) => `    (name = ${quoted(name)}, ${kindOf(name)} = embed ${quoted(`${settings.workerFolder}/${name}`)}),\n`,
  );
  const { loopbackPorts, standInsUrl, consoleFolder, startFolder } = settings;
  // Read only, and asked for when a page is: the Worker's start knows nothing of it.
  const [files, filesBinding] = folderService("console", "CONSOLE", consoleFolder);
  const [start, startBinding] = folderService("start-table", "START_TABLE", startFolder);
  const outboundCode = standInsUrl ? standInsWorker(standInsUrl) : loopbackPorts && outboundWorker(loopbackPorts);
  const [service, outbound, worker] = outboundCode
    ? [
        '\n    (name = "outbound", worker = .outbound),',
        '\n  globalOutbound = "outbound",',
        `\nconst outbound :Workerd.Worker = (
  modules = [(name = "outbound.js", esModule = ${quoted(outboundCode)})],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ${list(COMPATIBILITY_FLAGS)},
);\n`,
      ]
    : ["", "", ""];
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "waybill", worker = .waybill),
    (name = "kv", disk = (path = ${quoted(settings.kvFolder)}, writable = true)),
    (name = "durable-objects", disk = (path = ${quoted(settings.durableObjectsFolder)}, writable = true)),
    # Origins may be on private networks. No name may lead to a cloud's metadata service, which hands out credentials.
    (name = "internet", network = (allow = ["public", "private"], deny = ${list(METADATA_NETWORKS)}, tlsOptions = (trustBrowserCas = true))),${files}${start}${service}
  ],
  sockets = [(name = "${SOCKET_NAME}", address = ${quoted(settings.address)}, http = (), service = "waybill")],
  v8Flags = ${list(V8_FLAGS)},
);

const waybill :Workerd.Worker = (
  modules = [
${modules.join("")}  ],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ${list(COMPATIBILITY_FLAGS)},
  bindings = [
    (name = "TABLE_KV", kvNamespace = "kv"),
${objects.join("")}${filesBinding}${startBinding}    (name = "OPEN_PAGES", fromEnvironment = "${OPEN_PAGES_VARIABLE}"),
${vars.join("")}  ],
  durableObjectNamespaces = [
${classes.join("")}  ],
  durableObjectStorage = (localDisk = "durable-objects"),${outbound}
);
${worker}`;
}

const kindOf = (module: string): string => (module.endsWith(TEXT_MODULE) ? "text" : "esModule");

/** A folder that the Worker may read, with its binding. */
const folderService = (name: string, binding: string, path: string | undefined): readonly [string, string] =>
  path === undefined
    ? ["", ""]
    : [
        `\n    (name = "${name}", disk = (path = ${quoted(path)})),`,
        `    (name = "${binding}", service = "${name}"),\n`,
      ];

/** Link-local networks, and the addresses of Alibaba's, Oracle's, Azure's, Amazon's and Google's services. */
const METADATA_NETWORKS = [
  "169.254.0.0/16",
  "fe80::/10",
  "100.100.100.200/32",
  "192.0.0.192/32",
  "168.63.129.16/32",
  "fd00:ec2::/32",
  "fd20:ce::/32",
];

const list = (texts: readonly string[]) => `[${texts.map(quoted).join(", ")}]`;

/**
 * A string literal of Cap'n Proto's schema language. Escapes quotes, backslashes and control characters. Throws for lone
 * surrogates, which have no UTF-8 form, and for NUL, which ends a C string.
 */
export function quoted(text: string): string {
  if (/\p{Surrogate}|\0/u.test(text)) {
    throw new RangeError(`a setting has a character that workerd cannot store: ${JSON.stringify(text)}`);
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
