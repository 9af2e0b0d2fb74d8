import { CATALOGUE } from "../problems/catalogue.ts";
import type { Origin, Region } from "../routing/table.ts";
import {
  type ExportFile,
  type ExportOptions,
  LABELS_LIMIT,
  NEEDS_WAYBILL,
  portOf,
  problemText,
  STOPPED_NAMES,
} from "./common.ts";
import { ENVOY_FILTER, ENVOY_SPECIFIER } from "./envoy-program.ts";
import type { Forwarded } from "./left.ts";
import { luaDecision } from "./lua-program.ts";
import { luaString } from "./lua-text.ts";
import type { ExportPlan } from "./plan.ts";

/** A bootstrap file for Envoy, v3. Its Lua cluster specifier decides, and a cluster without endpoints refuses where that fails. */
export const envoyFiles = (plan: ExportPlan, options: ExportOptions): readonly ExportFile[] => [
  { name: "envoy.json", text: `${JSON.stringify(bootstrap(plan, options), null, 2)}\n` },
  {
    name: "left-to-waybill.txt",
    text: [...plan.forwarded, ...envoyForwarded(plan)].map(({ what, why }) => `${what}: ${why}\n`).join(""),
  },
];

/** Differences between Envoy and Waybill. The command prints it. */
export const ENVOY_LIMITS: readonly string[] = [
  "The file was never run in Envoy here: its fields are held against the published protobuf files, and its Lua is that of nginx and HAProxy.",
  "Envoy answers by itself: 400 for `#`, bytes from 0x80 on and invalid fields, 431 for heads of more than 60 KiB.",
  "Which of several origins gets an ID is Envoy's own choice: stable for the ID, and another than Waybill's.",
  "A region's failover is not used.",
  "An origin's 421 reaches the client: moves that origins announce are not followed or remembered.",
  "One deadline covers all pauses of all regions: the longest of the table's.",
  "Requests are not signed, counted or logged as Waybill does, and limits of rates are not kept.",
  LABELS_LIMIT,
];

/** Regions whose origins have a base path: a cluster cannot have one. */
export const envoyForwarded = ({ regions }: ExportPlan): readonly Forwarded[] =>
  regions
    .filter((region) => !isReachable(region))
    .map(({ name }) => ({ what: `region ${name}`, why: "an origin with a base path, or of both schemes" }));

const isReachable = ({ origins }: Region): boolean =>
  origins.every(({ url }) => new URL(url).pathname === "/") &&
  new Set(origins.map(({ url }) => new URL(url).protocol)).size === 1;

const extension = (name: string, type: string, config: object): object => ({
  name,
  typed_config: { "@type": `type.googleapis.com/envoy.extensions.${type}`, ...config },
});

const seconds = (ms: number): string => `${ms / 1000}s`;

const address = (host: string, port: number): object => ({ socket_address: { address: host, port_value: port } });

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

const bootstrap = (plan: ExportPlan, options: ExportOptions): object => ({
  static_resources: {
    listeners: [listener(plan, options)],
    clusters: [
      ...plan.regions.flatMap((region, at) =>
        isReachable(region) ? [cluster(`waybill_${at + 1}`, region, region.origins, options)] : [],
      ),
      ...(options.waybill === undefined
        ? []
        : [cluster("waybill", undefined, [{ url: options.waybill, weight: 1, binding: undefined }], options)]),
      // A failing script chooses this: it has no endpoint, so the request is refused.
      { name: "waybill_refuse", type: "STATIC", connect_timeout: "1s" },
    ],
  },
});

const listener = (plan: ExportPlan, options: ExportOptions): object => {
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(options.listen) ?? [];
  const decision = `local decision = (function()\n${luaDecision(plan, "The decision.")}\nend)()\n`;
  const settings = [
    `local has_waybill = ${options.waybill !== undefined}`,
    `local pseudonym = ${luaString(options.gatewayName)}`,
    `local clusters = { ${plan.regions.map((region) => (isReachable(region) ? "true" : "false")).join(", ")} }`,
    `local names = { ${plan.regions.map(({ name }) => luaString(name)).join(", ")} }`,
    `local sets = { ${[...plan.table.entities.values()].map(({ name, fields }) => `[${luaString(name)}] = ${luaString(fields)}`).join(", ")} }`,
    `local stopped = { ${STOPPED_NAMES.map((name) => `[${luaString(name)}] = true`).join(", ")} }`,
    `local unrouted = ${luaString(problemText("unrouted-path", CATALOGUE["unrouted-path"].status))}`,
    `local refused = ${luaString(NEEDS_WAYBILL)}`,
    "",
  ].join("\n");
  return {
    name: "waybill",
    address: address(host.replace(/^\[|\]$/g, ""), Number(port)),
    filter_chains: [
      {
        filters: [
          extension(
            "envoy.filters.network.http_connection_manager",
            "filters.network.http_connection_manager.v3.HttpConnectionManager",
            {
              stat_prefix: "waybill",
              codec_type: "AUTO",
              // The raw target decides.
              normalize_path: false,
              merge_slashes: false,
              path_with_escaped_slashes_action: "KEEP_UNCHANGED",
              use_remote_address: true,
              generate_request_id: false,
              server_header_transformation: "PASS_THROUGH",
              stream_idle_timeout: seconds(longestMs(plan, options)),
              local_reply_config: {
                body_format: {
                  json_format: { type: "about:blank", title: "%RESPONSE_CODE_DETAILS%", status: "%RESPONSE_CODE%" },
                  content_type: "application/problem+json",
                },
              },
              http_filters: [
                extension("envoy.filters.http.lua", "filters.http.lua.v3.Lua", {
                  default_source_code: { inline_string: decision + settings + ENVOY_FILTER },
                }),
                extension("envoy.filters.http.router", "filters.http.router.v3.Router", {
                  suppress_envoy_headers: true,
                }),
              ],
              route_config: {
                name: "waybill",
                virtual_hosts: [{ name: "waybill", domains: ["*"], routes: [route(decision + settings)] }],
              },
            },
          ),
        ],
      },
    ],
  };
};

