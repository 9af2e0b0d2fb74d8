import {
  COMPATIBILITY_DATE,
  COMPATIBILITY_FLAGS,
  configText,
  folderService,
  list,
  quoted,
  type WorkerSettings,
} from "./config-text.ts";

/** Deployment settings of a self-hosted gateway. */
export interface WorkerdSettings extends WorkerSettings {
  /** `host:port` to listen on; the system chooses a port for 0. */
  readonly address: string;
  /** Absolute path; one file per KV key. */
  readonly kvFolder: string;
  /** Absolute path; the Durable Objects' SQLite files. */
  readonly durableObjectsFolder: string;
  /** Absolute path of the folder by which a start hands a table over. */
  readonly startFolder?: string | undefined;
  /** Where origins on loopback really listen, by the port that the table names. */
  readonly loopbackPorts?: Readonly<Record<string, number>> | undefined;
  /** URL that says, with an encoded origin on loopback behind it, at which port another server stands in for it. */
  readonly standInsUrl?: string | undefined;
}

/** Socket name, used by `--control-fd` and `--socket-addr`. */
export const SOCKET_NAME = "http";

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

/** Asks the host for each request whether the origin is there: it may be started or stopped at any moment. Tells it of one that fails. */
const standInsWorker = (standInsUrl: string): string => `
const standIns = ${JSON.stringify(standInsUrl)};
const loopback = ${LOOPBACK};
export default {
  async fetch(request) {
    const url = new URL(request.url);
    if (!loopback.test(url.hostname)) return fetch(request);
    const place = standIns + encodeURIComponent(url.origin);
    const answer = await fetch(place);
    const port = await answer.text();
    if (!/^\\d+$/.test(port)) {
      try {
        return await fetch(request);
      } catch (error) {
        await fetch(place + "?failed").catch(() => undefined);
        throw error;
      }
    }
    url.protocol = "http:";
    url.hostname = "127.0.0.1";
    url.port = port;
    return fetch(new Request(url, request));
  },
};
`;

/** The configuration of one machine. Pure. */
export function workerdConfig(settings: WorkerdSettings): string {
  const { loopbackPorts, standInsUrl, startFolder } = settings;
  const [start, startBinding] = folderService("start-table", "START_TABLE", startFolder);
  const outboundCode = standInsUrl ? standInsWorker(standInsUrl) : loopbackPorts && outboundWorker(loopbackPorts);
  const hasOutbound = outboundCode !== undefined;
  return configText({
    ...settings,
    storage: [kvOnDisk(settings.kvFolder), objectsOnDisk(settings.durableObjectsFolder)],
    services: [...start, ...(hasOutbound ? ['(name = "outbound", worker = .outbound)'] : [])],
    sockets: [httpSocket(settings.address)],
    bindings: startBinding,
    hasObjects: true,
    workerMembers: [OBJECTS_STORAGE, ...(hasOutbound ? ['globalOutbound = "outbound"'] : [])],
    constants: hasOutbound
      ? `\nconst outbound :Workerd.Worker = (
  modules = [(name = "outbound.js", esModule = ${quoted(outboundCode)})],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ${list(COMPATIBILITY_FLAGS)},
);\n`
      : "",
  });
}

export const kvOnDisk = (folder: string): string => `(name = "kv", disk = (path = ${quoted(folder)}, writable = true))`;

export const objectsOnDisk = (folder: string): string =>
  `(name = "durable-objects", disk = (path = ${quoted(folder)}, writable = true))`;

export const OBJECTS_STORAGE = 'durableObjectStorage = (localDisk = "durable-objects")';

/** Where clients connect. */
export const httpSocket = (address: string): string =>
  `(name = "${SOCKET_NAME}", address = ${quoted(address)}, http = (), service = "waybill")`;
