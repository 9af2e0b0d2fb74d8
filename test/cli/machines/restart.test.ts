import { describe, expect, it } from "vitest";
import { parseAddress } from "../../../src/host/machines/addresses.ts";
import { restartNodes, restartOneByOne } from "../../../src/host/machines/operate/restart.ts";
import type { MachineOptions, StateOptions } from "../../../src/host/machines/options.ts";

const addressOf = (text: string) => {
  const address = parseAddress(text);
  if (!address.ok) throw new Error(address.error);
  return address.value;
};

const node = (own: string, ...peers: readonly string[]): StateOptions => ({
  role: "state",
  stateFolder: `/nonexistent/${own}`,
  tlsFolder: "tls",
  stopMs: 1,
  listen: addressOf("127.0.0.1:1"),
  stateListen: addressOf("127.0.0.1:2"),
  cluster: {
    bucket: "s3://acme",
    bucketOptions: [],
    address: addressOf(own),
    keyFile: "key",
    peers: peers.map(addressOf),
  },
});

/** Each name's answers of `/ready`, in turn; the last one stays. Starts by `restart` begin a list of its own. */
async function restarted(after: Readonly<Record<string, string>>, before = "u", failing = "") {
  const left = new Map(Object.keys(after).map((name) => [name, before]));
  const order: string[] = [];
  const said: string[] = [];
  let nowMs = 0;
  const result = await restartOneByOne({
    nodes: Object.entries(after).map(([name, answers]) => ({
      address: { host: name, port: 7 },
      restart: async () => {
        order.push(name);
        if (name === failing) throw new Error("ssh ended with code 255");
        left.set(name, answers);
      },
    })),
    timeoutMs: 5_000,
    clock: {
      nowMs: () => nowMs,
      sleep: async (ms) => {
        nowMs += ms;
      },
    },
    isReady: async ({ host }) => {
      const answers = left.get(host) ?? "";
      if (answers.length > 1) left.set(host, answers.slice(1));
      return answers.startsWith("u");
    },
    report: (sentence) => said.push(sentence),
  });
  return { result, order, said };
}

describe("a restart of a cluster", () => {
  it("goes on once a node is ready again", async () => {
    const { result, order, said } = await restarted({ a: "uuddu", b: "ddddu", c: "du" });
    expect([result, order]).toEqual([{ ok: true, value: 3 }, ["a", "b", "c"]]);
    expect(said).toEqual([
      "a:7 is ready again after 1.3 s",
      "b:7 is ready again after 1.3 s",
      "c:7 is ready again after 0.5 s",
    ]);
  });

  it.each<readonly [what: string, after: Readonly<Record<string, string>>, error: string, failing: string]>([
    [
      "stays down",
      { a: "du", b: "d", c: "du" },
      "b:7: it stopped, and is not ready after 5 s. Not restarted: c:7.",
      "",
    ],
    ["never stops", { a: "u", b: "du", c: "du" }, "a:7: it did not stop within 5 s. Not restarted: b:7, c:7.", ""],
    ["cannot be restarted", { a: "du", b: "du" }, "b:7: ssh ended with code 255.", "b"],
  ])("ends at the first node that %s", async (_, after, error, failing) => {
    const { result, order } = await restarted(after, "u", failing);
    expect(result).toEqual({ ok: false, error });
    expect(order).not.toContain("c");
  });

  it("restarts none while one is down", async () => {
    const { result, order } = await restarted({ a: "du", b: "du" }, "d");
    expect(order).toEqual([]);
    expect(result).toMatchObject({ error: expect.stringMatching(/^a:7, b:7: not ready, so no node was restarted/) });
  });
});

describe("the nodes of a restart", () => {
  const [one, other, third] = ["10.0.0.1:7", "10.0.0.2:7", "10.0.0.3:7"] as const;
  const names = (files: readonly MachineOptions[], command?: string) => {
    const nodes = restartNodes(files, command);
    return nodes.ok ? nodes.value.map(({ address }) => address.host) : nodes.error;
  };

  it("are those of the files, and with a command their peers", () => {
    const three = [node(one, other, third), node(other, one, third), node(third, one, other)];
    expect(names(three)).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    expect(names(three.slice(0, 1), "ssh {host} x")).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
  });

  it("are refused where nothing says how one is restarted", () => {
    expect(names([node(one, other, third)])).toBe(
      "10.0.0.2:7 and 10.0.0.3:7: give the file of each node of this machine with --config, or a command for nodes elsewhere, such as --command 'ssh {host} systemctl restart waybill-state'.",
    );
    expect(names([node(one, other, third), node(other, one, third)])).toMatch(/^10\.0\.0\.3:7: give the file /);
    expect(names([{ ...node(one), cluster: undefined }])).toMatch(/^No file names a node of a cluster/);
  });

  it("are restarted by the command, with the address in place of its names", async () => {
    const started = restartNodes([node("[fd00::1]:7")], 'test "{host} {port}" = "fd00::1 7"');
    await expect(started.ok ? started.value[0]?.restart() : undefined).resolves.toBeUndefined();
    const failing = restartNodes([node(one)], "exit 3");
    await expect(failing.ok ? failing.value[0]?.restart() : undefined).rejects.toThrow("`exit 3` ended with code 3");
    const local = restartNodes([node(one)], undefined);
    await expect(local.ok ? local.value[0]?.restart() : undefined).rejects.toThrow("no node runs in /nonexistent/");
  });
});
