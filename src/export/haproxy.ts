import { CATALOGUE, type ProblemSlug } from "../problems/catalogue.ts";
import { SESSION_COOKIE } from "../proxy/headers.ts";
import type { FieldSet, Region } from "../routing/table.ts";
import {
  type ExportFile,
  type ExportOptions,
  leftText,
  METHODS,
  NEEDS_WAYBILL,
  plainHost,
  portOf,
  problemText,
  type RegionClass,
  regionClasses,
  STOPPED_NAMES,
} from "./common.ts";
import type { Forwarded } from "./left.ts";
import { luaDecision } from "./lua-program.ts";
import { luaString } from "./lua-text.ts";
import { type NativePath, type NativeTime, nativePaths } from "./native.ts";
import type { ExportPlan } from "./plan.ts";

/** A configuration for HAProxy with Lua. */
export const haproxyFiles = (plan: ExportPlan, options: ExportOptions): readonly ExportFile[] => {
  const natives = nativePaths(plan);
  return [
    { name: "haproxy.cfg", text: configText(plan, natives, options) },
    { name: "waybill.lua", text: programText(plan, options) },
    ...OWN_ERRORS.map(([, slug]) => ({ name: `${slug}.http`, text: rawProblem(slug) })),
    ...natives.map((native, at) => ({ name: `path-${at + 1}.map`, text: mapText(native, plan, options) })),
    { name: "named.lst", text: [...plan.overrides.values(), ""].flat().join("\n") },
  ];
};

/** Differences between HAProxy and Waybill. The command prints it. */
export const HAPROXY_LIMITS: readonly string[] = [
  "HAProxy answers by itself, in HTML: 400 for bytes from 0x80 on, `#` and invalid fields in a request, and for heads of more than 15 KiB or 256 fields; 422 for transfer codings other than chunked.",
  `Requests with chunked bodies, which may have trailers, and of methods other than ${METHODS} go to Waybill.`,
  "An origin's 421 reaches the client: moves that origins announce are not followed or remembered.",
  "After a failed connection another origin of the region gets the host field of the first; one that connects and is silent is waited for. A region's reads get 502 until all its origins are marked as down; then Waybill fails over, and without Waybill nothing does.",
  "An origin that breaks off before its answer may end the client's connection without one. Interim answers (1xx) and trailers of origins pass.",
  "One deadline covers the first byte and each pause; there is none for the whole request.",
  "Requests with a body are sent once.",
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
  [503, "origin-unreachable"],
  [504, "origin-timeout"],
];

/** Fields that Waybill looks at, or that rules do. */
const LOOKED_AT = [
  "id-layout",
  "upgrade",
  "tracestate",
  "max-forwards",
  "cdn-loop",
  "connection",
  "transfer-encoding",
  "content-length",
  "traceparent",
];

/** All names as one expression; a line holds 2,048 characters. Origins read `_` and `.` as `-`. */
const namesExpression = (names: readonly string[], end: string): string =>
  prefixTree([...names.map((name) => name + end), `waybill-.*${end}`, `x-forwarded-.*${end}`]);

/** Each letter is compared once. */
const prefixTree = (words: readonly string[]): string => {
  const letters = [...new Set(words.map((word) => word.slice(0, 1)))].filter((letter) => letter !== "");
  const parts = letters.map((letter) => {
    const rests = words.filter((word) => word.startsWith(letter)).map((word) => word.slice(1));
    return `${letter === "-" ? "[-_.]" : letter}${prefixTree(rests)}`;
  });
  return parts.length > 1 ? `(?:${parts.join("|")})` : parts.join("");
};

const usedOrigins = ({ origins }: Region) =>
  origins
    .map((origin, at) => ({ at: at + 1, url: new URL(origin.url), weight: origin.weight }))
    .filter(({ weight }) => weight > 0);

/** An origin that stands in for another gets the path that was written for the other. */
const isReachable = (region: Region): boolean => new Set(usedOrigins(region).map(({ url }) => url.pathname)).size <= 1;

export const haproxyForwarded = ({ regions }: ExportPlan): readonly Forwarded[] =>
  regions
    .filter((region) => !isReachable(region))
    .map(({ name }) => ({ what: `region ${name}`, why: "origins with different base paths" }));

interface Backend extends RegionClass {
  readonly name: string;
}

