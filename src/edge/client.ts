import type { Client } from "../ports.ts";
import type { Config } from "./config.ts";

/**
 * Who the client is, by the one source that the deployment vouches for. `cf-connecting-ip` is Cloudflare's own on its
 * edge, and anybody's word elsewhere; a self-hosted workerd knows the address of the socket.
 */
export function clientReader(source: Config["clientAddress"]): (request: Request) => Client {
  if (source === "cf-connecting-ip") {
    return (request) => ({
      address: addressIn(request.headers.get("cf-connecting-ip")),
      country: textIn(request.cf, "country"),
      continent: textIn(request.cf, "continent"),
    });
  }
  return (request) => ({ address: socketAddress(request.cf), country: undefined, continent: undefined });
}

/** Only an address goes into the headers for origins, whatever the client sent. */
const ADDRESS = /^[0-9A-Fa-f.:]{2,45}$/;

function addressIn(value: string | null): string | undefined {
  return value !== null && ADDRESS.test(value) ? value : undefined;
}

function textIn(cf: Request["cf"], name: "country" | "continent"): string | undefined {
  const value = cf?.[name];
  return typeof value === "string" ? value : undefined;
}

/** workerd gives `address:port`, an IPv6 address in brackets; only the address is wanted. */
function socketAddress(cf: Request["cf"]): string | undefined {
  const clientIp: unknown = cf?.["clientIp"];
  if (typeof clientIp !== "string") return undefined;
  if (clientIp.startsWith("[")) return clientIp.slice(1, clientIp.indexOf("]"));
  const port = clientIp.lastIndexOf(":");
  const address = port === -1 ? clientIp : clientIp.slice(0, port);
  // A Unix socket has no address that an origin could use.
  return DIGIT.test(address.charAt(0)) ? address : undefined;
}

const DIGIT = /\d/;
