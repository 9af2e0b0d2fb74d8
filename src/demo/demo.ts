import { randomFillSync } from "node:crypto";
import { isDemoTable, tableWithOrigins } from "./demo-table.ts";
import { type Front, type FrontOptions, startFront } from "./front.ts";
import { REGIONS, type RunningOrigins, startOrigins } from "./origins.ts";
import { checkPortsFree } from "./ports.ts";
import type { Sample } from "./sample.ts";
import { mintSamples } from "./samples.ts";
import { seedOrigins } from "./seed.ts";
import { readTableFile, type TableFile } from "./table-file.ts";

export interface RunningDemo extends Front {
  readonly origins: RunningOrigins;
  readonly samples: readonly Sample[];
}

/** Starts three origins with entities of their own, and the gateway in front of them. The origins take the ports after it. */
export async function startDemo(options: FrontOptions, file: TableFile): Promise<RunningDemo> {
  await checkPortsFree(options.port);
  const origins = await startOrigins(options.port + 1);
  try {
    const entropy = { word: () => randomFillSync(new Uint32Array(1))[0] ?? 0 };
    const samples = mintSamples({ declared: file.declared, table: file.table, nowMs: Date.now(), entropy });
    seedOrigins(origins, samples);
    const front = await startFront(options, formatServed(file, origins), {
      path: file.path,
      read: async () => formatServed(await readTableFile(file.path), origins),
    });
    const stop = async () => {
      await Promise.all([front.stop(), origins.stop()]);
    };
    return { ...front, origins, samples, stop };
  } catch (error) {
    await origins.stop();
    throw error;
  }
}

/** Throws with a sentence for a table that was edited until it is no longer the demo's. */
function formatServed({ name, declared }: TableFile, origins: RunningOrigins): string {
  if (isDemoTable(declared)) return JSON.stringify(tableWithOrigins(declared, origins), null, 2);
  throw new Error(
    `${name} names a region or an origin that the demo does not have: it has ${REGIONS.join(", ")}, on the ports that ` +
      "the table came with. Start again to serve this table in front of its own origins.",
  );
}
