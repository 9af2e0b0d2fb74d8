import { describe, expect, it } from "vitest";
import { MEMBERS, type Members, readMembers } from "../../../src/host/machines/members.ts";
import { readOptions } from "../../../src/host/machines/options.ts";

const EDGE: Members = { role: "edge", stateNodes: ["10.0.0.21:8443", "s2:8443"], stateTls: "/tls" };
const ALONE: Members = { role: "state", stateListen: "10.0.0.21:8443", stateTls: "/tls" };
const NODE: Members = {
  ...ALONE,
  bucket: "s3://acme/waybill",
  clusterAddr: "10.0.0.21:7000",
  clusterKeyFile: "/key",
};

/** Sentences on flags, and on a file of the same. */
const read = (flags: Members, file?: unknown) => {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  const machineFile =
    file === undefined ? undefined : { path: "m.json", text, resolve: (path: string) => `/etc/${path}` };
  const given = readMembers(flags, machineFile);
  return given.ok ? readOptions(given.value) : given;
};
const faultsOf = (flags: Members, file?: unknown) => {
  const options = read(flags, file);
  return options.ok ? [] : options.error;
};

describe("options of a machine", () => {
  it("of an edge, with what it does not say", () => {
    expect(read({ ...EDGE, name: "e1" })).toEqual({
      ok: true,
      value: {
        role: "edge",
        name: "e1",
        stateFolder: ".waybill/edge",
        tlsFolder: "/tls",
        stopMs: 30_000,
        tracesUrl: undefined,
        listen: { host: "127.0.0.1", port: 8787 },
        processes: 1,
        stateNodes: ["10.0.0.21:8443", "s2:8443"],
      },
    });
  });

  it("of a node of a cluster", () => {
    const peers = ["10.0.0.22:7000", "10.0.0.23:7000"];
    expect(read({ ...NODE, peers, bucketOptions: ["aws_region=auto"], stopTimeout: 30 })).toMatchObject({
      value: {
        role: "state",
        stateFolder: ".waybill/state",
        stopMs: 30_000,
        stateListen: { host: "10.0.0.21", port: 8443 },
        cluster: {
          bucket: "s3://acme/waybill",
          bucketOptions: ["aws_region=auto"],
          address: { host: "10.0.0.21", port: 7000 },
          keyFile: "/key",
          peers: [
            { host: "10.0.0.22", port: 7000 },
            { host: "10.0.0.23", port: 7000 },
          ],
        },
      },
    });
  });

  it("finds the bucket's credentials from the folder of the file, or from where it runs", () => {
    const bucketOptions = ["aws_credentials_file=s3"];
    expect(read({}, { ...NODE, bucketOptions })).toMatchObject({
      value: { cluster: { bucketOptions: ["aws_credentials_file=/etc/s3"] } },
    });
    expect(read({ ...NODE, bucketOptions })).toMatchObject({
      value: { cluster: { bucketOptions: [`aws_credentials_file=${process.cwd()}/s3`] } },
    });
  });

  it("of an unclustered state node: 15 s to stop, and no cluster", () => {
    expect(read(ALONE)).toMatchObject({ value: { stopMs: 15_000, cluster: undefined } });
  });

  it("from a file with comments, whose paths are relative to it; the command line wins", () => {
    const text = `{
      // the first of two
      "role": "edge", "name": "e1", "stateTls": "tls", "stateNodes": ["s1:8443"], "processes": 2,
    }`;
    expect(read({ processes: 4 }, text)).toMatchObject({
      value: { name: "e1", tlsFolder: "/etc/tls", processes: 4, stateNodes: ["s1:8443"] },
    });
  });

  it.each<readonly [what: string, flags: Members, file: unknown, faults: readonly (string | RegExp)[]]>([
    ["no role", { processes: 2 }, undefined, ["--processes needs --role edge"]],
    ["no role for TLS", { stateTls: "/tls" }, undefined, ["--state-tls needs --role edge or state"]],
    ["a misspelled role", { role: "egde" }, undefined, ['--role: "egde" is no role; write edge']],
    ["a file without a role", {}, {}, ['m.json has no role: write "role": "edge" or "role": "state"']],
    ["a file that is no JSON", {}, "{", ["m.json is no JSON on line 1: correct it (comments are allowed)"]],
    [
      "a comma that is missing",
      {},
      '{\n  "role": "edge", // comments count\n  "name": "e1"\n  "processes": 2\n}',
      ["m.json is no JSON on line 4: correct it (comments are allowed)"],
    ],
    ["an empty file", {}, "", ["m.json is no JSON on line 1: correct it (comments are allowed)"]],
    ["a file with a list", {}, [], ['m.json must hold a JSON object, such as {"role": "edge"}']],
    ["a name twice", {}, '{"role": "edge", "role": "state"}', ['m.json has "role" twice: remove one']],
    [
      "an unknown name",
      {},
      { ...EDGE, stateNode: ["s1:1"] },
      ["stateNode in m.json is no option of serve --role; write stateNodes"],
    ],
    [
      "a flag's spelling",
      {},
      { ...EDGE, "state-tls": "x" },
      ["state-tls in m.json is no option of serve --role; write stateTls"],
    ],
    [
      "a name like no other",
      {},
      { ...EDGE, zzz: 1 },
      [/^zzz in m.json is no option of serve --role; there are role, name/],
    ],
    [
      "a text for a list",
      {},
      { ...EDGE, stateNodes: "s1:8443" },
      ['stateNodes in m.json must be a list of texts, such as ["a", "b"]'],
    ],
    ["an empty list", {}, { ...EDGE, stateNodes: [] }, [/^stateNodes in m.json must be a list/]],
    ["a text for a number", {}, { ...EDGE, processes: "2" }, ["processes in m.json must be a whole number"]],
    ["a fraction", {}, { ...EDGE, processes: 1.5 }, ["processes in m.json must be a whole number"]],
    ["an object for a text", {}, { ...EDGE, name: {} }, ['name in m.json must be a text, such as "a"']],
    ["null", {}, { ...EDGE, name: null }, ['name in m.json must be a text, such as "a"']],
    [
      "an option of the other role",
      { ...EDGE, bucket: "s3://acme" },
      undefined,
      [/^--bucket belongs to the role state, and the role is edge/],
    ],
    [
      "the same in a file",
      ALONE,
      { processes: 2 },
      [/^processes in m.json belongs to the role edge, and the role is state/],
    ],
    ["an edge that publishes", { ...EDGE, table: "t.json" }, undefined, [/^--table belongs to the role state/]],
    ["an edge without state nodes", { role: "edge", stateTls: "/t" }, undefined, [/^--state-nodes is missing/]],
    ["an edge without certificates", { role: "edge", stateNodes: ["s:1"] }, undefined, [/^--state-tls is missing/]],
    [
      "ten state nodes",
      { ...EDGE, stateNodes: Array.from({ length: 10 }, (_, at) => `s${at}:1`) },
      undefined,
      [/at most 9/],
    ],
    ["a state node twice", { ...EDGE, stateNodes: ["s:1", "s:1"] }, undefined, ["--state-nodes: s:1 is there twice"]],
    [
      "a state node twice, in two spellings",
      { ...EDGE, stateNodes: ["[fd00::1]:1", "[FD00:0::1]:1"] },
      undefined,
      ["--state-nodes: [fd00::1]:1 is there twice"],
    ],
    [
      "a peer twice, in two spellings",
      { ...NODE, peers: ["S2:7000", "s2:7000"] },
      undefined,
      ["--peers: s2:7000 is there twice"],
    ],
    [
      "a port with a zero before it",
      { ...NODE, peers: ["s2:7000", "s2:07000"] },
      undefined,
      [/"s2:07000": write host/],
    ],
    [
      "itself as a peer, in another spelling",
      { ...NODE, clusterAddr: "[fd00::21]:7000", peers: ["[FD00:0:0::21]:7000", "s2:7000"] },
      undefined,
      [/\[fd00::21\]:7000 is this node/],
    ],
    [
      "a state node without a port",
      { ...EDGE, stateNodes: ["s1"] },
      undefined,
      [/^--state-nodes: "s1": write host and port/],
    ],
    ["port 0 of others", { ...EDGE, stateNodes: ["s1:0"] }, undefined, [/others need its port/]],
    [
      "a port that there is not",
      { ...EDGE, listen: "0.0.0.0:65536" },
      undefined,
      [/^--listen: "0.0.0.0:65536": write host/],
    ],
    ["half an IPv4 address", { ...EDGE, listen: "10.0.0:80" }, undefined, [/the host is no IPv4 address/]],
    ["a false IPv6 address", { ...EDGE, listen: "[1::2::3]:80" }, undefined, [/no IPv6 address/]],
    [
      "more processes than ports",
      { ...EDGE, listen: "0.0.0.0:65535", processes: 2 },
      undefined,
      [/the last one is 65535/],
    ],
    ["no process", { ...EDGE, processes: 0 }, undefined, ["--processes: must be a whole number from 1 to 64"]],
    ["a name with a space", { ...EDGE, name: "e 1" }, undefined, ["--name: must be 1 to 64 letters, digits, - and ."]],
    [
      "a standard stream",
      { ...EDGE, listen: "fd:2" },
      undefined,
      [/^--listen: "fd:2": a socket of systemd is fd:3 or above/],
    ],
    [
      "a state node on a descriptor",
      { ...ALONE, listen: "fd:3" },
      undefined,
      [/a state node opens its sockets itself/],
    ],
    ["a state node that no edge reaches", { role: "state", stateTls: "/t" }, undefined, [/^--state-listen is missing/]],
    [
      "a key without a bucket",
      { ...ALONE, clusterKeyFile: "/k" },
      undefined,
      ["--cluster-key-file needs --bucket: only a cluster has it"],
    ],
    [
      "peers without a bucket",
      { ...ALONE, peers: ["a:1", "b:1"] },
      undefined,
      ["--peers needs --bucket: only a cluster has it"],
    ],
    [
      "a bucket alone",
      { ...ALONE, bucket: "s3://acme" },
      undefined,
      [/^--cluster-addr is missing/, /^--cluster-key-file is missing/],
    ],
    [
      "a bucket by its URL",
      { ...NODE, bucket: "https://acme.s3.amazonaws.com" },
      undefined,
      [/^--bucket: .*write s3:/],
    ],
    [
      "a public address",
      { ...NODE, clusterAddr: "8.8.8.8:7000" },
      undefined,
      [/^--cluster-addr: 8.8.8.8 is a public address/],
    ],
    ["a public IPv6 address", { ...NODE, clusterAddr: "[2001:4860::1]:7000" }, undefined, [/is a public address/]],
    [
      "a public address for others",
      { ...NODE, clusterAdvertise: "8.8.8.8:7000" },
      undefined,
      [/^--cluster-advertise: 8.8.8.8/],
    ],
    [
      "a wildcard alone",
      { ...NODE, clusterAddr: "0.0.0.0:7000" },
      undefined,
      [/^--cluster-addr: 0.0.0.0 needs --cluster-advertise/],
    ],
    [
      "a wildcard for others",
      { ...NODE, clusterAddr: "0.0.0.0:7000", clusterAdvertise: "[::]:7000" },
      undefined,
      [/must be the address of this node/],
    ],
    [
      "a port that nobody finds",
      { ...NODE, clusterAddr: "10.0.0.21:0" },
      undefined,
      [/^--cluster-addr: .*others need its port/],
    ],
    ["one peer", { ...NODE, peers: ["10.0.0.22:7000"] }, undefined, [/^--peers: the watchdog needs two peers or more/]],
    [
      "itself as a peer",
      { ...NODE, peers: ["10.0.0.21:7000", "10.0.0.22:7000"] },
      undefined,
      [/10.0.0.21:7000 is this node/],
    ],
    [
      "a secret on the line",
      { ...NODE, bucketOptions: ["aws_secret_access_key=hush"] },
      undefined,
      [
        "--bucket-options: aws_secret_access_key is a secret: write it into a file that aws_credentials_file=/PATH names",
      ],
    ],
    [
      "a secret in the file",
      NODE,
      { bucketOptions: ["aws_token=hush"] },
      [/^bucketOptions in m.json: aws_token is a secret/],
    ],
    [
      "an unknown option",
      { ...NODE, bucketOptions: ["aws_regoin=a"] },
      undefined,
      ["--bucket-options: aws_regoin is unknown; write aws_region"],
    ],
    [
      "an option that workerd would leave out",
      { ...NODE, bucketOptions: ["hush"] },
      undefined,
      [/an option is NAME=VALUE/],
    ],
    [
      "an endpoint without a scheme",
      { ...NODE, bucketOptions: ["aws_endpoint=s3.acme"] },
      undefined,
      [/aws_endpoint must be a URL/],
    ],
    [
      "an endpoint with a password",
      { ...NODE, bucketOptions: ["aws_endpoint=https://a:b@s3.acme"] },
      undefined,
      [/aws_endpoint must be a URL/],
    ],
    [
      "options of another store",
      { ...NODE, bucket: "gs://acme/w", bucketOptions: ["aws_region=a"] },
      undefined,
      [/a bucket of Google takes none/],
    ],
    [
      "a port twice",
      { ...ALONE, listen: "10.0.0.21:8443" },
      undefined,
      ["--listen and --state-listen both take port 8443: give each its own"],
    ],
    [
      "a port twice by a wildcard",
      { ...NODE, listen: "0.0.0.0:7000" },
      undefined,
      [/^--listen and --cluster-addr both take port 7000/],
    ],
    [
      "a table of each node",
      { ...NODE, table: "t.json" },
      undefined,
      [/^--table: nodes of a cluster publish no table/],
    ],
    [
      "too long a stop",
      { ...EDGE, stopTimeout: 3_601 },
      undefined,
      ["--stop-timeout: must be a whole number from 0 to 3600"],
    ],
  ])("refuses %s", (_, flags, file, expected) => {
    const faults = faultsOf(flags, file);
    expect(faults).toHaveLength(expected.length);
    for (const [at, each] of expected.entries()) expect(faults[at]).toMatch(each);
    // A fault may quote a place, and never a secret.
    expect(faults.join()).not.toContain("hush");
  });

  it("takes each private address for a cluster, and names", () => {
    const hosts = [
      "10.9.8.7",
      "127.0.0.1",
      "172.16.0.1",
      "172.31.0.1",
      "192.168.1.1",
      "169.254.1.1",
      "100.64.0.1",
      "[::1]",
      "[fd00::1]",
      "[fe80::1]",
      "s1.internal",
    ];
    for (const host of hosts) expect(faultsOf({ ...NODE, clusterAddr: `${host}:7000` })).toEqual([]);
    for (const host of ["172.32.0.1", "172.15.0.1", "100.128.0.1", "100.63.0.1", "11.0.0.1", "[2a00::1]"])
      expect(faultsOf({ ...NODE, clusterAddr: `${host}:7000` })).toHaveLength(1);
  });

  it("takes the same port on different hosts, and ports that the system chooses", () => {
    expect(faultsOf({ ...ALONE, listen: "127.0.0.1:8443" })).toEqual([]);
    expect(faultsOf({ ...ALONE, listen: "127.0.0.1:0", stateListen: "127.0.0.1:0" })).toEqual([]);
  });

  it("has each name as a flag, or in the file alone", () => {
    const inFileOnly = Object.entries(MEMBERS).filter(([, member]) => "isInFileOnly" in member);
    expect(inFileOnly.map(([name]) => name)).toEqual(["unsafeTimeDivisor"]);
  });
});
