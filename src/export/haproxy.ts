import { CATALOGUE, type ProblemSlug } from "../problems/catalogue.ts";
import { METHOD_OVERRIDE_FIELDS, STOPPED_FIELDS } from "../proxy/headers.ts";
import type { FieldSet } from "../routing/table.ts";
import { type ExportFile, type ExportOptions, problemText, type RegionClass, regionClasses } from "./common.ts";
import { luaDecision } from "./lua-program.ts";
import { luaString } from "./lua-text.ts";
import type { ExportPlan } from "./plan.ts";

/** A configuration for HAProxy with Lua. */
export const haproxyFiles = (plan: ExportPlan, options: ExportOptions): readonly ExportFile[] => [
  { name: "haproxy.cfg", text: configText(plan, options) },
  { name: "waybill.lua", text: programText(plan, options) },
  { name: "unreachable.http", text: rawProblem("origin-unreachable") },
];

/** What HAProxy does in another way than Waybill. The command prints it. */
export const HAPROXY_LIMITS: readonly string[] = [
  "HAProxy answers by itself, as a problem: 400 for bytes from 0x80 on, `#` and invalid fields in a request, and for heads of more than 15 KiB.",
  "An origin's 421 reaches the client: moves that origins announce are not followed or remembered.",
  "After a failed connection another origin of the region gets the host field of the first; a region's failover is used while none of its origins is up, not within a request.",
  "One deadline covers the first byte and each pause; there is none for the whole request.",
  "Requests of more than 16 KiB are sent once.",
  "Requests are not signed, counted or logged as Waybill does, and limits of rates are not kept.",
  "Clients get no waybill-table and server-timing, and origins revision 0.",
];

/** One word of the configuration, whatever is in it. */
export const haproxyWord = (text: string): string => {
  if (/[^ -~]/.test(text)) throw new Error(`HAProxy cannot hold ${JSON.stringify(text)}`);
  return `'${text.replaceAll("'", "'\\''")}'`;
};

/** The same where `%` begins an expression. */
const haproxyFormat = (text: string): string => haproxyWord(text.replaceAll("%", "%%"));

const comment = (text: string): string => `# ${text.replaceAll(/[^ -~]/g, "?")}`;

