import type { Command } from "commander";
import { err, ok, type Result } from "../ids/index.ts";
import type { GatewayAddress } from "./gateway-request.ts";
import { escapeControls } from "./printable.ts";
import type { Runtime } from "./world.ts";

/** How a command is told which gateway it works with. */
export interface GatewayOptions {
  readonly gateway?: string;
  readonly insecure?: boolean;
}

export const ADDRESS_VARIABLE = "WAYBILL_GATEWAY";
export const TOKEN_VARIABLE = "WAYBILL_TOKEN";

export const withGateway = (command: Command): Command =>
  command
    .option("--gateway <url>", `the gateway's address (default: ${ADDRESS_VARIABLE} of the environment)`)
    .option("--insecure", "send the token to another machine over http too");

/** Said in the help of every command that works with a gateway. */
export const GATEWAY_HELP = `The gateway is that of --gateway or ${ADDRESS_VARIABLE}; its token is read from ${TOKEN_VARIABLE}, and from nowhere else.`;

/** Where the gateway is, by the option and the environment. The error is a sentence for stderr. */
export const gatewayAddress = (
  { gateway, insecure }: GatewayOptions,
  runtime: Runtime,
): Result<GatewayAddress, string> => {
  const given = gateway ?? runtime.env(ADDRESS_VARIABLE);
  if (given === undefined || given === "") {
    return err(`error: which gateway? Name it with --gateway, or in ${ADDRESS_VARIABLE}\n`);
  }
  const address = readAddress(given);
  if (!address.ok) return err(`error: ${escapeControls(given)} is no gateway's address: ${address.error}\n`);
  const token = runtime.env(TOKEN_VARIABLE);
  if (token === undefined || token === "") return ok({ url: address.value.href, token: undefined });
  // fetch would show the token in its error.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return err(`error: ${TOKEN_VARIABLE} has white space or characters outside of ASCII; no token has\n`);
  }
  if (address.value.isOpen && insecure !== true) {
    return err(
      `error: ${escapeControls(given)} is http on another machine: whoever is on the way would read the token. Use https, or say --insecure\n`,
    );
  }
  return ok({ url: address.value.href, token });
};

interface Address {
  /** Without a slash at the end. */
  readonly href: string;
  /** Whether others can read what goes there. */
  readonly isOpen: boolean;
}

const readAddress = (text: string): Result<Address, string> => {
  if (!URL.canParse(text)) return err("write it like https://api.example.com");
  const { protocol, host, hostname, pathname, search, hash, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return err("it is neither http nor https");
  if (username !== "" || password !== "")
    return err(`it has a user name or password; a token goes in ${TOKEN_VARIABLE}`);
  if (search !== "" || hash !== "") return err("it has a query or a fragment");
  const href = `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
  return ok({ href, isOpen: protocol === "http:" && !isLoopback(hostname) });
};

/** What stays on this machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
const isLoopback = (hostname: string): boolean =>
  /^(?:(?:.+\.)?localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/.test(hostname);
