import { setTimeout as delay } from "node:timers/promises";
import { startMirror } from "../../../../src/host/machines/mirror/mirror.ts";
import { type Disk, nodeDisk } from "../../../../src/host/machines/mirror/platform.ts";

/** A mirror that ends by SIGKILL after so many file operations, on the real disk. */

const [kvFolder = "", tls = "", node = "", after = "0", revision = ""] = process.argv.slice(2);
let left = Number(after);

/** The call is the operation: between it and its end the process may die too. */
const counted = <Values extends readonly unknown[], Value>(work: (...values: Values) => Promise<Value>) => {
  return (...values: Values): Promise<Value> => {
    if (left-- === 0) process.kill(process.pid, "SIGKILL");
    return work(...values);
  };
};

const disk: Disk = {
  read: nodeDisk.read,
  list: nodeDisk.list,
  makeFolder: nodeDisk.makeFolder,
  write: counted(nodeDisk.write),
  sync: counted(nodeDisk.sync),
  syncFolder: counted(nodeDisk.syncFolder),
  rename: counted(nodeDisk.rename),
  link: counted(nodeDisk.link),
  remove: counted(nodeDisk.remove),
};

const mirror = await startMirror({
  nodes: [node],
  tls,
  kvFolder,
  edge: { name: "edge-1", version: "1.0.0", processes: 1 },
  codeVersion: "0123456789abcdef",
  report: () => undefined,
  disk,
});
while (mirror.status().revision !== Number(revision)) await delay(5);
process.stdout.write(`${mirror.status().revision}\n`);
await mirror.stop();
