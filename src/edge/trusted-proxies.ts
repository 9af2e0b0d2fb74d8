import { err, ok, type Result } from "../ids/index.ts";
import type { Client } from "../ports/gateway.ts";
import { groupsOf } from "../proxy/addresses/client-network.ts";

/** Proxies of the operator before this one, and how they name the client. */
export interface TrustedProxies {
  /** Empty: every peer, as far as `hopsMax` goes. */
  readonly ranges: readonly AddressRange[];
  /** Proxies in a row that are believed. */
  readonly hopsMax: number;
  readonly field: "x-forwarded-for" | "forwarded";
}

/** The bits that all its addresses have in common, and how many other bits follow. */
type AddressRange = Readonly<{ prefix: bigint; openBits: bigint }>;

const FAULT =
  'TRUSTED_PROXIES must be ranges such as "10.0.0.0/8, fd00::/8", hops=1 to hops=16, or both; ' +
  "field=forwarded reads forwarded instead of x-forwarded-for";

export function parseTrustedProxies(text: string): Result<TrustedProxies, string> {
  const ranges: AddressRange[] = [];
  let hopsMax: number | undefined;
  let field: TrustedProxies["field"] = "x-forwarded-for";
  for (const item of text.split(",").map((part) => part.trim())) {
    const hops = /^hops=([1-9]|1[0-6])$/.exec(item)?.[1];
    const range = rangeOf(item);
    if (hops !== undefined) hopsMax = Number(hops);
    else if (item === "field=forwarded") field = "forwarded";
    else if (range === undefined) return err(FAULT);
    else ranges.push(range);
  }
  if (ranges.length === 0 && hopsMax === undefined) return err(FAULT);
  return ok({ ranges, hopsMax: hopsMax ?? Number.POSITIVE_INFINITY, field });
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const ADDRESS_BITS = 128;

/** 128 bits; an IPv4 address as it stands in IPv6 (RFC 4291 §2.5.5.2), so that both spellings are one. */
function bitsOf(address: string): bigint | undefined {
  const groups = groupsOf(IPV4.test(address) ? `::ffff:${address}` : address);
  return groups && BigInt(`0x${groups.map((group) => group.padStart(4, "0")).join("")}`);
}

/** RFC 4632 §3.1, RFC 4291 §2.3. */
function rangeOf(text: string): AddressRange | undefined {
  const [address = "", length, rest] = text.split("/");
  const bits = bitsOf(address);
  const widest = IPV4.test(address) ? 32 : ADDRESS_BITS;
  if (bits === undefined || rest !== undefined || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const open = widest - Number(length ?? widest);
  return open < 0 ? undefined : { prefix: bits >> BigInt(open), openBits: BigInt(open) };
}

/** One proxy's word on its client. */
type Told = Readonly<{ address: string | undefined; scheme: string | undefined; host: string | undefined }>;

/** The client behind trusted proxies: the last address that none of them has. Addresses before it are the client's word. */
export function behindProxies(read: (request: Request) => Client, trusted: TrustedProxies) {
  const isTrusted = (address: string | undefined): boolean => {
    if (trusted.ranges.length === 0) return true;
    const bits = address === undefined ? undefined : bitsOf(address);
    return bits !== undefined && trusted.ranges.some(({ prefix, openBits }) => bits >> openBits === prefix);
  };
  return (request: Request): Client => {
    const peer = read(request);
    if (!isTrusted(peer.address)) return peer;
    const { headers } = request;
    const list = headers.get(trusted.field);
    if (list === null) return peer;
    const told = trusted.field === "forwarded" ? readForwarded(list) : readForwardedFor(list, headers);
    // A proxy spoke, so the peer is not the client, even if its word cannot be read.
    let client = UNREADABLE;
    let hops = 0;
    for (const one of told) {
      client = one;
      hops++;
      if (one === UNREADABLE || hops >= trusted.hopsMax || !isTrusted(one.address)) break;
    }
    const { address, scheme, host } = client;
    return {
      address,
      country: undefined,
      continent: undefined,
      scheme: scheme === "http" || scheme === "https" ? scheme : undefined,
      // Unchecked, as the `host` field is here.
      host: host || undefined,
    };
  };
}

/** Longer than any chain of proxies: elements farther left only cost time. */
const ELEMENTS_MAX = 64;

/**
 * The elements of a list from its last one. A comma in a quoted text separates nothing. Seen from the right a quote opens
 * a text if no backslash stands before it, because `=` does. So what a client leaves open on the left hides nothing.
 */
function* lastElements(list: string): Generator<string> {
  let end = list.length;
  let count = 0;
  let isQuoted = false;
  for (let at = end - 1; at >= 0; at--) {
    const char = list[at];
    if (char === '"') isQuoted = !isQuoted || list[at - 1] === "\\";
    if (char !== "," || isQuoted) continue;
    yield list.slice(at + 1, end).trim();
    if (++count === ELEMENTS_MAX) return;
    end = at;
  }
  yield list.slice(0, end).trim();
}

/** Proxies set `x-forwarded-proto` and `-host` once; a list would not say whose word is which, and says nothing. */
function* readForwardedFor(list: string, headers: Headers): Generator<Told> {
  const scheme = headers.get("x-forwarded-proto")?.toLowerCase();
  const host = headers.get("x-forwarded-host") ?? "";
  for (const text of lastElements(list))
    yield { address: addressOf(text), scheme, host: host.includes(",") ? "" : host };
}

/** RFC 7239 §4; an empty element says nothing (RFC 9110 §5.6.1). */
function* readForwarded(list: string): Generator<Told> {
  for (const element of lastElements(list)) if (element !== "") yield readElement(element);
}

/** One pair or none, and what ends it. */
const PAIR = /(?:([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^ \t;,"]*)))?[ \t]*(?:;[ \t]*|$)/y;

/** An element that is malformed anywhere says nothing. */
const UNREADABLE: Told = { address: undefined, scheme: undefined, host: undefined };

function readElement(element: string): Told {
  const pairs = new Map<string, string>();
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < element.length) {
    const pair = PAIR.exec(element);
    if (pair === null) return UNREADABLE;
    const [, name, quoted, token] = pair;
    if (name !== undefined) pairs.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, "$1") ?? token ?? "");
  }
  const scheme = pairs.get("proto")?.toLowerCase();
  return { address: addressOf(pairs.get("for") ?? ""), scheme, host: pairs.get("host") };
}

/** An address, which may have a port; `undefined` for `unknown` and other names. */
function addressOf(text: string): string | undefined {
  const [, bracketed, ipv4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const address = bracketed ?? ipv4 ?? text;
  return bitsOf(address) === undefined ? undefined : address;
}
