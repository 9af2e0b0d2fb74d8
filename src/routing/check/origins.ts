import type { Draft } from "../draft.ts";
import type { Place, Report } from "../faults.ts";
import { type OriginUrl, readOriginUrl } from "../origin-url.ts";

/** Every origin must be somewhere that the gateway may send requests to, and every region must have one that takes them. */
export const checkOrigins = (draft: Draft, report: Report): void => {
  const own = new Set(draft.hosts.map((host) => host.toLowerCase()));
  for (const [index, host] of draft.hosts.entries()) {
    if (readOriginUrl(`https://${host}`).ok) continue;
    report(
      "origin-url",
      ["gateway", "hosts", index],
      `${JSON.stringify(host)} is no host name; write it without scheme or path.`,
    );
  }
  for (const [name, { origins }] of draft.regions) {
    const place: Place = ["regions", name, "origins"];
    for (const [index, { url }] of origins.entries()) checkOrigin(url, own, [...place, index, "url"], report);
    if (origins.every(({ weight = 1 }) => weight === 0)) {
      report(
        "no-origin-weight",
        place,
        `No origin of ${JSON.stringify(name)} takes requests; give one a weight above 0.`,
      );
    }
  }
};

const checkOrigin = (text: string, own: ReadonlySet<string>, place: Place, report: Report): void => {
  const url = readOriginUrl(text);
  if (!url.ok) {
    report("origin-url", place, url.error);
    return;
  }
  if (own.has(url.value.host) || own.has(authorityOf(url.value))) {
    report(
      "origin-is-gateway",
      place,
      `${JSON.stringify(text)} is the gateway itself, so requests would run in a circle; name the region's own host.`,
    );
  }
};

const authorityOf = ({ host, port }: OriginUrl): string => `${host}:${port}`;