const configText = (plan: ExportPlan, natives: readonly NativePath[], options: ExportOptions): string => {
  const classes = regionClasses(plan, options);
  const backends = classes.all.map((one): Backend => ({ ...one, name: `waybill_${one.at}` }));
  const headers = sentHeaders(plan);
  return `# Generated from a routing table; do not edit.
# Start: haproxy -f <this folder>/haproxy.cfg
${leftText(plan, comment)}
global
  # Each target and each head is another one.
  tune.pattern.cache-size 0
  # As many fields as Waybill takes.
  tune.http.maxhdr 256
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
${OWN_ERRORS.map(([status, slug]) => `  errorfile ${status} ${haproxyWord(`${options.folder}/${slug}.http`)}`).join("\n")}

frontend waybill_in
  bind ${haproxyWord(options.listen)}
  # The raw target decides, and what decides gives a region only where the table says it for certain:
  # backend | layout | canonical ID | origin | slices of its key
  # Characters that every program on the way leaves as they are.
  acl plain_target url -m reg ^/[A-Za-z0-9._~!$&()*+,;=:@/-]*${QUERY}$
  acl plain_host req.fhdr(host) -m reg ${haproxyWord(`^${plainHost("(?::|$)")}$`)}
  # Fields that stop here, or that need a look.
  acl any_special req.hdrs -m reg ${haproxyWord(`(?m)^(?:${namesExpression([...STOPPED_NAMES, ...LOOKED_AT], ":")}|cookie:.*${SESSION_COOKIE})`)}
  acl special var(txn.waybill_special) -m found
  # Fields that Waybill looks at.
  acl extra req.hdrs -m reg (?m)^(id-layout|upgrade|tracestate|max-forwards):
  acl extra req.fhdr(cdn-loop) -m sub -i ${haproxyWord(options.gatewayName)}
  acl extra req.hdr_cnt(host) gt 1
  acl extra req.fhdr(cookie) -m sub ${SESSION_COOKIE}
  # Trailers would pass.
  acl extra req.fhdr(transfer-encoding) -m found
  # Other tokens than these name fields of one connection.
  acl extra req.fhdr(connection) -m reg -i ^(?!(close|keep-alive)$)
  acl plain_method method ${METHODS}
  acl reads method GET HEAD OPTIONS
  acl repeats method GET HEAD OPTIONS PUT DELETE
  acl with_body req.fhdr(transfer-encoding) -m found
  acl with_body req.fhdr(content-length) -m found
  acl known var(txn.waybill) -m found
  http-request deny deny_status 400 if { req.hdrs -m reg '\\x00' }
${createsText(plan)}  http-request set-var(txn.waybill_special) bool(true) if any_special
${natives.map((native, at) => nativeText(native, at + 1, options.folder)).join("")}  http-request set-var(txn.waybill_id) path,field(-1,/) if known
  http-request set-var(txn.waybill) path,lua.waybill if !known !special plain_method !creates plain_target plain_host
  http-request set-var(txn.waybill) path,lua.waybill if special reads !with_body plain_target plain_host !extra
  http-request set-var(txn.waybill) path,lua.waybill if special !reads plain_method !creates plain_target plain_host !extra
  http-request set-var(txn.waybill_id) var(txn.waybill),field(3,|) if known !{ var(txn.waybill_id) -m found }
  acl decided var(txn.waybill) -m beg waybill_
  acl unrouted var(txn.waybill) -m str unrouted
${options.waybill === undefined ? refusals() : ""}
${failovers(backends).join("\n")}
  use_backend %[var(txn.waybill),field(1,|)] if decided
  default_backend waybill

${backends.map((backend) => backendText(backend, headers, options)).join("\n")}
${waybillText(options)}`;
};

const QUERY = "([?][][A-Za-z0-9._~!$&()*+,;=:@/?%-]*)?";

/** Requests that may create an entity are for Waybill. */
const createsText = ({ creates: { collections, putFields } }: ExportPlan): string => {
  const paths = collections.map((path) =>
    path.includes("/:id/")
      ? `  acl collection path -m reg ${haproxyWord(`^${path.replaceAll(/[^A-Za-z0-9/:]/g, "[$&]").replace("/:id/", "/[^/]+/")}$`)}\n`
      : `  acl collection path -m str ${haproxyWord(path)}\n`,
  );
  const fields = putFields?.map((name) => `req.fhdr(${name}) -m found`) ?? ["always_true"];
  const set = (condition: string) => `  http-request set-var(txn.waybill_creates) bool(true) if ${condition}\n`;
  return [
    ...paths,
    ...(paths.length === 0 ? [] : [set("{ method POST } collection")]),
    ...fields.map((one) => `  acl creating_put ${one}\n`),
    ...(fields.length === 0 ? [] : [set("{ method PUT } creating_put")]),
    "  acl creates var(txn.waybill_creates) -m found\n",
  ].join("");
};

