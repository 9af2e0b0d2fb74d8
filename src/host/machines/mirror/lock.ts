import { open, rename, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { sha256Hex } from "./folder.ts";
import { codeOf } from "./platform.ts";

const NAME = "lock";

/**
 * Takes a folder for this process: a socket in it that listens. The system ends it with the process, however that ends. Throws if
 * another process, or this one, has taken the folder. Gives what releases it.
 */
export async function lockFolder(folder: string, kvFolder: string): Promise<() => Promise<void>> {
  const refusal = new Error(
    `${kvFolder} is written by the mirror of another running edge. Stop it, or use another --state.`,
  );
  const handle = process.platform === "linux" ? await open(folder, "r") : undefined;
  // The path of a socket has at most 107 bytes, and that of a folder may be longer.
  const base = handle === undefined ? folder : `/proc/self/fd/${handle.fd}`;
  const path =
    process.platform === "win32" ? `\\\\.\\pipe\\waybill-${sha256Hex(Buffer.from(folder))}` : join(base, NAME);
  try {
    let server = await listen(path);
    if (server === undefined) {
      if (await isAlive(path)) throw refusal;
      // A killed process left it. Another may be at this point too: the name that is moved away may be its own.
      const former = join(base, `${NAME}.${process.pid}.former`);
      await rename(path, former).catch(() => undefined);
      if (await isAlive(former)) {
        await rename(former, path);
        throw refusal;
      }
      await rm(former, { force: true });
      server = await listen(path);
      if (server === undefined) throw refusal;
    }
    const taken = server;
    return async () => {
      await new Promise<void>((resolve) => taken.close(() => resolve()));
      await handle?.close();
    };
  } catch (error) {
    await handle?.close();
    throw error;
  }
}

/** `undefined`: the name is taken. */
function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => (codeOf(error) === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(path, () => {
      // It keeps no process running.
      server.unref();
      resolve(server);
    });
  });
}

function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
