import { createServer } from "node:net";
import { REGIONS } from "./origins.ts";

const DEFAULT_PORT = 8787;

/** The gateway's port, and one after it for each origin. */
const PORTS_NEEDED = 1 + REGIONS.length;
const PORT_MAX = 65_535;

/** `PORT` of the environment: the gateway's port. Throws with a sentence for what is no port. */
export function portFrom(text: string | undefined): number {
  if (text === undefined || text === "") return DEFAULT_PORT;
  const port = Number(text);
  const last = PORT_MAX - PORTS_NEEDED + 1;
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= last) return port;
  throw new Error(`PORT is a number from 1 to ${last}; it is ${JSON.stringify(text)}`);
}

/** Throws with what to do about it when the gateway's port or one of the origins' is taken. */
export async function checkPortsFree(port: number): Promise<void> {
  const range = `The demo needs ports ${port} to ${port + PORTS_NEEDED - 1}; another first one`;
  for (let number = port; number < port + PORTS_NEEDED; number += 1) await checkFree(number, range);
}

/** The same for the gateway alone. */
export const checkPortFree = (port: number): Promise<void> => checkFree(port, "Another one");

async function checkFree(port: number, subject: string): Promise<void> {
  if (await isFree(port)) return;
  throw new Error(`Port ${port} is taken. ${subject} is chosen by PORT, for example PORT=9000 npm start.`);
}

/** A first port that is free with all that the demo needs after it. Another process may still be quicker. */
export async function findFreePorts(): Promise<number> {
  for (;;) {
    const port = await portOfTheSystem();
    const all = Array.from({ length: PORTS_NEEDED }, (_, index) => port + index);
    if (all.every((number) => number <= PORT_MAX) && (await Promise.all(all.map(isFree))).every(Boolean)) return port;
  }
}

const isFree = (port: number): Promise<boolean> => listenOnce(port).then((found) => found !== undefined);

const portOfTheSystem = async (): Promise<number> => {
  const port = await listenOnce(0);
  if (port === undefined) throw new Error("the system has no free port");
  return port;
};

/** Listens on loopback for a moment; the port that it got, or `undefined`. */
function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
    });
  });
}
