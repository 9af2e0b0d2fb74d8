import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createSocket, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ENGINES, type Engine, type ExportOptions, exportTable } from "../../src/export/index.ts";
import { stopChild } from "../../src/host/child.ts";
import type { DeclaredTable } from "../../src/routing/index.ts";

/** Real engines with exported configurations, and the means to ask them. */

export const isInstalled = (program: string): boolean =>
  spawnSync(program, ["-v"]).error === undefined &&
  (program !== "nginx" || existsSync(join(EXPORT_OPTIONS.modulesFolder, "ngx_http_lua_module.so")));

/** Arguments of each in the foreground. */
export const COMMANDS: Readonly<Record<string, (folder: string) => readonly string[]>> = {
  nginx: (folder) => ["-p", folder, "-c", "nginx.conf", "-g", "daemon off;"],
  haproxy: (folder) => ["-db", "-f", join(folder, "haproxy.cfg")],
};

/** Those that can be run here. */
export const installedEngines = (): readonly Engine[] =>
  ENGINES.filter((engine) => engine in COMMANDS && isInstalled(engine));

export const EXPORT_OPTIONS: ExportOptions = {
  listen: "127.0.0.1:8080",
  waybill: undefined,
  gatewayName: "waybill",
  deadlines: { firstByteMs: 30_000, idleMs: 60_000 },
  caFile: "/etc/ssl/certs/ca-certificates.crt",
  modulesFolder: "/usr/lib/nginx/modules",
  stateFolder: undefined,
  folder: "/etc/waybill",
};

/** One process on one thread, so that what it takes is that of a single processor. */
export const asOneProcess = (text: string): string =>
  text.replace("worker_processes auto;", "master_process off;").replace(/^global$/m, "global\n  nbthread 1");

export interface RunningEngine {
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  stop(): Promise<void>;
}

/** A port that was free a moment ago: these engines cannot tell which one the system chose. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createSocket().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });

export async function startEngine(
  engine: Engine,
  declared: DeclaredTable,
  waybill: string | undefined,
  change: (text: string) => string = (text) => text,
  more: Partial<ExportOptions> = {},
): Promise<RunningEngine> {
  // Another process may take a free port before the engine does.
  for (let turn = 1; ; turn++) {
    try {
      return await startOnce(engine, declared, waybill, change, more);
    } catch (why) {
      if (turn === 3) throw why;
    }
  }
}

async function startOnce(
  engine: Engine,
  declared: DeclaredTable,
  waybill: string | undefined,
  change: (text: string) => string,
  more: Partial<ExportOptions>,
): Promise<RunningEngine> {
  const folder = mkdtempSync(join(tmpdir(), `waybill-${engine}-`));
  const port = await freePort();
  const stateFolder = join(folder, "state");
  mkdirSync(stateFolder);
  const { files } = exportTable(engine, declared, {
    ...EXPORT_OPTIONS,
    listen: `127.0.0.1:${port}`,
    waybill,
    stateFolder,
    folder,
    ...more,
  });
  for (const { name, text } of files) writeFileSync(join(folder, name), change(text));
  return startProgram(engine, folder, port);
}

async function startProgram(engine: Engine, folder: string, port: number): Promise<RunningEngine> {
  const child = spawn(engine, COMMANDS[engine]?.(folder) ?? [], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  await listening(port, child, () => log);
  const stop = async () => {
    await stopChild(child);
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, pid: child.pid ?? 0, folder, stop };
}

async function listening(port: number, child: ChildProcess, log: () => string): Promise<void> {
  for (let turn = 0; turn < 100; turn++) {
    if (child.exitCode !== null) break;
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => socket.destroy(resolve(true) as never));
      socket.on("error", () => resolve(false));
    });
    if (isUp) return;
    await delay(50);
  }
  throw new Error(`it does not listen: ${log()}`);
}

/** Origins that say which region was asked, and for what. */
export async function startOrigins(declared: DeclaredTable) {
  const servers = await Promise.all(
    Object.entries(declared.regions).map(async ([region, { origins }]) => {
      const urls = await Promise.all(
        origins.map(async (origin, at) => {
          const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
            request.resume().on("end", () => {
              const { method, url, headers: fields, trailers } = request;
              const body = JSON.stringify({ region, origin: at, method, url, fields: { ...fields, ...trailers } });
              response.setHeader("x-origin", `${region} ${at}`);
              response.setHeader("content-type", "application/json");
              response.setHeader("content-length", Buffer.byteLength(body));
              response.end(method === "HEAD" ? undefined : body);
            });
          });
          await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
          const address = server.address();
          const port = typeof address === "object" ? (address?.port ?? 0) : 0;
          return {
            server,
            origin: { ...origin, url: `http://127.0.0.1:${port}${new URL(origin.url).pathname.replace(/\/$/, "")}` },
          };
        }),
      );
      return { region, urls };
    }),
  );
  const regions = Object.fromEntries(
    servers.map(({ region, urls }) => [
      region,
      { ...declared.regions[region], origins: urls.map(({ origin }) => origin) },
    ]),
  );
  const stop = async () => {
    for (const { server } of servers.flatMap(({ urls }) => urls)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  };
  return { declared: { ...declared, regions } as DeclaredTable, stop };
}

