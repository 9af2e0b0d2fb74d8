import { type Hosts, hostOf, withChildren } from "./host.ts";

/** Hosts that differ by their address alone: all of 127.0.0.0/8 is this machine. They cannot be cut apart. */
export function loopbackHosts(names: readonly string[]): Hosts {
  const second = 1 + (process.pid % 253);
  const third = 1 + (Math.floor(process.pid / 253) % 253);
  const hosts = names.map((name, at) =>
    hostOf(name, `127.${second}.${third}.${at + 1}`, { prefix: [], processes: withChildren }),
  );
  return {
    at: (name) => hosts.find((host) => host.name === name) ?? noSuchHost(name),
    cuts: undefined,
    stop: async () => {
      await Promise.all(hosts.map((host) => host.kill()));
    },
  };
}

export const noSuchHost = (name: string): never => {
  throw new RangeError(`there is no host ${name}`);
};
