import { once } from "node:events";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";

/** Another checkout of the project, measured beside this one: its sources run by this checkout's benchmark. */

export const OWN_CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

/** A module of a checkout, by its path in `src`. Its interface must still be the one that the benchmark uses. */
export const sourceOf = async <Module>(checkout: string, path: string): Promise<Module> =>
  import(pathToFileURL(resolve(checkout, "src", path)).href);

/** The next message of a thread. Rejects if the thread fails. */
export async function nextMessage<Message>(thread: Worker): Promise<Message> {
  const [message]: Message[] = await once(thread, "message");
  if (message === undefined) throw new Error("a benchmark thread sent no message");
  return message;
}
