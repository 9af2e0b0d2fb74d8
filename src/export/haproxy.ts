import { CATALOGUE, type ProblemSlug } from "../problems/catalogue.ts";
import { SESSION_COOKIE } from "../proxy/headers.ts";
import type { Region } from "../routing/table.ts";
import {
  type ExportFile,
  type ExportOptions,
  LABELS_LIMIT,
  leftText,
  METHODS,
  NEEDS_WAYBILL,
  plainHost,
  portOf,
  problemText,
  regionClasses,
  STOPPED_NAMES,
} from "./common.ts";
import { type Backend, backendText, usedOrigins } from "./haproxy-backend.ts";
import { comment, haproxyWord, namesExpression } from "./haproxy-text.ts";
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
  LABELS_LIMIT,
];

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

/** An origin that stands in for another gets the path that was written for the other. */
const isReachable = (region: Region): boolean => new Set(usedOrigins(region).map(({ url }) => url.pathname)).size <= 1;

export const haproxyForwarded = ({ regions }: ExportPlan): readonly Forwarded[] =>
  regions
    .filter((region) => !isReachable(region))
    .map(({ name }) => ({ what: `region ${name}`, why: "origins with different base paths" }));

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
  # After a reload the former process answers once more on connections that are idle, and closes them then.
  option idle-close-on-response
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
