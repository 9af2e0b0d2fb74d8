import { httpSocket, kvOnDisk, OBJECTS_STORAGE, objectsOnDisk } from "./config.ts";
import { configText, folderService, list, quoted, type WorkerSettings } from "./config-text.ts";
import { keypair, RPC_HOST, type TlsTexts, trusted } from "./tls-text.ts";

/** A state node: the objects run on it, alone or in a cluster on a bucket. */
export interface StateSettings extends WorkerSettings {
  /** `host:port` of operators' pages. */
  readonly address: string;
  /** `host:port` where edges ask. */
  readonly stateAddress: string;
  readonly tls: TlsTexts;
  readonly durableObjectsFolder: string;
  /** Absolute path of the folder by which a start hands a table over. */
  readonly startFolder?: string | undefined;
  readonly store: StateStore;
}

/** Where KV and objects are kept. */
export type StateStore =
  /** Absolute path, as on one machine. */
  { readonly kvFolder: string } | ClusterSettings;

export interface ClusterSettings {
  /** `s3://bucket/prefix` or `gs://bucket/prefix`. */
  readonly bucket: string;
  readonly bucketOptions: readonly string[];
  readonly key: string;
  /** From SIGTERM to the exit: until then objects are handed over. */
  readonly stopMs: number;
  /** For tests: leases and rounds are shorter by it. */
  readonly timeDivisor?: number | undefined;
  readonly address: string;
  readonly advertise?: string | undefined;
}

/** Where edges ask. Its name for `--control-fd`. */
export const STATE_SOCKET = "state";

/**
 * Pure. All nodes of a cluster must have the same configuration (`ClusterConfig` of workerd.capnp), so it is the same text on
 * each, but for the certificate: `nodeFlags` say what differs.
 */
export function stateConfig(settings: StateSettings): string {
  const { store } = settings;
  const isCluster = "bucket" in store;
  const [start, startBinding] = folderService("start-table", "START_TABLE", isCluster ? NO_PATH : settings.startFolder);
  return configText({
    ...settings,
    consoleFolder: settings.consoleFolder && (isCluster ? NO_PATH : settings.consoleFolder),
    storage: isCluster
      ? ['(name = "kv", bucket = (path = "kv"))', objectsOnDisk(NO_PATH)]
      : [kvOnDisk(store.kvFolder), objectsOnDisk(settings.durableObjectsFolder)],
    services: start,
    sockets: [
      httpSocket(isCluster ? NO_ADDRESS : settings.address),
      stateSocket(isCluster ? NO_ADDRESS : settings.stateAddress, settings.tls),
    ],
    members: isCluster ? [clusterOf(store)] : [],
    bindings: startBinding,
    hasObjects: true,
    workerMembers: [OBJECTS_STORAGE],
  });
}

/** Stands for what the flags say. */
const NO_PATH = "/nonexistent";
const NO_ADDRESS = "127.0.0.1:0";

const stateSocket = (address: string, tls: TlsTexts): string =>
  `(name = "${STATE_SOCKET}", address = ${quoted(address)}, service = (name = "waybill", entrypoint = "State"), ` +
  `https = (options = (capnpConnectHost = "${RPC_HOST}"), tlsOptions = (${keypair(tls)}, requireClientCerts = true, ${trusted(tls)})))`;

function clusterOf({ bucket, bucketOptions, key, stopMs, timeDivisor }: ClusterSettings): string {
  const divisor = timeDivisor === undefined ? "" : `, unsafeTimeDivisor = ${timeDivisor}`;
  return (
    `cluster = (bucket = ${quoted(bucket)}, bucketOptions = ${list(bucketOptions)}, key = ${quoted(key)}, ` +
    `address = "${NO_ADDRESS}", stopTimeoutMs = ${stopMs}${divisor})`
  );
}

/** The options of `workerd serve` by which a node of a cluster differs from the others. */
export function nodeFlags(settings: StateSettings): readonly string[] {
  const { store, consoleFolder, startFolder } = settings;
  if (!("bucket" in store)) return [];
  const folders = {
    "durable-objects": settings.durableObjectsFolder,
    console: consoleFolder,
    "start-table": startFolder,
  };
  const paths = Object.entries(folders).flatMap(([name, path]) => (path === undefined ? [] : [`${name}=${path}`]));
  return [
    "--experimental",
    `--cluster-addr=${store.address}`,
    ...(store.advertise === undefined ? [] : [`--cluster-advertise=${store.advertise}`]),
    `--socket-addr=http=${settings.address}`,
    `--socket-addr=${STATE_SOCKET}=${settings.stateAddress}`,
    ...paths.map((path) => `--directory-path=${path}`),
  ];
}
