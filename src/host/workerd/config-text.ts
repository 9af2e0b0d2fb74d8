import { TEXT_MODULE } from "./modules.ts";

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

/**
 * A small young generation makes its collections short. A full collection stops the isolate for longer the more requests came
 * before it; by itself it costs little. So the first comes early, and the heap at most doubles before the next
 * (docs/design/performance.md).
 */
const V8_FLAGS = ["--max-semi-space-size=1", "--initial-old-space-size=8", "--heap-growing-percent=100"];

/** The Worker of a configuration, and settings that every role has. */
export interface WorkerSettings {
  /** Folder of the bundled Worker, relative to the configuration file. */
  readonly workerFolder: string;
  /** Names of the Worker's modules, the main one first. */
  readonly modules: readonly string[];
  /** Text bindings by name. */
  readonly vars: Readonly<Record<string, string>>;
  /** Absolute path of the console's files; without it the gateway has no console. */
  readonly consoleFolder?: string | undefined;
}

/** The roles of a machine differ in these. Each service, socket and binding is an entry of a list, without its comma. */
export interface ConfigText extends WorkerSettings {
  /** Where its KV and its objects are. */
  readonly storage: readonly string[];
  readonly services?: readonly string[];
  readonly sockets: readonly string[];
  /** Other members of `Workerd.Config`. */
  readonly members?: readonly string[];
  /** Bindings after `TABLE_KV`. */
  readonly bindings: readonly string[];
  /** Whether objects run here. */
  readonly hasObjects: boolean;
  /** Other members of the Worker. */
  readonly workerMembers?: readonly string[];
  /** Constants after the Worker's. */
  readonly constants?: string;
}

/** The configuration of `workerd serve` as Cap'n Proto text. Pure. */
export function configText(text: ConfigText): string {
  const { storage, services = [], sockets, members = [], bindings, workerMembers = [], constants = "" } = text;
  const modules = text.modules.map(
    (name) => `(name = ${quoted(name)}, ${kindOf(name)} = embed ${quoted(`${text.workerFolder}/${name}`)})`,
  );
  const vars = Object.entries(text.vars).map(([name, value]) => `(name = ${quoted(name)}, text = ${quoted(value)})`);
  // Read only, and asked for when a page is: the Worker's start knows nothing of it.
  const [files, filesBinding] = folderService("console", "CONSOLE", text.consoleFolder);
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "waybill", worker = .waybill),
${lines(storage)}    # Origins may be on private networks. No name may lead to a cloud's metadata service, which hands out credentials.
    (name = "internet", network = (allow = ["public", "private"], deny = ${list(METADATA_NETWORKS)}, tlsOptions = (trustBrowserCas = true))),
${lines([...files, ...services])}  ],
  sockets = [${sockets.join(", ")}],
  v8Flags = ${list(V8_FLAGS)},
${lines(members, 2)});

const waybill :Workerd.Worker = (
  modules = [
${lines(modules)}  ],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ${list(COMPATIBILITY_FLAGS)},
  bindings = [
    (name = "TABLE_KV", kvNamespace = "kv"),
${lines(text.hasObjects ? OBJECT_BINDINGS : [])}${lines([...filesBinding, ...bindings])}    (name = "OPEN_PAGES", fromEnvironment = "${OPEN_PAGES_VARIABLE}"),
${lines(vars)}  ],
${text.hasObjects ? `  durableObjectNamespaces = [\n${lines(OBJECT_CLASSES)}  ],\n` : ""}${lines(workerMembers, 2)});
${constants}`;
}

const OBJECT_BINDINGS = DURABLE_OBJECTS.map(
  ([name, className]) => `(name = "${name}", durableObjectNamespace = "${className}")`,
);

const OBJECT_CLASSES = DURABLE_OBJECTS.map(
  ([, name, key]) => `(className = "${name}", uniqueKey = "${key}", enableSql = true)`,
);

const lines = (entries: readonly string[], indent = 4): string =>
  entries.map((entry) => `${" ".repeat(indent)}${entry},\n`).join("");

const kindOf = (module: string): string => (module.endsWith(TEXT_MODULE) ? "text" : "esModule");

/** A folder that the Worker may read, with its binding: no entry or one of each. */
export const folderService = (
  name: string,
  binding: string,
  path: string | undefined,
): readonly [services: readonly string[], bindings: readonly string[]] =>
  path === undefined
    ? [[], []]
    : [[`(name = "${name}", disk = (path = ${quoted(path)}))`], [`(name = "${binding}", service = "${name}")`]];

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

export const list = (texts: readonly string[]) => `[${texts.map(quoted).join(", ")}]`;

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
