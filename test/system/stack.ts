import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningOrigin, startOrigins } from "../../src/demo/origin.ts";
import { tableWithOrigins } from "../../src/demo/table.ts";
import { type RunningGateway, startGateway } from "../../src/host/workerd/gateway.ts";
import { type CompiledTable, loadTable } from "../../src/routing/index.ts";
import { type DemoTable, readDemoTable } from "./demo/demo.ts";
import { moreOfOrigin } from "./demo/origin-more.ts";

/** The real thing: bare workerd, KV and Durable Objects on disk, origins on loopback. All ports are the system's choice. */
export interface Stack {
  readonly url: string;
  readonly gateway: RunningGateway;
  readonly declared: DemoTable;
  readonly table: CompiledTable;
  stop(): Promise<void>;
}

export interface DemoStack extends Stack {
  readonly origins: readonly RunningOrigin[];
}

export async function startDemoStack(vars: Readonly<Record<string, string>> = {}): Promise<DemoStack> {
  const origins = await startOrigins(0, moreOfOrigin);
  const stack = await startStack(tableWithOrigins(readDemoTable(), origins), vars);
  const stop = async () => {
    await stack.stop();
    await Promise.all(origins.map((origin) => origin.stop()));
  };
  return { ...stack, origins, stop };
}

export async function startStack(declared: DemoTable, vars: Readonly<Record<string, string>> = {}): Promise<Stack> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-"));
  const table = loadTable(declared, 1);
  if (!table.ok) throw new Error(JSON.stringify(table.error, null, 2));
  const gateway = await startGateway({
    port: 0,
    tableText: JSON.stringify(declared),
    stateFolder: folder,
    openPages: vars["ADMIN_TOKENS"] === undefined,
    vars: { REQUEST_LOG: "off", ...vars },
  });
  const stop = async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: gateway.url, gateway, declared, table: table.value, stop };
}

/** A request as an origin got it. */
export interface Recorded {
  readonly region: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** One origin for each region of the demo's table that only counts what reaches it. */
export async function startRecordingOrigins() {
  const recorded: Recorded[] = [];
  const servers = await Promise.all(
    Object.keys(readDemoTable().regions).map(async (region) => {
      const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
        const { method = "", url = "", headers } = request;
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          recorded.push({ region, method, url, headers, body: Buffer.concat(chunks).toString() });
          response.setHeader("x-demo-region", region);
          response.end(region);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      if (address === null || typeof address === "string") throw new TypeError("no TCP address");
      return { region, server, url: `http://127.0.0.1:${address.port}` };
    }),
  );
  const declared = readDemoTable();
  const regions = Object.fromEntries(servers.map(({ region, url }) => [region, { origins: [{ url, weight: 1 }] }]));
  const stop = async () => {
    for (const { server } of servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  };
  return { recorded, declared: { ...declared, regions }, stop };
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends bytes as they stand (one character is one byte) and reads until the gateway closes. */
export function sendRaw(port: number, bytes: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.from(bytes, "latin1")));
    socket.setTimeout(20_000, () => socket.destroy(new Error("no answer within 20 s")));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      const text = Buffer.concat(chunks).toString("latin1");
      const [head = "", body = ""] = text.split("\r\n\r\n", 2);
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN), head, body });
    });
  });
}

/** A plain request on a raw socket, with a target that no client library would let through. */
export const rawRequest = (port: number, method: string, target: string, fields: readonly string[] = []) =>
  sendRaw(port, [`${method} ${target} HTTP/1.1`, "host: gw.test", "connection: close", ...fields, "", ""].join("\r\n"));
