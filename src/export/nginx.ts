import { CATALOGUE, type ProblemSlug } from "../problems/catalogue.ts";
import type { FieldSet, Origin, Region } from "../routing/table.ts";
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
  type RegionClass,
  regionClasses,
  STOPPED_NAMES,
} from "./common.ts";
import { luaDecision } from "./lua-program.ts";
import { luaString } from "./lua-text.ts";
import { NGINX_PROGRAM } from "./nginx-program.ts";
import type { ExportPlan } from "./plan.ts";

/** A configuration for nginx with its Lua module: complete, and for `include` in one of the operator's. */
export const nginxFiles = (plan: ExportPlan, options: ExportOptions): readonly ExportFile[] => [
  { name: "nginx.conf", text: mainText(options) },
  { name: "waybill.conf", text: httpText(plan, options) },
  ...FIELD_SETS.map((set) => ({ name: `waybill-fields-${set}.conf`, text: fieldsText(set) })),
  { name: "waybill_decision.lua", text: luaDecision(plan, "Generated from a routing table; do not edit.") },
  { name: "waybill_nginx.lua", text: programText(plan, options) },
];

/** Differences between nginx and Waybill. The command prints them. */
export const NGINX_LIMITS: readonly string[] = [
  "nginx answers by itself, as a problem: 400 for escapes such as %zz and %00, for `..` above the root and for invalid fields; 405 for TRACE; 414 and 431 for more than 64 KiB; 501 for transfer codings other than chunked.",
  "Fields are dropped whose names hold more than letters, digits and hyphens; so is expect.",
  `Requests of more than 128 fields, and of methods other than ${METHODS} go to Waybill.`,
  "An answer of an origin that is none, such as 103 or a status of 600, closes the client's connection.",
  "An origin's 421 reaches the client: moves that origins announce are not followed or remembered.",
  "One deadline covers the first byte and each pause; there is none for the whole request.",
  "Bodies are never kept, so a request with a body goes to one origin.",
  "Origins are not checked actively; one that failed so often within the breaker's time as the table says is passed over, where the region has another.",
  "Requests are not signed, counted or logged as Waybill does, and limits of rates are not kept.",
  LABELS_LIMIT,
  "An origin's waybill-* fields pass, but for those that Waybill sets.",
];

