import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { checkPortsFree } from "../../../src/demo/ports.ts";
import { TABLE_FILE } from "../../../src/demo/table.ts";
import type { DeclaredTable } from "../../../src/routing/index.ts";

/** The demo's own table has these parts, in their short form. */
export interface DemoTable extends DeclaredTable {
  readonly countries: Record<string, number>;
  readonly entities: Record<string, DeclaredTable["entities"][string] & { readonly path: string }>;
  readonly moved: Record<string, string>;
}

export const readDemoTable = (): DemoTable => JSON.parse(readFileSync(TABLE_FILE, "utf8"));

/** A free port for the gateway with free ports for the origins after it. Another process may still take them. */
export async function findFreePorts(): Promise<number> {
  const port = await freePort();
  return checkPortsFree(port, true).then(() => port, findFreePorts);
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