export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends each request on one of a few connections, in turn, and reads its answer. */
export async function askAll(port: number, requests: readonly string[], connections = 16): Promise<readonly Answer[]> {
  const answers = new Array<Answer>(requests.length);
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(connections, requests.length) }, async () => {
      let socket: Socket | undefined;
      while (next < requests.length) {
        const at = next++;
        for (let turn = 0; ; turn++) {
          if (socket === undefined || socket.destroyed) socket = connect({ port, host: "127.0.0.1", noDelay: true });
          const answer = await askOn(socket, requests[at] as string);
          if (answer.isLast) {
            socket.destroy();
            socket = undefined;
          }
          // A kept connection may be closed just as it is used again.
          if (answer.status === 0 && turn < 2) continue;
          answers[at] = answer;
          break;
        }
      }
      socket?.destroy();
    }),
  );
  return answers;
}

function askOn(socket: Socket, request: string): Promise<Answer & { readonly isLast: boolean }> {
  return new Promise((resolve) => {
    let received = "";
    const finish = (answer: Answer, isLast: boolean) => {
      clearTimeout(patience);
      socket.removeAllListeners("data").removeAllListeners("close").removeAllListeners("error");
      socket.on("error", () => undefined);
      resolve({ ...answer, isLast });
    };
    const patience = setTimeout(() => finish({ status: 0, head: "late", body: received }, true), 20_000);
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      const answer = readAnswer(received, request.startsWith("HEAD "));
      if (answer !== undefined) finish(answer, /\r\nconnection: close/i.test(answer.head));
    });
    socket.on("error", () => finish({ status: 0, head: "broken", body: received }, true));
    socket.on("close", () => {
      const [head = "", body = ""] = received.split("\r\n\r\n", 2);
      finish({ status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0), head, body }, true);
    });
    socket.write(Buffer.from(request, "latin1"));
  });
}

function readAnswer(received: string, isHead: boolean): Answer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = received.slice(0, end);
  const rest = received.slice(end + 4);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0);
  // An interim answer comes before the answer itself.
  if (status < 200 && status > 101) return readAnswer(rest, isHead);
  if (isHead || status === 204 || status === 304) return { status, head, body: "" };
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined)
    return rest.length >= Number(length) ? { status, head, body: rest.slice(0, Number(length)) } : undefined;
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return undefined;
  return rest.endsWith("0\r\n\r\n") ? { status, head, body: rest } : undefined;
}

/** The compared part of an answer: the origin asked and its request, or the status of the problem. */
export function outcomeOf({ status, head, body }: Answer): string {
  const origin = /\r\nx-origin: *(\S+ \d+)/i.exec(head)?.[1];
  if (origin === undefined) return String(status);
  const start = body.indexOf("{");
  const { url } = JSON.parse(body.slice(start, body.lastIndexOf("}") + 1)) as { url: string };
  return `${status} ${origin} ${url}`;
}

export const requestFor = (target: string, method = "GET", fields: readonly string[] = []): string =>
  [`${method} ${target} HTTP/1.1`, "host: gw.test", ...fields, "", ""].join("\r\n");
