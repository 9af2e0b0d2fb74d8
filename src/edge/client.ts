import type { Client } from "../ports.ts";
import type { Config } from "./config.ts";

/**
 * Who the client is, by the one source that the deployment vouches for. `cf-connecting-ip` is Cloudflare's own on its
 * edge, and anybody's word elsewhere; a self-hosted workerd knows the address of the socket.
 */
export function clientReader(source: Config["clientAddress"]): (request: Request) => Client {
  if (source === "cf-connecting-ip") {
    return (request) => ({
      address: request.headers.get("cf-connecting-ip") ?? undefined,
      country: countryOf(request),
    });
  }
  return (request) => ({ address: socketAddress(request.cf), country: undefined });
}

function countryOf(request: Request): string | undefined {
  const country = request.cf?.["country"];
  return typeof country === "string" ? country : undefined;
}

/** workerd gives `address:port`, an IPv6 address in brackets; only the address is wanted. */
function socketAddress(cf: Request["cf"]): string | undefined {
  const clientIp: unknown = cf?.["clientIp"];
  if (typeof clientIp !== "string") return undefined;
  const [, bracketed, plain] = SOCKET_ADDRESS.exec(clientIp) ?? [];
  return bracketed ?? plain;
}

const SOCKET_ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|(\d{1,3}(?:\.\d{1,3}){3}))(?::\d+)?$/;