const rawProblem = (slug: ProblemSlug): string => {
  const { status, title } = CATALOGUE[slug];
  const body = `${problemText(slug, status)}\n`;
  return `HTTP/1.1 ${status} ${title}\r\ncontent-type: application/problem+json\r\ncache-control: no-store\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

/** Statuses that HAProxy gives by itself. 503: no origin can be reached. */
const OWN_ERRORS: readonly (readonly [number, ProblemSlug])[] = [
  [400, "malformed-request"],
  [408, "request-timeout"],
  [500, "internal-error"],
  [502, "invalid-response"],
  [504, "origin-timeout"],
];

const LINE_MAX = 1_400;

/** Names of fields that stop here, in a few expressions: a line holds 2,048 characters. Origins read `_` and `.` as `-`. */
const stoppedExpressions = (): readonly string[] => {
  const names = [...STOPPED_FIELDS, ...METHOD_OVERRIDE_FIELDS].filter(
    (name) => name !== "host" && /^[a-z][a-z0-9-]*$/.test(name),
  );
  const parts = [...names, "waybill-.*", "x-forwarded-.*"].map((name) => name.replaceAll("-", "[-_.]"));
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length < LINE_MAX) lines[lines.length - 1] = `${last}|${part}`;
    else lines.push(part);
  }
  return lines.map((line) => `^(${line})$`);
};

interface Backend extends RegionClass {
  readonly name: string;
}

const configText = (plan: ExportPlan, options: ExportOptions): string => {
  const classes = regionClasses(plan, options);
  const backends = classes.all.map((one): Backend => ({ ...one, name: `waybill_${one.at}` }));
  const headers = sentHeaders(plan);
  return `# Generated from a routing table; do not edit.
# Start: haproxy -f <this folder>/haproxy.cfg
${plan.forwarded.length === 0 ? "" : ["# Decided by Waybill, not here:", ...plan.forwarded.map(({ what, why }) => comment(`  ${what}: ${why}`))].join("\n")}
global
  lua-load-per-thread ${haproxyWord(`${options.folder}/waybill.lua`)}

defaults
  mode http
  timeout connect 30s
  timeout client 1d
  timeout http-request 60s
  timeout http-keep-alive 60s
  timeout server 1d
  timeout tunnel 1d
  option http-keep-alive
  http-reuse safe
${OWN_ERRORS.map(([status, slug]) => `  http-error status ${status} content-type application/problem+json string ${haproxyWord(problemText(slug, status))}`).join("\n")}
  errorfile 503 ${haproxyWord(`${options.folder}/unreachable.http`)}

frontend waybill_in
  bind ${haproxyWord(options.listen)}
  # The raw target decides. Lua gives a region only where the table says it for certain:
  # backend | layout | canonical ID | origin | slices of its key
  # Characters that every program on the way leaves as they are.
  acl plain_target url -m reg ^/[A-Za-z0-9._~!$&()*+,;=:@/-]*([?][][A-Za-z0-9._~!$&()*+,;=:@/?%-]*)?$
  acl plain_host req.fhdr(host) -m reg ^[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?$
  # Fields that Waybill looks at.
  acl extra req.fhdr(id-layout) -m found
  acl extra req.fhdr(upgrade) -m found
  acl extra req.fhdr(tracestate) -m found
  acl extra req.fhdr(max-forwards) -m found
  acl extra req.fhdr(cdn-loop) -m sub -i waybill
  acl extra req.hdr_cnt(host) gt 1
  # Other tokens than these name fields of one connection.
  acl named req.fhdr(connection) -m found
  acl unnamed req.fhdr(connection) -i close keep-alive
  acl no_method method TRACE CONNECT
  acl reads method GET HEAD OPTIONS
  acl repeats method GET HEAD OPTIONS PUT DELETE
  acl with_body req.fhdr(transfer-encoding) -m found
  acl with_body req.fhdr(content-length) -m found
  http-request set-var(txn.waybill) path,lua.waybill if reads plain_target plain_host !extra !named !with_body
  http-request set-var(txn.waybill) path,lua.waybill if reads named unnamed plain_target plain_host !extra !with_body
  http-request set-var(txn.waybill) path,lua.waybill if !reads !no_method plain_target plain_host !extra !named
  http-request set-var(txn.waybill) path,lua.waybill if !reads named unnamed !no_method plain_target plain_host !extra
  acl decided var(txn.waybill) -m beg waybill_
  acl unrouted var(txn.waybill) -m str unrouted
${options.waybill === undefined ? refusals() : ""}
${failovers(backends).join("\n")}
  use_backend %[var(txn.waybill),field(1,|)] if decided
  default_backend waybill

${backends.map((backend) => backendText(backend, headers, options)).join("\n")}
${waybillText(options)}`;
};

const refusals = (): string => {
  const unrouted = CATALOGUE["unrouted-path"].status;
  const refused = problemText("Needs Waybill, and this configuration names none", 503);
  return `  http-request return status ${unrouted} content-type application/problem+json hdr cache-control no-store string ${haproxyWord(problemText("unrouted-path", unrouted))} if unrouted
  http-request return status 503 content-type application/problem+json hdr cache-control no-store string ${haproxyWord(refused)} if !decided`;
};

/** Slices that origins are told, in the order of the fields that Lua gives. */
const sentHeaders = (plan: ExportPlan): readonly string[] => [
  ...new Set(
    plan.patterns.flatMap(({ reading }) =>
      (reading ?? []).flatMap(({ ids }) => ids.flatMap(({ sent }) => sent.map(({ header }) => header))),
    ),
  ),
];

/** While no origin of a region is up, its reads go to the next one that has some. */
const failovers = (backends: readonly Backend[]): readonly string[] =>
  backends.flatMap(({ name, region, ms, fields }) =>
    region.failover.flatMap((other) => {
      const alike = backends.filter((one) => one.region.name === other && one.fields === fields);
      const found = alike.find((one) => one.ms === ms) ?? alike[0];
      if (found === undefined) return [];
      const who = region.failoverWrites ? "repeats" : "reads";
      return [
        `  use_backend ${found.name} if decided ${who} { var(txn.waybill) -m beg ${name}| } { nbsrv(${name}) lt 1 } { nbsrv(${found.name}) gt 0 }`,
      ];
    }),
  );

/** What stops of the client's fields, and what every origin is told. */
const receivedText = (
  headers: readonly string[],
): string => `  acl traced req.fhdr(traceparent) -m reg '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$'
  acl traced req.fhdr(traceparent) -m reg '^(?!ff|00)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$'
  # A part of the body may have been read: nothing is sent again but what is safe to repeat.
  acl repeats method GET HEAD OPTIONS PUT DELETE
  acl with_body req.fhdr(transfer-encoding) -m found
  acl with_body req.fhdr_cnt(content-length) gt 0
  http-request disable-l7-retry if !repeats
  http-request disable-l7-retry if with_body
  http-request del-header traceparent if !traced
${stoppedExpressions()
  .map((expression) => `  http-request del-header ${haproxyWord(expression)} -m reg`)
  .join("\n")}
  http-request set-header waybill-entity-id %[var(txn.waybill),field(3,|)]
${headers.map((header, at) => `  http-request set-header ${header} %[var(txn.waybill),field(${at + 5},|)] if { var(txn.waybill),field(${at + 5},|) -m len gt 0 }`).join("\n")}
  http-request set-header x-forwarded-for %[src]
  http-request add-header cdn-loop waybill`;

/** What origins are told, by the set of fields of the entity. */
const standardFields = (region: string): string => `  http-request set-header waybill-region ${region}
  http-request set-header x-forwarded-host %[req.fhdr(host)]
  http-request set-header x-forwarded-proto http if !{ ssl_fc }
  http-request set-header x-forwarded-proto https if { ssl_fc }
  http-request add-header via '1.1 waybill'
  http-request set-var(txn.waybill_trace) uuid(),sha1,hex,lower if !traced
  http-request set-header traceparent 00-%[var(txn.waybill_trace),bytes(0,32)]-%[var(txn.waybill_trace),bytes(24,16)]-00 if !traced`;

const TOLD: Readonly<Record<FieldSet, (region: string) => string>> = {
  minimal: () => "",
  standard: standardFields,
  full: (region) => `${standardFields(region)}
  http-request set-header waybill-layout %[var(txn.waybill),field(2,|)]
  http-request set-header waybill-revision 0
  http-request set-header forwarded 'for=%[src];host="%[req.fhdr(x-forwarded-host)]";proto=%[req.hdr(x-forwarded-proto)]' if !{ src -m sub : }
  http-request set-header forwarded 'for="[%[src]]";host="%[req.fhdr(x-forwarded-host)]";proto=%[req.hdr(x-forwarded-proto)]' if { src -m sub : }`,
};

const backendText = (
  { name, region, ms, fields }: Backend,
  headers: readonly string[],
  { caFile }: ExportOptions,
): string => {
  const { origins, health, breaker, failover } = region;
  const used = origins
    .map((origin, at) => ({ ...origin, at: at + 1, url: new URL(origin.url) }))
    .filter(({ weight }) => weight > 0);
  const hasOthers = used.length > 1 || failover.length > 0;
  const watched =
    breaker !== undefined && hasOthers ? ` observe layer4 error-limit ${breaker.failures} on-error mark-down` : "";
  const seconds = Math.max(1, Math.round((breaker?.openMs ?? 10_000) / 1000));
  const checks = hasOthers ? ` check inter ${health === undefined ? seconds : 15}s fall 2 rise 1${watched}` : "";
  const lines = used.flatMap(({ at, url }) => {
    const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port;
    const tls =
      url.protocol === "https:"
        ? ` ssl verify required ca-file ${haproxyWord(caFile)} sni str(${url.hostname}) check-sni ${url.hostname}`
        : "";
    return [`  server origin_${at} ${url.hostname}:${port}${tls}${checks}`];
  });
  const hosts = used.map(({ at, url }) => {
    const only = used.length === 1 ? "" : ` if { var(txn.waybill),field(4,|) -m str origin_${at} }`;
    const base = url.pathname.replace(/\/$/, "");
    return [
      `  http-request set-header host ${haproxyFormat(url.host)}${only}`,
      ...(base === "" ? [] : [`  http-request set-pathq ${haproxyFormat(base)}%[pathq]${only}`]),
    ].join("\n");
  });
  return `backend ${name} ${comment(region.name)}
  timeout server ${ms}ms
  timeout connect ${Math.min(ms, 75_000)}ms
  retries 3
  retry-on conn-failure empty-response
  option redispatch 1
${health === undefined || !hasOthers ? "" : `  option httpchk\n  http-check send meth GET uri ${haproxyFormat(health.path)} ver HTTP/1.1 hdr host ${haproxyFormat(used[0]?.url.host ?? "")} hdr user-agent waybill-health hdr via '1.1 waybill' hdr cdn-loop waybill\n  http-check expect status 200-399\n  timeout check ${health.timeoutMs}ms\n`}${receivedText(headers)}
${TOLD[fields](region.name)}
${hosts.join("\n")}
  http-response del-header waybill- -m beg
  http-response del-header proxy-authenticate
  http-response del-header proxy-connection
  http-response del-header keep-alive
${fields === "minimal" ? "" : `  http-response set-header waybill-region ${region.name}`}
${fields === "full" ? "  http-response set-header waybill-layout %[var(txn.waybill),field(2,|)]\n  http-response add-header via '1.1 waybill'" : ""}
${used.length > 1 ? used.map(({ at }) => `  use-server origin_${at} if { var(txn.waybill),field(4,|) -m str origin_${at} }`).join("\n") : ""}
${lines.join("\n")}
`;
};

const waybillText = ({ waybill, caFile }: ExportOptions): string => {
  if (waybill === undefined) return "backend waybill\n";
  const { protocol, hostname, port } = new URL(waybill);
  const tls = protocol === "https:" ? ` ssl verify required ca-file ${haproxyWord(caFile)} sni req.hdr(host)` : "";
  return `# What the table cannot decide here.
backend waybill
  timeout server 1d
  http-request del-header forwarded
  http-request del-header x-forwarded-host
  http-request set-header x-forwarded-for %[src]
  http-request set-header x-forwarded-proto http if !{ ssl_fc }
  http-request set-header x-forwarded-proto https if { ssl_fc }
  server waybill ${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}${tls}
`;
};

const programText = (plan: ExportPlan, options: ExportOptions): string => {
  const classes = regionClasses(plan, options);
  const headers = sentHeaders(plan);
  const entities = [...new Set(plan.patterns.map(({ entity }) => entity.name))];
  const rows = plan.regions.map((region, at) => {
    const keys = entities
      .map((entity) => `[${luaString(entity)}] = "waybill_${classes.placeOf(region, entity)}"`)
      .join(", ");
    const count = region.origins.filter(({ weight }) => weight > 0).length;
    return `  [${at + 1}] = { count = ${count}, names = { ${keys} } },`;
  });
  return `-- Generated from a routing table; do not edit.
local decision = (function()
${luaDecision(plan, "The decision.")}
end)()
local regions = {
${rows.join("\n")}
}
local format, time = string.format, os.time
local headers = { ${headers.map(luaString).join(", ")} }

-- The backend, the layout, the ID's canonical text, its origin and the slices of its key, between bars. Nothing where
-- Waybill decides, and "unrouted" where the table surely has no entity for the path.
local function decide(path)
  local region, which, text, a, b, c, d, e = decision.decide_path(path, time() * 1000)
  if region == -1 then return "unrouted" end
  if region < 1 then return nil end
  local about = decision.ids[which]
  local one = regions[region]
  local origin = ""
  if one.count > 1 then
    if not about.hash then return nil end
    origin = "origin_" .. decision.origin(region, about.hash(a, b, c, d, e))
  end
  local answer = one.names[about.entity] .. "|" .. about.layout .. "|" .. text .. "|" .. origin
  for at = 1, #headers do
    answer = answer .. "|"
    for _, sent in ipairs(about.sent) do
      if sent[1] == headers[at] then answer = answer .. format("%d", sent[2](a, b, c, d, e)) end
    end
  end
  return answer
end

core.register_converters("waybill", decide)
`;
};
