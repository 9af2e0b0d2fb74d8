import { type Authority, readAuthority, readOriginUrl } from "../compile/origin-url.ts";
import type { Draft } from "../schema/draft.ts";
import type { Place, Report } from "../schema/faults.ts";

/** Every origin must be an address that the gateway may send requests to, and every region needs one with a weight. */
export const checkOrigins = (draft: Draft, ownPort: number | undefined, report: Report): void => {
  const own = new Set<string>();
  for (const [index, text] of draft.hosts.entries()) {
    const host = readAuthority(text);
    if (host.ok) own.add(textOf(host.value));
    else {
      const message = `${JSON.stringify(text)} is not a host that clients can call; write it without scheme, user and path, such as "api.example.com".`;
      report("origin-url", ["gateway", "hosts", index], message);
    }
  }
  const checkOrigin = (text: string, place: Place): void => {
    const url = readOriginUrl(text);
    const shown = JSON.stringify(text);
    if (!url.ok) report("origin-url", place, url.error);
    else if (ownPort !== undefined && loopbackPort(url.value) === ownPort) {
      const message = `This gateway itself listens at port ${ownPort} of this machine, which is the origin ${shown}. Requests would loop; give one of them another port.`;
      report("origin-is-gateway", place, message);
    } else if (own.has(url.value.host) || own.has(textOf(url.value))) {
      const message = `${shown} is the gateway itself, so requests would loop; name the region's own host.`;
      report("origin-is-gateway", place, message);
    }
  };
  for (const [name, { origins }] of draft.regions) {
    const place: Place = ["regions", name, "origins"];
    for (const [index, { url }] of origins.entries()) checkOrigin(url, [...place, index, "url"]);
    const message = `No origin of ${JSON.stringify(name)} receives requests; give one a weight above 0.`;
    if (origins.every(({ weight = 1 }) => weight === 0)) report("no-origin-weight", place, message);
  }
};

const textOf = ({ host, port }: Authority): string => (port === undefined ? host : `${host}:${port}`);

/** The port on this machine that a URL means; `undefined` for another machine's. */
export const ownPortOf = (text: string): number | undefined => {
  const url = readOriginUrl(text);
  return url.ok ? loopbackPort(url.value) : undefined;
};

/** Names of RFC 6761 section 6.3, and the addresses; the host is canonical. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[(?:0:){7}1\])$/;

const loopbackPort = ({ host, port }: Authority): number | undefined => (LOOPBACK.test(host) ? port : undefined);
