import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type Hosts, hostOf } from "./host.ts";
import { noSuchHost } from "./loopback.ts";

/**
 * Hosts in network namespaces, on a bridge in one more: nothing of it is seen outside, so trials beside each other may have
 * the same addresses. A cut gives both sides a wrong link address of the other: packets are sent, and nobody takes them. It
 * needs `ip` alone.
 */

/** Nobody has it: a locally administered address. */
const NOBODY = "02:00:00:00:00:01";
const MARK = "waybill-";

/** Why they cannot be made here; `undefined` if they can. */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== "linux") return "network namespaces are Linux's";
  if (process.getuid?.() !== 0) return "network namespaces need root";
  const trial = `${MARK}${process.pid}-trial`;
  const made = spawnSync("ip", ["netns", "add", trial], { encoding: "utf8" });
  if (made.error !== undefined) return "network namespaces need ip (Debian: iproute2)";
  if (made.status !== 0) return `network namespaces cannot be made: ${made.stderr.trim()}`;
  const bridged = spawnSync("ip", ["-n", trial, "link", "add", "net", "type", "bridge"], { encoding: "utf8" });
  ip(["netns", "del", trial]);
  return bridged.status === 0 ? undefined : `a bridge cannot be made: ${bridged.stderr.trim()}`;
}

let made = 0;

export function namespaceHosts(names: readonly string[]): Hosts {
  removeThoseOfTheDead();
  made += 1;
  const mark = `${MARK}${process.pid}-${made}`;
  const spaceOf = (name: string) => `${mark}-${name}`;
  const addressOf = (name: string) => {
    const at = names.indexOf(name);
    return at < 0 ? noSuchHost(name) : `10.77.${Math.floor(at / 200)}.${10 + (at % 200)}`;
  };
  const bridge = spaceOf("net");
  const remove = () => {
    for (const name of [...names, "net"]) spawnSync("ip", ["netns", "del", spaceOf(name)]);
  };
  process.once("exit", remove);
  ip(["netns", "add", bridge]);
  ip(["-n", bridge, "link", "add", "net", "type", "bridge"]);
  ip(["-n", bridge, "link", "set", "net", "up"]);
  for (const [at, name] of names.entries()) join(spaceOf(name), `${addressOf(name)}/16`, bridge, `port${at}`);
  const hosts = names.map((name) => {
    const space = spaceOf(name);
    return hostOf(name, addressOf(name), {
      prefix: ["ip", "netns", "exec", space],
      processes: () => ip(["netns", "pids", space]).split("\n").filter(Boolean).map(Number),
    });
  });
  const neighbour = (of: string, to: string, rest: readonly string[]) =>
    ip(["-n", spaceOf(of), "neigh", rest.length > 0 ? "replace" : "del", addressOf(to), ...rest, "dev", "eth0"]);
  let cut: (readonly [string, string])[] = [];
  return {
    at: (name) => hosts.find((host) => host.name === name) ?? noSuchHost(name),
    cuts: {
      cut: (one, others) => {
        for (const [of, to] of others.flatMap((other) => [[one, other] as const, [other, one] as const])) {
          neighbour(of, to, ["lladdr", NOBODY, "nud", "permanent"]);
          cut.push([of, to]);
        }
      },
      mend: () => {
        for (const [of, to] of cut) neighbour(of, to, []);
        cut = [];
      },
    },
    stop: async () => {
      await Promise.all(hosts.map((host) => host.kill()));
      remove();
      process.off("exit", remove);
    },
  };
}

function join(space: string, address: string, bridge: string, port: string): void {
  ip(["netns", "add", space]);
  ip(["-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", bridge]);
  ip(["-n", bridge, "link", "set", port, "master", "net", "up"]);
  ip(["-n", space, "addr", "add", address, "dev", "eth0"]);
  for (const device of ["lo", "eth0"]) ip(["-n", space, "link", "set", device, "up"]);
}

/** A trial that was killed leaves its namespaces, which its process ID names. */
function removeThoseOfTheDead(): void {
  for (const line of ip(["netns", "list"]).split("\n")) {
    const [space = ""] = line.split(" ");
    const pid = /^waybill-(\d+)-/.exec(space)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) spawnSync("ip", ["netns", "del", space]);
  }
}

function ip(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("ip", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr.trim()}`);
  return stdout;
}
