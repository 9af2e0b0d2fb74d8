import { SESSION_COOKIE } from "../proxy/headers.ts";
import type { FieldSet, Region } from "../routing/table.ts";
import { type ExportOptions, portOf, problemText, type RegionClass, STOPPED_NAMES } from "./common.ts";
import { comment, haproxyFormat, haproxyWord, namesExpression } from "./haproxy-text.ts";

/** A backend of HAProxy's configuration: a region's origins, with what they and its clients get. */

export interface Backend extends RegionClass {
  readonly name: string;
}

export const usedOrigins = ({ origins }: Region) =>
  origins
    .map((origin, at) => ({ at: at + 1, url: new URL(origin.url), weight: origin.weight }))
    .filter(({ weight }) => weight > 0);

/** Client fields that stop here, and fields that every origin gets. */
const receivedText = (
  headers: readonly string[],
  gatewayName: string,
): string => `  acl traced req.fhdr(traceparent) -m reg '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$'
  acl traced req.fhdr(traceparent) -m reg '^(?!ff|00)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$'
  # A part of the body may have been read: nothing is sent again but what is safe to repeat.
  acl repeats method GET HEAD OPTIONS PUT DELETE
  acl with_body req.fhdr(transfer-encoding) -m found
  acl with_body req.fhdr_cnt(content-length) gt 0
  acl special var(txn.waybill_special) -m found
  acl kept_trace var(txn.waybill_trace) -m found
  http-request disable-l7-retry if !repeats
  http-request disable-l7-retry if special with_body
  http-request set-var(txn.waybill_trace) req.fhdr(traceparent) if special traced { req.fhdr_cnt(traceparent) eq 1 }
  http-request del-header traceparent if special !kept_trace
  http-request del-header ${haproxyWord(`^${namesExpression(STOPPED_NAMES, "$")}`)} -m reg if special
  http-request add-header waybill-entity-id %[var(txn.waybill_id)]
${headers.map((header, at) => `  http-request set-header ${header} %[var(txn.waybill),field(${at + 5},|)] if { var(txn.waybill),field(${at + 5},|) -m len gt 0 }`).join("\n")}
  http-request add-header x-forwarded-for %[src]
  http-request add-header cdn-loop ${haproxyFormat(gatewayName)}`;

/** Fields for origins, by the set of fields of the entity. */
const standardFields = (region: string, via: string): string => `  http-request add-header waybill-region ${region}
  http-request add-header x-forwarded-host %[req.fhdr(host)]
  http-request add-header x-forwarded-proto %[ssl_fc,iif(https,http)]
  http-request add-header via ${via}`;

const TOLD: Readonly<Record<FieldSet, (region: string, via: string) => string>> = {
  minimal: () => "",
  standard: standardFields,
  full: (region, via) => `${standardFields(region, via)}
  http-request add-header waybill-layout %[var(txn.waybill),field(2,|)]
  http-request add-header waybill-revision 0
  http-request add-header forwarded 'for=%[src];host="%[req.fhdr(x-forwarded-host)]";proto=%[req.hdr(x-forwarded-proto)]' if !{ src -m sub : }
  http-request add-header forwarded 'for="[%[src]]";host="%[req.fhdr(x-forwarded-host)]";proto=%[req.hdr(x-forwarded-proto)]' if { src -m sub : }`,
};

/** Origins are watched where another one can stand in. */
const hasOthers = (region: Region): boolean => usedOrigins(region).length > 1 || region.failover.length > 0;

/** How a server is marked as down, and up again. */
const checksText = (region: Region): string => {
  if (!hasOthers(region)) return "";
  const { failures = 0, openMs = 10_000 } = region.breaker ?? {};
  const watched = failures > 0 ? ` observe layer4 error-limit ${failures} on-error mark-down` : "";
  const seconds = region.health === undefined ? Math.max(1, Math.round(openMs / 1000)) : 15;
  return ` check inter ${seconds}s fall 2 rise 1${watched}`;
};

/** The active check of a region with one origin: all of a backend's servers get the host of the first. */
const healthText = (region: Region, base: string, gatewayName: string): string => {
  const { health } = region;
  const [origin, another] = usedOrigins(region);
  if (health === undefined || origin === undefined || another !== undefined || !hasOthers(region)) return "";
  const fields = `hdr host ${haproxyFormat(origin.url.host)} hdr user-agent waybill-health hdr via ${haproxyFormat(`1.1 ${gatewayName}`)} hdr cdn-loop ${haproxyFormat(gatewayName)}`;
  return `  option httpchk
  http-check send meth GET uri ${haproxyFormat(base + health.path)} ver HTTP/1.1 ${fields}
  http-check expect status 200-399
  timeout check ${health.timeoutMs}ms
`;
};

export const backendText = (
  { name, region, ms, fields }: Backend,
  headers: readonly string[],
  { caFile, gatewayName }: ExportOptions,
): string => {
  const via = haproxyFormat(`1.1 ${gatewayName}`);
  const used = usedOrigins(region);
  const checks = checksText(region);
  const servers = used.map(({ at, url }) => {
    const names = `sni str(${url.hostname}) check-sni ${url.hostname}`;
    const tls = url.protocol === "https:" ? ` ssl verify required ca-file ${haproxyWord(caFile)} ${names}` : "";
    return `  server origin_${at} ${url.hostname}:${portOf(url)}${tls}${checks}`;
  });
  const base = used[0]?.url.pathname.replace(/\/$/, "") ?? "";
  const condition = (at: number) => (used.length > 1 ? ` if { var(txn.waybill),field(4,|) -m str origin_${at} }` : "");
  const hosts = used.map(({ at, url }) => `  http-request set-header host ${haproxyFormat(url.host)}${condition(at)}`);
  const choices = used.length > 1 ? used.map(({ at }) => `  use-server origin_${at}${condition(at)}`) : [];
  return `backend ${name} ${comment(region.name)}
  timeout server ${ms}ms
  timeout connect ${Math.min(ms, 75_000)}ms
  retries ${used.length > 1 ? 3 : 1}
  retry-on conn-failure empty-response
  option redispatch 1
${healthText(region, base, gatewayName)}${receivedText(headers, gatewayName)}
${TOLD[fields](region.name, via)}
${hosts.join("\n")}
${base === "" ? "" : `  http-request set-pathq ${haproxyFormat(base)}%[pathq]`}
  http-response return status 502 content-type application/problem+json hdr cache-control no-store string ${haproxyWord(problemText("invalid-response", 502))} if { status lt 200 } or { status gt 599 }
  http-response del-header set-cookie if { res.fhdr(set-cookie) -m sub ${SESSION_COOKIE} }
  http-response del-header waybill- -m beg
  http-response del-header proxy-authenticate
  http-response del-header proxy-connection
  http-response del-header keep-alive
${fields === "minimal" ? "" : `  http-response add-header waybill-region ${region.name}`}
${fields === "full" ? `  http-response add-header waybill-layout %[var(txn.waybill),field(2,|)]\n  http-response add-header via ${via}` : ""}
${choices.join("\n")}
${servers.join("\n")}
`;
};
