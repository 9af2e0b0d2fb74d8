import { randomFillSync } from "node:crypto";
import { unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { startGateway } from "../host/gateway.ts";
import { loadTable } from "../routing/index.ts";
import { readDemoTable, TABLE_FILE, tableWithOrigins } from "./demo-table.ts";
import { type RunningOrigins, startOrigins } from "./origins.ts";
import { checkPortsFree } from "./ports.ts";
import { startReloading } from "./reload.ts";
import { mintSamples, type Sample } from "./samples.ts";
import { seedOrigins } from "./seed.ts";

export interface DemoOptions {
  /** The gateway's; the origins take the ports after it. */
  readonly port: number;
  /** What the gateway keeps between runs. */
  readonly stateFolder: string;
  /** `wrangler dev` with reload, instead of bare workerd. */
  readonly reload: boolean;
  readonly onLogLine: (line: string) => void;
}

export interface RunningDemo {
  readonly url: string;
  readonly origins: RunningOrigins;
  readonly samples: readonly Sample[];
  /** Resolves with the gateway's exit code when it has ended, whoever ended it. */
  readonly exited: Promise<number>;
  stop(): Promise<void>;
}

/** How often the table's file is looked at. */
const TABLE_POLL_MS = 500;

/** Starts three origins with entities of their own, and the gateway in front of them. */
export async function startDemo(options: DemoOptions): Promise<RunningDemo> {
  await checkPortsFree(options.port);
  const origins = await startOrigins(options.port + 1);
  try {
    const declared = tableWithOrigins(readDemoTable(), origins);
    const table = loadTable(declared, 1);
    if (!table.ok) throw new Error(`routing-table.json is faulty: ${JSON.stringify(table.error, null, 2)}`);
    const entropy = { word: () => randomFillSync(new Uint32Array(1))[0] ?? 0 };
    const samples = mintSamples({ declared, table: table.value, nowMs: Date.now(), entropy });
    seedOrigins(origins, samples);
    const gateway = await startFront(options, origins, JSON.stringify(declared, null, 2));
    return {
      url: gateway.url,
      origins,
      samples,
      exited: gateway.exited,
      stop: async () => {
        await Promise.all([gateway.stop(), origins.stop()]);
      },
    };
  } catch (error) {
    await origins.stop();
    throw error;
  }
}

interface Front {
  readonly url: string;
  readonly exited: Promise<number>;
  stop(): Promise<void>;
}

async function startFront(options: DemoOptions, origins: RunningOrigins, tableText: string): Promise<Front> {
  const { port, onLogLine } = options;
  const front = { port, tableText, onLogLine, stateFolder: join(options.stateFolder, String(port)) };
  if (!options.reload) return startGateway(front);
  const gateway = await startReloading(front);
  // The source is watched by wrangler; the table is in KV, so its file is watched here.
  const republish = async () => {
    try {
      await gateway.publish(JSON.stringify(tableWithOrigins(readDemoTable(), origins), null, 2));
      onLogLine("routing-table.json is published again");
    } catch (error) {
      onLogLine(`routing-table.json is not published: ${error}`);
    }
  };
  watchFile(TABLE_FILE, { interval: TABLE_POLL_MS }, () => void republish());
  const stop = async () => {
    unwatchFile(TABLE_FILE);
    await gateway.stop();
  };
  return { ...gateway, stop };
}