/** A value in double quotes. nginx would expand `$`, which no escape prevents. */
export const nginxString = (text: string): string => {
  if (/[^ -#%-~]/.test(text)) throw new Error(`nginx cannot hold ${JSON.stringify(text)}`);
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
};

const nginxComment = (text: string): string => `# ${text.replaceAll(/[^\x20-\x7e]/g, "?")}`;

const mainText = ({
  modulesFolder,
  stateFolder,
}: ExportOptions): string => `# Generated from a routing table; do not edit.
# Start: nginx -p <this folder> -c nginx.conf
pcre_jit on;
load_module ${nginxString(`${modulesFolder}/ndk_http_module.so`)};
load_module ${nginxString(`${modulesFolder}/ngx_http_lua_module.so`)};
worker_processes auto;
${stateFolder === undefined ? "" : `pid ${nginxString(`${stateFolder}/nginx.pid`)};\nerror_log ${nginxString(`${stateFolder}/error.log`)} warn;\n`}events {
  worker_connections 4096;
}
http {
${
  stateFolder === undefined
    ? ""
    : ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((kind) => `  ${kind}_temp_path ${nginxString(`${stateFolder}/${kind}`)};\n`)
        .join("")
}  access_log off;
  lua_package_path "$prefix/?.lua;;";
  include waybill.conf;
}
`;

interface Place {
  readonly region: Region;
  /** Counts from 1, as in Lua. */
  readonly at: number;
}

const httpText = (plan: ExportPlan, options: ExportOptions): string => {
  const classes = regionClasses(plan, options);
  const places = plan.regions.map((region, at): Place => ({ region, at: at + 1 }));
  return `# Generated from a routing table; do not edit. For the http block.
${leftText(plan, nginxComment)}
init_by_lua_block { waybill_nginx = require "waybill_nginx" }
# Origins that failed, and those that are passed over.
lua_shared_dict waybill_failures 1m;

# The path of a target that all programs on the way leave as it is, of a good host; other requests are for Waybill.
map "$http_host $request_uri" $waybill_path {
  "~^${plainHost("[: ]")} (?<waybill_raw>/[A-Za-z0-9._~!$&()*+,;=:@/-]*)(?:\\?[A-Za-z0-9._~!$&()*+,;=:@/?%\\[\\]-]*)?\\z" $waybill_raw;
}
# W3C Trace Context: one that is not valid is removed.
map $http_traceparent $waybill_given_trace {
  "~^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}\\z" $http_traceparent;
  "~^(?!ff|00)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?\\z" $http_traceparent;
}
map $remote_addr $waybill_for {
  "~:" '"[$remote_addr]"';
  default $remote_addr;
}

${places.map(upstreamsText).join("\n")}
${options.waybill === undefined ? "" : `upstream waybill {\n  server ${nginxString(hostOf(options.waybill))};\n  keepalive 64;\n}\n`}
server {
  listen ${nginxString(options.listen)} default_server;
  server_name _;
  server_tokens off;
  # The gateway sets no limit either; a head may be as long as 64 KiB.
  client_max_body_size 0;
  large_client_header_buffers 4 64k;
  keepalive_requests 100000;
  recursive_error_pages on;

  proxy_http_version 1.1;
  proxy_request_buffering off;
  proxy_buffering off;
  # The head of an answer may be as long.
  proxy_buffer_size 72k;
  proxy_buffers 2 72k;
  proxy_busy_buffers_size 72k;
  proxy_redirect off;
  # Origins must not steer nginx, and their own words reach clients.
  proxy_ignore_headers X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Buffering X-Accel-Charset Expires Cache-Control Set-Cookie Vary;
${["Date", "Server", "X-Accel-Redirect", "X-Accel-Limit-Rate", "X-Accel-Buffering", "X-Accel-Charset", "X-Pad"].map((name) => `  proxy_pass_header ${name};`).join("\n")}
${[...HOP_FIELDS, ...OWN_FIELDS].map((name) => `  proxy_hide_header ${name};`).join("\n")}
  proxy_ssl_server_name on;
  proxy_ssl_verify on;
  proxy_ssl_verify_depth 5;
  proxy_ssl_trusted_certificate ${nginxString(options.caFile)};
  proxy_next_upstream error;
  proxy_next_upstream_tries 2;

${["id", "layout", "trace", "connection", "turn", "status"].map((name) => `  set $waybill_${name} "";`).join("\n")}
  set $waybill_via ${nginxString(`1.1 ${options.gatewayName}`)};
  set $waybill_loop ${nginxString(options.gatewayName)};

  error_page 404 /-/engine/404;
${ENGINE_ERRORS.map(([status]) => `  error_page ${status}${status === 494 ? " =431" : ""} /-/engine/${status};`).join("\n")}
${[[404, "not-found"] as const, ...ENGINE_ERRORS].map(([status, what]) => `  location = /-/engine/${status} {\n    internal;\n    default_type application/problem+json;\n    add_header cache-control no-store always;\n    return ${status === 494 ? 431 : status} '${problemText(what, status === 494 ? 431 : status)}';\n  }`).join("\n")}

  # Every request: the raw target decides, never the decoded one of nginx's own locations.
  location / {
    rewrite_by_lua_block { return waybill_nginx.route() }
    content_by_lua_block { return ngx.exit(500) }
  }
${places.map((place) => locationsText(place, classes, options.gatewayName)).join("\n")}

  # What the table cannot decide here.
  location @waybill {
${options.waybill === undefined ? `    content_by_lua_block { return waybill_nginx.refuse() }` : waybillText(options.waybill)}
  }
  # No answer of an origin: the next one, or a problem.
${[502, 504].map((status) => `  location @waybill_failed_${status} {\n    rewrite_by_lua_block { return waybill_nginx.failed(${status}) }\n    content_by_lua_block { return ngx.exit(500) }\n  }`).join("\n")}
}
`;
};

const HOP_FIELDS = ["Proxy-Authenticate", "Proxy-Connection", "Keep-Alive"];

/** Those of an origin do not pass; those of Waybill do. */
const OWN_FIELDS = ["region", "layout", "table", "revision", "entity-id", "epoch", "signature", "client-country"].map(
  (name) => `waybill-${name}`,
);

/** Statuses with which nginx answers before any rule. */
const ENGINE_ERRORS: readonly (readonly [number, ProblemSlug | string])[] = [
  [400, "malformed-request"],
  [405, "method-not-allowed"],
  [408, "request-timeout"],
  [411, "Length required"],
  [413, "body-too-large"],
  [414, "Target too long"],
  [494, "Fields too large"],
  [500, "internal-error"],
  [501, "transfer-coding-unsupported"],
  [505, "Version not supported"],
];

const hostOf = (url: string): string => `${new URL(url).hostname}:${portOf(new URL(url))}`;

const upstreamName = (place: number, origin: number): string => `waybill_${place}_${origin}`;

/** One upstream for each origin: each has its own host field, and the choice is Waybill's own. */
const upstreamsText = ({ region, at }: Place): string =>
  [
    nginxComment(`region ${region.name}`),
    ...region.origins.map(
      ({ url }, origin) =>
        `upstream ${upstreamName(at, origin + 1)} {\n  server ${nginxString(hostOf(url))};\n  keepalive 64;\n}`,
    ),
  ].join("\n");

const locationsText = ({ region, at }: Place, { all }: ReturnType<typeof regionClasses>, gatewayName: string): string =>
  all
    .filter((one) => one.region === region)
    .flatMap((one) =>
      region.origins.map((origin, index) =>
        locationText(one, origin, {
          gatewayName,
          key: `${at}_${index + 1}_${one.at}`,
          upstream: upstreamName(at, index + 1),
        }),
      ),
    )
    .join("\n");

const locationText = (
  { region, ms, fields }: RegionClass,
  origin: Origin,
  { gatewayName, key, upstream }: Readonly<Record<"gatewayName" | "key" | "upstream", string>>,
): string => {
  const { protocol, pathname, host, hostname } = new URL(origin.url);
  const base = pathname.replace(/\/$/, "");
  // With a variable the whole URL is taken as it stands; without one nginx passes the raw target.
  const target =
    base === ""
      ? `${protocol}//${upstream}`
      : nginxString(`${protocol}//${upstream}${base}`).replace(/"$/, '$request_uri"');
  return `  location @waybill_${key} {
    proxy_pass ${target};
    proxy_read_timeout ${ms}ms;
    proxy_send_timeout ${ms}ms;
    proxy_connect_timeout ${Math.min(ms, 75_000)}ms;
    proxy_set_header Host ${nginxString(host)};
    header_filter_by_lua_block { return waybill_nginx.filter() }
${fields === "minimal" ? "" : `    proxy_set_header waybill-region ${region.name};\n    add_header waybill-region ${region.name} always;\n`}${fields === "full" ? `    add_header waybill-layout $waybill_layout always;\n    add_header via ${nginxString(`1.1 ${gatewayName}`)} always;\n` : ""}    include waybill-fields-${fields}.conf;
    ${protocol === "https:" ? `proxy_ssl_name ${nginxString(hostname)};\n    ` : ""}    error_page 502 = @waybill_failed_502;
    error_page 504 = @waybill_failed_504;
  }`;
};

const waybillText = (url: string): string => {
  const { protocol, hostname } = new URL(url);
  return `    proxy_pass ${protocol}//waybill;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Host "";
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header Forwarded "";
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $waybill_connection;
${HOP_FIELDS.map((name) => `    proxy_hide_header ${name};`).join("\n")}
    ${protocol === "https:" ? `proxy_ssl_name ${nginxString(hostname)};\n    ` : ""}proxy_read_timeout 1d;
    proxy_send_timeout 1d;
    proxy_next_upstream off;
    error_page 502 504 =500 /-/engine/500;`;
};

const FIELD_SETS: readonly FieldSet[] = ["standard", "full", "minimal"];

const NOT_MINIMAL: readonly FieldSet[] = ["standard", "full"];
const FULL: readonly FieldSet[] = ["full"];

/** Fields that origins are sent, and the sets that have them. */
const TOLD: readonly (readonly [name: string, value: string, sets: readonly FieldSet[]])[] = [
  ["waybill-entity-id", "$waybill_id", FIELD_SETS],
  ["X-Forwarded-For", "$remote_addr", FIELD_SETS],
  ["cdn-loop", "$waybill_loop", FIELD_SETS],
  ["X-Forwarded-Host", "$http_host", NOT_MINIMAL],
  ["X-Forwarded-Proto", "$scheme", NOT_MINIMAL],
  ["Via", "$waybill_via", NOT_MINIMAL],
  ["waybill-layout", "$waybill_layout", FULL],
  ["waybill-revision", '"0"', FULL],
  ["Forwarded", `'for=$waybill_for;host="$http_host";proto=$scheme'`, FULL],
];

/** Fields for origins, and those of clients that stop here: by the proxy's own list. */
const fieldsText = (set: FieldSet): string => {
  const stopped = STOPPED_NAMES.filter((name) => name !== "forwarded");
  // Without its own `via` the client's passes.
  const told = TOLD.flatMap(([name, value, sets]) =>
    sets.includes(set) ? [[name, value]] : name === "Via" ? [] : [[name, '""']],
  );
  return `# Generated. Fields that origins are sent, and fields that clients cannot send them.
proxy_set_header Connection "";
proxy_set_header Upgrade "";
${[...told, ["traceparent", "$waybill_trace"]].map(([name, value]) => `proxy_set_header ${name} ${value};`).join("\n")}
${stopped.map((name) => `proxy_set_header ${name} "";`).join("\n")}
`;
};

const programText = (plan: ExportPlan, options: ExportOptions): string => {
  const classes = regionClasses(plan, options);
  const entities = [...new Set(plan.patterns.map(({ entity }) => entity.name))];
  const places = new Map(plan.regions.map(({ name }, at) => [name, at + 1]));
  const regions = plan.regions.map((region, at) => {
    const { failover, failoverWrites, breaker, origins } = region;
    const others = failover.flatMap((name) => places.get(name) ?? []).join(", ");
    const keys = entities.map((entity) => `[${luaString(entity)}] = ${classes.placeOf(region, entity)}`).join(", ");
    const failures =
      breaker === undefined ? "nil" : `{ failures = ${breaker.failures}, seconds = ${breaker.openMs / 1000} }`;
    return `  { -- ${region.name}\n    at = ${at + 1}, count = ${origins.length}, failover = { ${others} }, writes = ${failoverWrites}, breaker = ${failures},\n    classes = { ${keys} },\n  },`;
  });
  const problems = (["unrouted-path", "origin-unreachable", "origin-timeout"] as const).map((slug) => {
    const { status } = CATALOGUE[slug];
    return `  [${luaString(slug)}] = { ${status}, ${luaString(problemText(slug, status))} },`;
  });
  return `-- Generated from a routing table; do not edit.
local regions = {
${regions.join("\n")}
}
local problems = {
${problems.join("\n")}
  ["left"] = { 503, ${luaString(NEEDS_WAYBILL)} },
}
local has_waybill = ${options.waybill !== undefined}
local pseudonym = ${luaString(options.gatewayName)}
${NGINX_PROGRAM}`;
};