/** The decision without Lua. */
const nativeText = ({ expression, id, digits, time }: NativePath, at: number, folder: string): string => {
  const timeAcls = ({ least, addMs, ticks, unit }: NativeTime) =>
    `  acl in_time_${at} var(txn.waybill_minted) -m int ge ${least}
  acl too_late_${at} date,mul(1000),add(${addMs}),mul(${ticks}),div(${unit}),sub(txn.waybill_minted) -m int le 0
  http-request set-var(txn.waybill_minted) path,bytes(${id.from},8),hex2i if at_${at}
`.replace(",mul(1),", ",");
  const key = `path,bytes(${digits.from},${digits.length}),map_str(${folder}/path-${at}.map)`;
  return `  acl path_${at} url -m reg ^${expression}${QUERY}$
  acl at_${at} var(txn.waybill_path) -m int ${at}
  acl named_${at} path,bytes(${id.from},${id.length}) -m str -f ${haproxyWord(`${folder}/named.lst`)}
  http-request set-var(txn.waybill_path) int(${at}) if !special path_${at} reads plain_host
${time === undefined ? "" : timeAcls(time)}  http-request set-var(txn.waybill) ${haproxyWord(key)} if at_${at}${time === undefined ? "" : ` in_time_${at} !too_late_${at}`} !named_${at}
`;
};

const mapText = ({ regions, decision }: NativePath, plan: ExportPlan, options: ExportOptions): string => {
  const { placeOf } = regionClasses(plan, options);
  const { entity, layout } = decision;
  const backend = (at: number) => `waybill_${placeOf(plan.regions[at - 1] as Region, entity.name)}`;
  return [...regions].map(([digits, region]) => `${digits} ${backend(region)}|${layout.name}\n`).join("");
};

const refusals = (): string => {
  const unrouted = CATALOGUE["unrouted-path"].status;
  return `  http-request return status ${unrouted} content-type application/problem+json hdr cache-control no-store string ${haproxyWord(problemText("unrouted-path", unrouted))} if unrouted
  http-request return status 503 content-type application/problem+json hdr cache-control no-store string ${haproxyWord(NEEDS_WAYBILL)} if !decided`;
};

/** Slices that origins are told, in the order of the fields that Lua gives. */
const sentHeaders = ({ patterns }: ExportPlan): readonly string[] => {
  const ids = patterns.flatMap(({ reading }) => (reading ?? []).flatMap((reader) => reader.ids));
  return [...new Set(ids.flatMap(({ sent }) => sent.map(({ header }) => header)))];
};

/** While no origin of a region is up, Waybill has its failover. */
const failovers = (backends: readonly Backend[]): readonly string[] =>
  backends
    .filter(({ region }) => region.failover.length > 0)
    .map(({ name }) => `  use_backend waybill if decided { var(txn.waybill) -m beg ${name}| } { nbsrv(${name}) lt 1 }`);

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

const backendText = (
  { name, region, ms, fields }: Backend,
  headers: readonly string[],
  { caFile, gatewayName }: ExportOptions,
): string => {
  const via = haproxyFormat(`1.1 ${gatewayName}`);
  const { health, breaker, failover } = region;
  const used = usedOrigins(region);
  const hasOthers = used.length > 1 || failover.length > 0;
  const { failures = 0, openMs = 10_000 } = breaker ?? {};
  const watched = failures > 0 && hasOthers ? ` observe layer4 error-limit ${failures} on-error mark-down` : "";
  const seconds = health === undefined ? Math.max(1, Math.round(openMs / 1000)) : 15;
  const checks = hasOthers ? ` check inter ${seconds}s fall 2 rise 1${watched}` : "";
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
${health === undefined || used.length > 1 || !hasOthers ? "" : `  option httpchk\n  http-check send meth GET uri ${haproxyFormat(base + health.path)} ver HTTP/1.1 hdr host ${haproxyFormat(used[0]?.url.host ?? "")} hdr user-agent waybill-health hdr via ${via} hdr cdn-loop ${haproxyFormat(gatewayName)}\n  http-check expect status 200-399\n  timeout check ${health.timeoutMs}ms\n`}${receivedText(headers, gatewayName)}
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

const waybillText = ({ waybill, caFile }: ExportOptions): string => {
  if (waybill === undefined) return "backend waybill\n";
  const url = new URL(waybill);
  const tls = url.protocol === "https:" ? ` ssl verify required ca-file ${haproxyWord(caFile)} sni req.hdr(host)` : "";
  return `# What the table cannot decide here.
backend waybill
  timeout server 1d
  http-request del-header forwarded
  http-request del-header x-forwarded-host
  http-request set-header x-forwarded-for %[src]
  http-request set-header x-forwarded-proto http if !{ ssl_fc }
  http-request set-header x-forwarded-proto https if { ssl_fc }
  server waybill ${url.hostname}:${portOf(url)}${tls}
`;
};

const programText = (plan: ExportPlan, options: ExportOptions): string => {
  const classes = regionClasses(plan, options);
  const headers = sentHeaders(plan);
  const entities = [...new Set(plan.patterns.map(({ entity }) => entity.name))];
  const rows = plan.regions.map((region, at) => {
    if (!isReachable(region)) return "";
    const keys = entities
      .map((entity) => `[${luaString(entity)}] = "waybill_${classes.placeOf(region, entity)}"`)
      .join(", ");
    return `  [${at + 1}] = { count = ${usedOrigins(region).length}, names = { ${keys} } },`;
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
  local one, origin = regions[region], ""
  if not one then return nil end
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
