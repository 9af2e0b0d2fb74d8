import { isIP } from "node:net";
import { err, ok, type Result } from "../../ids/index.ts";

/** Host and port; an IPv6 address in brackets. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

export const addressText = ({ host, port }: Address): string => `${host}:${port}`;

/** One spelling for one address, so that texts can be compared. */
export function parseAddress(text: string): Result<Address, string> {
  const [, given = "", digits] = /^([\w.-]+|\[[0-9a-f:.]+\]):(0|[1-9]\d{0,4})$/i.exec(text) ?? [];
  const host = given.toLowerCase();
  const port = Number(digits);
  if (host === "" || port > 65_535) return err("write host and port, such as 10.0.0.21:8443");
  if (host.startsWith("[") && isIP(host.slice(1, -1)) !== 6) return err("the address in brackets is no IPv6 address");
  if (/^[\d.]+$/.test(host) && isIP(host) !== 4) return err("the host is no IPv4 address");
  return ok({ host: host.startsWith("[") ? new URL(`http://${host}`).hostname : host, port });
}

/** `fd:N`: a listening socket that this process inherited, as systemd hands it on. */
export const parseDescriptor = (text: string): number | undefined => {
  const [, digits] = /^fd:(\d{1,4})$/.exec(text) ?? [];
  return digits === undefined || Number(digits) < 3 ? undefined : Number(digits);
};

export const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "[::]";

/**
 * Networks that are not public: RFC 1918, RFC 6598 (as Tailscale uses), RFC 4193, loopback and link-local. workerd refuses any
 * other address for a cluster, and takes names as they are.
 */
const PRIVATE =
  /^(?:10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|\[(?:::1\]|f[cd]|fe[89ab]))/i;

export const isPublic = (host: string): boolean =>
  isIP(host.replace(/^\[|\]$/g, "")) !== 0 && !isWildcard(host) && !PRIVATE.test(host);

/** A socket of this machine, by the option that names it. */
export interface Listener extends Address {
  readonly label: string;
  /** Consecutive ports from the first. */
  readonly count: number;
}

/** Sentences on ports that two sockets would take. The system chooses a free one for 0. */
export function portClashes(listeners: readonly Listener[]): readonly string[] {
  return listeners.flatMap((one, at) =>
    listeners.slice(at + 1).flatMap((other) => {
      const port = sharedPort(one, other);
      return port === undefined ? [] : [`${one.label} and ${other.label} both take port ${port}: give each its own`];
    }),
  );
}

function sharedPort(one: Listener, other: Listener): number | undefined {
  if (one.port === 0 || other.port === 0) return undefined;
  const isSameHost = one.host === other.host || isWildcard(one.host) || isWildcard(other.host);
  const first = Math.max(one.port, other.port);
  return isSameHost && first < one.port + one.count && first < other.port + other.count ? first : undefined;
}
