import { describe, expect, it } from "vitest";
import { workerdConfig } from "../../../src/host/workerd/config.ts";
import { edgeConfig } from "../../../src/host/workerd/edge-config.ts";
import { nodeFlags, type StateSettings, stateConfig } from "../../../src/host/workerd/state-config.ts";

const worker = { workerFolder: "worker", modules: ["main.js", "table.txt"], vars: { A: 'x"y' } };
const CA = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

const TLS = { authorities: [CA], certificate: "CERT\n", key: "KEY\n" };

const edge = {
  ...worker,
  address: "0.0.0.0:8001",
  kvFolder: "/e1/kv",
  stateNodes: ["10.0.0.21:8443", "s2.internal:8443"],
  tls: TLS,
};
const alone: StateSettings = {
  ...worker,
  address: "127.0.0.1:8701",
  stateAddress: "10.0.0.21:8443",
  tls: TLS,
  durableObjectsFolder: "/s1/durable-objects",
  startFolder: "/s1/start",
  store: { kvFolder: "/s1/kv" },
};
const node = (number: number): StateSettings => ({
  ...alone,
  address: `127.0.0.1:870${number}`,
  stateAddress: `10.0.0.2${number}:8443`,
  durableObjectsFolder: `/s${number}/durable-objects`,
  startFolder: `/s${number}/start`,
  consoleFolder: `/s${number}/console`,
  store: {
    bucket: "s3://acme/waybill",
    bucketOptions: ["aws_region=auto"],
    key: "k".repeat(32),
    stopMs: 8_000,
    timeDivisor: undefined,
    address: `10.0.0.2${number}:7000`,
    advertise: number === 3 ? "192.168.0.3:7000" : undefined,
  },
});

/** Lines that one has and the other has not, in their order. */
const linesBeside = (text: string, other: string): readonly string[] => {
  const known = new Set(other.split("\n"));
  return text.split("\n").filter((line) => !known.has(line));
};

const oneMachine = workerdConfig({
  ...worker,
  address: "127.0.0.1:8701",
  kvFolder: "/s1/kv",
  durableObjectsFolder: "/s1/durable-objects",
  startFolder: "/s1/start",
});

const TRUSTED = 'trustedCertificates = ["-----BEGIN CERTIFICATE-----\\x0aAAAA\\x0a-----END CERTIFICATE-----\\x0a"]';
const KEYPAIR = 'keypair = (privateKey = "KEY\\x0a", certificateChain = "CERT\\x0a")';

describe("the configuration of an edge", () => {
  it("differs from that of one machine in its KV, its state nodes, and objects that it has not", () => {
    expect(linesBeside(edgeConfig(edge), oneMachine)).toEqual([
      '    (name = "kv", disk = (path = "/e1/kv")),',
      ...edge.stateNodes.map(
        (address, at) =>
          `    (name = "state-${at + 1}", external = (address = "${address}", https = (options = (capnpConnectHost = "state.waybill:1"), certificateHost = "state.waybill", tlsOptions = (${KEYPAIR}, ${TRUSTED})))),`,
      ),
      '  sockets = [(name = "http", address = "0.0.0.0:8001", http = (), service = "waybill")],',
      '    (name = "STATE_1", service = "state-1"),',
      '    (name = "STATE_2", service = "state-2"),',
    ]);
    expect(edgeConfig(edge)).not.toMatch(/durableObject|durable-objects|writable|START_TABLE/);
  });
});

describe("the configuration of a state node", () => {
  it("differs from that of one machine in the socket of edges alone, where it keeps its state itself", () => {
    expect(linesBeside(stateConfig(alone), oneMachine)).toEqual([
      `  sockets = [(name = "http", address = "127.0.0.1:8701", http = (), service = "waybill"), (name = "state", address = "10.0.0.21:8443", service = (name = "waybill", entrypoint = "State"), https = (options = (capnpConnectHost = "state.waybill:1"), tlsOptions = (${KEYPAIR}, requireClientCerts = true, ${TRUSTED})))],`,
    ]);
    expect(nodeFlags(alone)).toEqual([]);
  });

  it("is the same text on each node of a cluster, and flags say the rest", () => {
    const [first, second, third] = [1, 2, 3].map(node) as [StateSettings, StateSettings, StateSettings];
    expect(stateConfig(second)).toBe(stateConfig(first));
    expect(stateConfig(third)).toBe(stateConfig(first));
    expect(nodeFlags(third)).toEqual([
      "--experimental",
      "--cluster-addr=10.0.0.23:7000",
      "--cluster-advertise=192.168.0.3:7000",
      "--socket-addr=http=127.0.0.1:8703",
      "--socket-addr=state=10.0.0.23:8443",
      "--directory-path=durable-objects=/s3/durable-objects",
      "--directory-path=console=/s3/console",
      "--directory-path=start-table=/s3/start",
    ]);
  });

  it("keeps its KV in the bucket, and has the key and no other secret", () => {
    const text = stateConfig(node(1));
    expect(text).toContain('    (name = "kv", bucket = (path = "kv")),');
    expect(text).toContain(
      `  cluster = (bucket = "s3://acme/waybill", bucketOptions = ["aws_region=auto"], key = "${"k".repeat(32)}", address = "127.0.0.1:0", stopTimeoutMs = 8000),`,
    );
    expect(text).not.toMatch(/\/s1\//);
  });

  it("shortens its times for tests alone", () => {
    const { store } = node(1);
    const text = stateConfig({ ...node(1), store: { ...store, timeDivisor: 20 } as typeof store });
    expect(text).toContain("stopTimeoutMs = 8000, unsafeTimeDivisor = 20),");
  });
});
