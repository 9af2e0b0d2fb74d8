import { randomInt } from "node:crypto";
import { run } from "../../src/cli/program.ts";
import type { World } from "../../src/cli/world.ts";
import { err, ok } from "../../src/ids/index.ts";

/** Files of one run, by path, in memory. */
export type Files = Record<string, string | Uint8Array>;

const octetsOf = (content: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);

/** Runs the command in this process. */
export const waybill = async (args: readonly string[], files: Files, env: Readonly<Record<string, string>> = {}) => {
  const written = { stdout: "", stderr: "" };
  const read = (path: string) => {
    const content = files[path];
    return content === undefined ? err("no such file") : ok(octetsOf(content));
  };
  const world = {
    nowMs: Date.now,
    pause: async () => undefined,
    entropy: { word: () => randomInt(2 ** 32) },
    version: "0.0.0",
    publicIdKeys: env["PUBLIC_ID_KEYS"],
    env: (name: string) => env[name],
    readFile: read,
    fileExists: (path: string) => path in files,
    openFile: async (path: string) => {
      const content = read(path);
      return content.ok ? ok({ bytes: content.value.length, chunks: chunksOf(content.value) }) : content;
    },
    writeFile: (path: string, content: string) => {
      files[path] = content;
      return ok(undefined);
    },
    writeOctets: (path: string, content: Uint8Array) => {
      files[path] = content;
      return ok(undefined);
    },
    stdin: { isTerminal: false, chunks: chunksOf(new Uint8Array()) },
    print: async (text: string) => {
      written.stdout += text;
    },
    report: (text: string) => {
      written.stderr += text;
    },
    paint: (_: unknown, text: string) => text,
    isWatched: false,
    isReportWatched: false,
    ask: async () => err("nobody"),
    guard: (work: () => Promise<unknown>) => work(),
    fetch: globalThis.fetch,
  } as unknown as World;
  return { code: await run(args, world), ...written };
};

async function* chunksOf(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  if (octets.length > 0) yield octets;
}
