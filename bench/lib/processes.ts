import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { stopChild } from "../../src/host/child.ts";

/** Origins and clients are separate processes, so their work does not count as the gateway's. */
const startProcess = (file: URL): ChildProcess => fork(fileURLToPath(file));

const ORIGIN = new URL("../gateway/origin.process.ts", import.meta.url);

export async function startOrigin() {
  const child = startProcess(ORIGIN);
  const { port } = await nextMessage<{ port: number }>(child);
  return { url: `http://127.0.0.1:${port}`, port, pid: child.pid ?? 0, stop: () => stopChild(child) };
}

/** Sends requests by a process of this file, which gives figures for each, or an error. */
export function startClients<Request extends object, Figures extends object>(file: URL) {
  const child = startProcess(file);
  const run = async (request: Request): Promise<Figures> => {
    child.send(request);
    const found = await nextMessage<Figures | { error: string }>(child);
    if ("error" in found) throw new Error(found.error);
    return found;
  };
  return { run, stop: () => stopChild(child) };
}

async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  const [message]: Message[] = await once(child, "message");
  if (message === undefined) throw new Error("a child process sent no message");
  return message;
}
