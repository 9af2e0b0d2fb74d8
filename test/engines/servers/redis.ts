import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWithParent, stopChild } from "../../../src/host/child.ts";
import type { Packages, Uninstalled } from "../packages.ts";
import { commandOf, connectWhenUp } from "./engine.ts";

/** A Redis on a socket in a folder of its own, with a client of each kind. `undefined`: Redis is not installed. */
export const startRedis = async ({ load }: Packages) => {
  const command = commandOf("redis-server");
  if (command === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "waybill-redis-"));
  const socket = join(folder, "socket");
  const options = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder];
  const child = spawn(command, options, { stdio: "ignore" });
  endWithParent(child);
  const { createClient } = load("redis");
  const redis = await connectWhenUp(
    (): Promise<Uninstalled> => createClient({ socket: { path: socket, reconnectStrategy: false } }).connect(),
  );
  const ioredis = new (load("ioredis").Redis)(socket);
  const close = async () => {
    ioredis.disconnect();
    await redis.close();
    await stopChild(child);
    rmSync(folder, { recursive: true, force: true });
  };
  return { socket, redis, ioredis, close };
};
