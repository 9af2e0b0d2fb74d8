import type { DeclaredTable } from "../routing/schema/table.ts";
import type { ExportFile, ExportOptions } from "./common.ts";
import { ENVOY_LIMITS, envoyFiles, envoyForwarded } from "./envoy.ts";
import { HAPROXY_LIMITS, haproxyFiles, haproxyForwarded } from "./haproxy.ts";
import type { Forwarded } from "./left.ts";
import { NGINX_LIMITS, nginxFiles } from "./nginx.ts";
import { planExport } from "./plan.ts";

/** The engines that a table can be exported to. */
export const ENGINES = ["nginx", "haproxy", "envoy"] as const;
export type { ExportOptions };
export type Engine = (typeof ENGINES)[number];

export interface TableExport {
  readonly files: readonly ExportFile[];
  /** Cases left to Waybill, with reasons. */
  readonly forwarded: readonly Forwarded[];
  /** Differences between the engine and Waybill. */
  readonly limits: readonly string[];
}

/** A table as configuration of an engine. The table must have been checked. */
export const exportTable = (engine: Engine, declared: DeclaredTable, options: ExportOptions): TableExport => {
  const plan = planExport(declared, options);
  switch (engine) {
    case "nginx":
      return { files: nginxFiles(plan, options), forwarded: plan.forwarded, limits: NGINX_LIMITS };
    case "haproxy": {
      const forwarded = [...plan.forwarded, ...haproxyForwarded(plan)];
      return { files: haproxyFiles({ ...plan, forwarded }, options), forwarded, limits: HAPROXY_LIMITS };
    }
    case "envoy": {
      const forwarded = [...plan.forwarded, ...envoyForwarded(plan)];
      return { files: envoyFiles(plan, options), forwarded, limits: ENVOY_LIMITS };
    }
  }
};