const route = (program: string): object => ({
  match: { prefix: "/" },
  route: {
    inline_cluster_specifier_plugin: {
      extension: extension("envoy.router.cluster_specifier_plugin.lua", "router.cluster_specifiers.lua.v3.LuaConfig", {
        source_code: { inline_string: program + ENVOY_SPECIFIER },
        default_cluster: "waybill_refuse",
      }),
    },
    timeout: "0s",
    auto_host_rewrite: true,
    hash_policy: [{ header: { header_name: "waybill-entity-id" } }],
    retry_policy: {
      retry_on: "connect-failure,reset-before-request",
      num_retries: 3,
      retriable_request_headers: [
        { name: ":method", string_match: { safe_regex: { regex: "GET|HEAD|OPTIONS|PUT|DELETE" } } },
      ],
      retry_host_predicate: [
        extension(
          "envoy.retry_host_predicates.previous_hosts",
          "retry.host.previous_hosts.v3.PreviousHostsPredicate",
          {},
        ),
      ],
      host_selection_retry_max_attempts: "5",
    },
  },
});

const cluster = (
  name: string,
  region: Region | undefined,
  origins: readonly Origin[],
  { caFile }: ExportOptions,
): object => {
  const used = origins.filter(({ weight }) => weight > 0).map(({ url, weight }) => ({ url: new URL(url), weight }));
  const [first] = used;
  const { breaker, health } = region ?? {};
  const isTls = first?.url.protocol === "https:";
  return {
    name,
    type: "STRICT_DNS",
    connect_timeout: "10s",
    lb_policy: used.length > 1 ? "RING_HASH" : "ROUND_ROBIN",
    load_assignment: {
      cluster_name: name,
      endpoints: [
        {
          lb_endpoints: used.map(({ url, weight }) => ({
            endpoint: { address: address(hostOf(url), portOf(url)), hostname: url.host },
            load_balancing_weight: Math.max(1, Math.round(weight)),
          })),
        },
      ],
    },
    ...(breaker === undefined || used.length < 2
      ? {}
      : {
          outlier_detection: {
            consecutive_local_origin_failure: breaker.failures,
            split_external_local_origin_errors: true,
            enforcing_consecutive_5xx: 0,
            base_ejection_time: seconds(breaker.openMs),
            max_ejection_percent: 90,
          },
        }),
    ...(health === undefined || used.length < 2
      ? {}
      : {
          health_checks: [
            {
              timeout: seconds(health.timeoutMs),
              interval: "15s",
              unhealthy_threshold: 2,
              healthy_threshold: 1,
              http_health_check: {
                path: health.path,
                host: first?.url.host ?? "",
                expected_statuses: [{ start: "200", end: "400" }],
              },
            },
          ],
        }),
    ...(isTls
      ? {
          transport_socket: extension("envoy.transport_sockets.tls", "transport_sockets.tls.v3.UpstreamTlsContext", {
            sni: hostOf(first.url),
            common_tls_context: {
              validation_context: {
                trusted_ca: { filename: caFile },
                match_typed_subject_alt_names: used.map(({ url }) => ({
                  san_type: "DNS",
                  matcher: { exact: hostOf(url) },
                })),
              },
            },
          }),
        }
      : {}),
  };
};

const longestMs = ({ regions, table }: ExportPlan, { deadlines }: ExportOptions): number => {
  const all = [
    deadlines,
    ...regions.map((region) => region.deadlines),
    ...[...table.entities.values()].map((entity) => entity.deadlines),
  ];
  const given = all.flatMap(({ firstByteMs, idleMs }) => [firstByteMs ?? 1, idleMs ?? 1]);
  return given.includes(0) ? 86_400_000 : Math.max(...given);
};
