import type { TableChecks } from "../../../routing/check/feature.ts";
import { type OriginUrl, readOriginUrl } from "../../../routing/compile/origin-url.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import type { Report } from "../../../routing/schema/faults.ts";
import { gatewaySchema } from "./schema.ts";

/** A gateway is asked like an origin, but with the client's own path; and no origin may be one. */
const checkGateways = ({ regions }: Draft, report: Report): void => {
  const gateways = new Map<string, string>();
  for (const [name, { gateway }] of regions) {
    if (gateway === undefined) continue;
    const url = readOriginUrl(gateway);
    const fault = url.ok ? faultOf(url.value, JSON.stringify(gateway)) : url.error;
    if (fault !== undefined) report("gateway-url", ["regions", name, "gateway"], fault);
    else if (url.ok) gateways.set(textOf(url.value), name);
  }
  for (const [name, { origins }] of regions) {
    for (const [index, { url: text }] of origins.entries()) {
      const url = readOriginUrl(text);
      const region = url.ok ? gateways.get(textOf(url.value)) : undefined;
      if (region === undefined) continue;
      const message = `${JSON.stringify(text)} is the gateway of the region ${JSON.stringify(region)}, so requests would loop; name the region's own host.`;
      report("origin-is-gateway", ["regions", name, "origins", index, "url"], message);
    }
  }
};

const textOf = ({ host, port }: OriginUrl): string => `${host}:${port}`;

const faultOf = ({ scheme, host, basePath }: OriginUrl, shown: string): string | undefined => {
  if (basePath !== "")
    return `${shown} has a path; a gateway is asked with the client's own, so end it after the host.`;
  if (scheme === "http" && !isPrivate(host))
    return `${shown} is http on a public network, where anybody on the way could read and change requests; use https.`;
  return undefined;
};

/**
 * Hosts that no public network leads to: names without a dot and those of RFC 6761, RFC 6762, RFC 8375 and RFC 9476; addresses of
 * RFC 1918, RFC 4193, RFC 6598 and the loopback. The host is canonical.
 */
const isPrivate = (host: string): boolean =>
  PRIVATE_NAME.test(host) || PRIVATE_IPV4.test(host) || PRIVATE_IPV6.test(host);

const PRIVATE_NAME = /^[a-z0-9_-]+$|\.(?:localhost|internal|local|alt|home\.arpa)$/;
const PRIVATE_IPV4 =
  /^(?:127|10)(?:\.\d+){3}$|^192\.168(?:\.\d+){2}$|^172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}$|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d+){2}$/;
const PRIVATE_IPV6 = /^\[(?:(?:0:){7}1|f[cd][0-9a-f]{2}:[0-9a-f:]+)\]$/;

export const meshChecks: TableChecks = {
  name: "mesh",
  schema: { region: { gateway: gatewaySchema } },
  names: checkGateways,
};
