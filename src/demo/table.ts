import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { DEMO_PORTS, isDemoOrigin, isLoopback, originUrls } from "../host/self-hosting.ts";
import { portTaken } from "../host/workerd/gateway.ts";
import type { DeclaredTable } from "../routing/index.ts";
import { REGIONS, type RunningOrigin } from "./origin.ts";

export const TABLE_FILE = fileURLToPath(new URL("../../routing-table.json", import.meta.url));

const hasDemoRegions = ({ regions }: DeclaredTable): boolean =>
  Object.keys(regions).every((name) => REGIONS.some((region) => region === name));

/** Whether the demo's origins can stand in for the table's: same regions, loopback, declared ports. */
export const isDemoTable = (table: DeclaredTable): boolean =>
  hasDemoRegions(table) && originUrls(table).every(isDemoOrigin);

/** A note for a table with the demo's regions on loopback, but at other ports. */
export function otherPortsNote(table: DeclaredTable): string | undefined {
  const others = originUrls(table).filter((url) => isLoopback(url) && !DEMO_PORTS.includes(new URL(url).port));
  if (!hasDemoRegions(table) || others.length === 0) return undefined;
  return `note: the table's origins are ${others.join(", ")}; npm start started none there. It starts the demo's origins for a table with ports ${DEMO_PORTS.join(", ")}, whatever PORT is.`;
}

/** Where the demo's origins listen, by the port that the table names; `undefined` where that is the same. */
export function loopbackPortsOf(running: readonly RunningOrigin[]): Readonly<Record<string, number>> | undefined {
  const ports = running.map(({ url }, at) => [DEMO_PORTS[at] ?? "", Number(new URL(url).port)] as const);
  return ports.every(([declared, port]) => Number(declared) === port) ? undefined : Object.fromEntries(ports);
}

/** The table with the URLs of the running origins. */
export function tableWithOrigins<Table extends DeclaredTable>(table: Table, running: readonly RunningOrigin[]): Table {
  const regions = Object.entries(table.regions).map(([name, region]) => {
    const url = running.find((origin) => origin.region === name)?.url ?? "";
    return [name, { ...region, origins: region.origins.map((origin) => ({ ...origin, url })) }];
  });
  return { ...table, regions: Object.fromEntries(regions) };
}

const DEFAULT_PORT = 8787;
const PORT_MAX = 65_535;

/** The gateway's port, and one after it per origin. */
const PORTS_NEEDED = 1 + REGIONS.length;

/** The gateway's port from `PORT`. Throws with a message for an invalid one. */
export function portFrom(text: string | undefined): number {
  if (text === undefined || text === "") return DEFAULT_PORT;
  const port = Number(text);
  const last = PORT_MAX - PORTS_NEEDED + 1;
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= last) return port;
  throw new Error(`PORT is a number from 1 to ${last}; it is ${JSON.stringify(text)}`);
}

/** Throws if a port is taken: the gateway's, and with `withOrigins` the three after it. */
export async function checkPortsFree(first: number, withOrigins: boolean): Promise<void> {
  const last = withOrigins ? first + PORTS_NEEDED - 1 : first;
  for (let port = first; port <= last; port += 1) {
    if (await isFree(port)) continue;
    const needed = withOrigins ? `The demo needs ports ${first} to ${last}. ` : "";
    throw new Error(portTaken(port, `${needed}Choose the first one with PORT, for example PORT=9000 npm start.`));
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
