/**
 * The key of one client in a limit. An IPv4 address stands for itself. An IPv6 address counts by its first 64 bits: a
 * client with one address has all that begin with them (RFC 6177 §2).
 */
export function clientNetwork(address: string | undefined): string {
  // All clients without a known address count as one: hiding the address must not pass the limit.
  if (address === undefined) return "unknown";
  if (!address.includes(":")) return address;
  const groups = groupsOf(address);
  if (groups === undefined) return address;
  return ipv4In(groups) ?? `${groups.slice(0, NETWORK_GROUPS).join(":")}::/64`;
}

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** The eight groups of an IPv6 address in its shortest hex (RFC 4291 §2.2); `undefined` for what is none. */
export function groupsOf(address: string): readonly string[] | undefined {
  const hex = address.replace(DOTTED, (_, a, b, c, d) => `${pair(a, b)}:${pair(c, d)}`);
  const [head = "", tail, rest] = hex.split("::");
  if (rest !== undefined) return undefined;
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = GROUPS - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...left, ...Array<string>(missing).fill("0"), ...right];
  if (!groups.every((group) => GROUP.test(group))) return undefined;
  return groups.map((group) => Number(`0x${group}`).toString(16));
}

const GROUP = /^[0-9a-f]{1,4}$/i;

/** The last two groups may be written as an IPv4 address. */
const DOTTED = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

const pair = (high: string, low: string): string => (Number(high) * 256 + Number(low)).toString(16);

/** An IPv4 client of a socket that speaks both (RFC 4291 §2.5.5.2): these addresses have their first 64 bits in common. */
function ipv4In(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 6).join(":") !== "0:0:0:0:0:ffff") return undefined;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number(`0x${group}`));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
