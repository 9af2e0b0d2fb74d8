import { createServer } from "node:net";
import { REGIONS } from "./origin.ts";

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
    throw new Error(`Port ${port} is taken. ${needed}Choose the first one with PORT, for example PORT=9000 npm start.`);
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
