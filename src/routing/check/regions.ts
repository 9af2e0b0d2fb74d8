import { type Authority, readAuthority, readOriginUrl } from "../compile/origin-url.ts";
import type { Draft } from "../schema/draft.ts";
import type { Place, Report } from "../schema/faults.ts";

/** Every origin must be an address that the gateway may send requests to, and every region needs one with a weight. */
export const checkOrigins = (draft: Draft, report: Report): void => {
  const own = new Set<string>();
  for (const [index, text] of draft.hosts.entries()) {
    const host = readAuthority(text);
    if (host.ok) own.add(textOf(host.value));
    else {
      const message = `${JSON.stringify(text)} is not a host that clients can call; write it without scheme, user and path, such as "api.example.com".`;
      report("origin-url", ["gateway", "hosts", index], message);
    }
  }
  for (const [name, { origins }] of draft.regions) {
    const place: Place = ["regions", name, "origins"];
    for (const [index, { url }] of origins.entries()) checkOrigin(url, own, [...place, index, "url"], report);
    const message = `No origin of ${JSON.stringify(name)} receives requests; give one a weight above 0.`;
    if (origins.every(({ weight = 1 }) => weight === 0)) report("no-origin-weight", place, message);
  }
};

const checkOrigin = (text: string, own: ReadonlySet<string>, place: Place, report: Report): void => {
  const url = readOriginUrl(text);
  if (!url.ok) report("origin-url", place, url.error);
  if (!url.ok || (!own.has(url.value.host) && !own.has(textOf(url.value)))) return;
  const message = `${JSON.stringify(text)} is the gateway itself, so requests would loop; name the region's own host.`;
  report("origin-is-gateway", place, message);
};

const textOf = ({ host, port }: Authority): string => (port === undefined ? host : `${host}:${port}`);
