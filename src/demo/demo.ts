import { randomFillSync } from "node:crypto";
import { join } from "node:path";
import { startGateway } from "../host/gateway.ts";
import { loadTable } from "../routing/index.ts";
import { readDemoTable, tableWithOrigins } from "./demo-table.ts";
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
    const start = options.reload ? startReloading : startGateway;
    const gateway = await start({
      port: options.port,
      tableText: JSON.stringify(declared, null, 2),
      stateFolder: join(options.stateFolder, String(options.port)),
      onLogLine: options.onLogLine,
    });
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
