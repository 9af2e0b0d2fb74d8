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
    if ((await listenOnce(port)) !== undefined) continue;
    const needed = withOrigins ? `The demo needs ports ${first} to ${last}. ` : "";
    throw new Error(
      `Port ${port} is taken. ${needed}Choose the first port with PORT, for example PORT=9000 npm start.`,
    );
  }
}

/** A free port for the gateway with free ports for the origins after it. Another process may still take them. */
export async function findFreePorts(): Promise<number> {
  const port = (await listenOnce(0)) ?? PORT_MAX;
  return checkPortsFree(port, true).then(() => port, findFreePorts);
}

/** Listens on loopback for a moment. Gives the port, or `undefined` if it is taken. */
function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
    });
  });
}
