import { stateBinding } from "../../formats/machines.ts";
import { httpSocket } from "./config.ts";
import { configText, quoted, type WorkerSettings } from "./config-text.ts";
import { keypair, RPC_HOST, STATE_NAME, type TlsTexts, trusted } from "./tls-text.ts";
import { CONFIG_FILE } from "./workerd.ts";

/** An edge: it routes from its own disk, and asks state nodes for the rest. No object runs on it. */
export interface EdgeSettings extends WorkerSettings {
  /** `host:port` to listen on. */
  readonly address: string;
  /** Absolute path: the mirror's values, one file per KV key. */
  readonly kvFolder: string;
  /** `host:port` of the state socket of each state node. */
  readonly stateNodes: readonly string[];
  readonly tls: TlsTexts;
}

/** Pure. */
export function edgeConfig(settings: EdgeSettings): string {
  return configText({
    ...settings,
    storage: [
      // The mirror alone writes, so that a value is whole whenever it is there.
      `(name = "kv", disk = (path = ${quoted(settings.kvFolder)}))`,
      ...settings.stateNodes.map((address, at) => stateNode(address, at, settings.tls)),
    ],
    sockets: [httpSocket(settings.address)],
    bindings: settings.stateNodes.map((_, at) => `(name = "${stateBinding(at)}", service = "state-${at + 1}")`),
    hasObjects: false,
  });
}

const stateNode = (address: string, at: number, tls: TlsTexts): string =>
  `(name = "state-${at + 1}", external = (address = ${quoted(address)}, https = (options = (capnpConnectHost = "${RPC_HOST}"), ` +
  `certificateHost = "${STATE_NAME}", tlsOptions = (${keypair(tls)}, ${trusted(tls)}))))`;

/** Each process has a port, and so a configuration of its own. */
export const configFiles = (processes: number): readonly string[] =>
  Array.from({ length: processes }, (_, at) => (at === 0 ? CONFIG_FILE : CONFIG_FILE.replace(".", `-${at + 1}.`)));
