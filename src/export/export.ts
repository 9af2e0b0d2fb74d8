import type { DeclaredTable } from "../routing/schema/table.ts";
import { HAPROXY_LIMITS, haproxyFiles } from "./haproxy.ts";
import { NGINX_LIMITS, nginxFiles } from "./nginx.ts";
import { type Forwarded, planExport } from "./plan.ts";

/** The engines that a table can be exported to. */
export const ENGINES = ["nginx", "haproxy"] as const;
export type Engine = (typeof ENGINES)[number];

export interface ExportFile {
  readonly name: string;
  readonly text: string;
}

export interface ExportOptions {
  /** Address and port, as the engine writes them. */
  readonly listen: string;
  /** URL of the gateway for what the engine cannot decide; `undefined`: such requests get a 503. */
  readonly waybill: string | undefined;
  /** The deployment's own deadlines, in milliseconds; 0 for none. */
  readonly deadlines: { readonly firstByteMs: number; readonly idleMs: number };
  /** Certificates that origins' ones are verified by. */
  readonly caFile: string;
  /** Where nginx's modules are. */
  readonly modulesFolder: string;
  /** For nginx's process ID, log and temporary files; `undefined`: where its package has them. */
  readonly stateFolder: string | undefined;
  /** Where the files will be, for engines that need whole paths. */
  readonly folder: string;
}

export interface TableExport {
  readonly files: readonly ExportFile[];
  /** What Waybill decides, with reasons. */
  readonly forwarded: readonly Forwarded[];
  /** What the engine does in another way than Waybill. */
  readonly limits: readonly string[];
}

/** A table as configuration of an engine. The table must have been checked. */
export const exportTable = (engine: Engine, declared: DeclaredTable, options: ExportOptions): TableExport => {
  const plan = planExport(declared);
  switch (engine) {
    case "nginx":
      return { files: nginxFiles(plan, options), forwarded: plan.forwarded, limits: NGINX_LIMITS };
    case "haproxy":
      return { files: haproxyFiles(plan, options), forwarded: plan.forwarded, limits: HAPROXY_LIMITS };
  }
};
