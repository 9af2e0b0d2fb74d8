import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { connect } from "node:net";
import { LOOPBACK } from "../workerd/config.ts";
import { type Exchange, handleDocument, listenOnLoopback, refuse, SERVER_OPTIONS, targetOf } from "./documents.ts";

export interface StandInOptions {
  /** Regions of the table that name an origin by `URL.origin`. */
  readonly regionsOf: (origin: string) => readonly string[];
  /** Told when an origin gets a stand-in after the start, when it answers itself, and when it does no more. */
  readonly onLine: (line: string) => void;
}

/** Either the origin was there once in this run, or a server of this run answers for it. */
type Place =
  | { readonly isReal: true; isGone: boolean }
  | { readonly isReal: false; readonly port: number; stop(): Promise<void> };

/** A table may name any number of origins. */
const STAND_INS_MAX = 256;

/**
 * Small servers for origins on loopback where nothing listens. They answer with JSON and remember what is PUT. An origin that
 * answered once in this run has no stand-in any more: while it restarts, clients see what they would in production.
 */
export async function startStandIns({ regionsOf, onLine }: StandInOptions) {
  const places = new Map<string, Promise<Place>>();
  const place = async (origin: string, before: Place | undefined): Promise<Place> => {
    if (before?.isReal && !before.isGone) return before;
    if (await isListening(new URL(origin))) {
      if (before?.isReal) {
        before.isGone = false;
        onLine(`${origin} answers again`);
        return before;
      }
      if (before !== undefined) onLine(`${origin} answers now: its stand-in is gone`);
      await before?.stop();
      return { isReal: true, isGone: false };
    }
    return before ?? { isReal: false, ...(await startStandIn(origin, regionsOf)) };
  };
  const placeOf = (origin: string): Promise<Place> => {
    const made = (places.get(origin) ?? Promise.resolve(undefined)).then((before) => place(origin, before));
    // One failure is no reason for the next.
    made.catch(() => places.delete(origin));
    places.set(origin, made);
    return made;
  };
  /** The port of a stand-in; `undefined` for an origin that is there, or is elsewhere. */
  const portOf = async (origin: string): Promise<number | undefined> => {
    if (!URL.canParse(origin) || !LOOPBACK.test(new URL(origin).hostname)) return undefined;
    const isNew = !places.has(origin);
    if (isNew && places.size >= STAND_INS_MAX) return undefined;
    const found = await placeOf(origin);
    return found.isReal ? undefined : found.port;
  };
  /** A request to it failed: was it stopped? */
  const lookAt = async (origin: string): Promise<void> => {
    const found = await places.get(origin);
    if (!found?.isReal || found.isGone || (await isListening(new URL(origin)))) return;
    found.isGone = true;
    onLine(`nothing listens at ${origin} any more: it has no stand-in until the next start, so requests get 502`);
  };
  // Only the gateway of this run knows the path.
  const secret = `/${randomBytes(16).toString("hex")}/`;
  const control = createServer(SERVER_OPTIONS, (request, response) => {
    const { url = "" } = request;
    if (!url.startsWith(secret)) return void response.writeHead(404).end();
    const [, encoded = "", failed] = /^([^?]*)(\?failed)?$/.exec(url.slice(secret.length)) ?? [];
    const origin = decodeURIComponent(encoded);
    if (failed !== undefined) {
      const answered = () => response.end();
      lookAt(origin).then(answered, answered);
      return;
    }
    const isNew = !places.has(origin);
    portOf(origin)
      .then((port) => {
        if (isNew && port !== undefined) onLine(`nothing listens at ${origin}: a stand-in answers for it`);
        response.end(port === undefined ? "" : String(port));
      })
      .catch(() => response.writeHead(500).end());
  });
  const { url, stop } = await listenOnLoopback(control, 0);
  return {
    /** For the outbound Worker: this and an origin, encoded, gives the port of the stand-in, or nothing. */
    url: url + secret,
    portOf,
    async stop(): Promise<void> {
      await stop();
      for (const made of places.values()) {
        const found = await made.catch(() => undefined);
        if (found?.isReal === false) await found.stop();
      }
    },
  };
}

export type StandIns = Awaited<ReturnType<typeof startStandIns>>;

async function startStandIn(origin: string, regionsOf: StandInOptions["regionsOf"]) {
  const documentsByRegion = new Map<string, Map<string, unknown>>();
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    const named = request.headers["waybill-region"];
    // Entities with few fields, and health checks, name no region.
    const region = typeof named === "string" ? named : (regionsOf(origin)[0] ?? "");
    const documents = documentsByRegion.get(region) ?? new Map<string, unknown>();
    documentsByRegion.set(region, documents);
    const exchange: Exchange = { region, documents, request, response, standsInFor: origin, ...targetOf(request) };
    response.setHeader("x-stand-in-for", origin);
    handleDocument(exchange).catch((error: Error) => refuse(exchange, error));
  });
  const { port, stop } = await listenOnLoopback(server, 0);
  return { port, stop };
}

/** Loopback refuses at once; a server that is stopped by a debugger does not. */
const CONNECT_MS = 1_000;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Whether something accepts connections there. A silent one counts: it is not ours to replace. */
function isListening({ hostname, port, protocol }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0), timeout: CONNECT_MS });
    const settle = (is: boolean) => () => {
      resolve(is);
      socket.destroy();
    };
    socket.once("connect", settle(true)).once("timeout", settle(true)).once("error", settle(false));
  });
}
