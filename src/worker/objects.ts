import { readConfig } from "../edge/config.ts";
import type { ControlPlaneRpc } from "../edge/env.ts";
import * as log from "../edge/log.ts";
import type { MetricsRpc } from "../edge/metrics/store.ts";
import { teller } from "../edge/table/told-tables.ts";
import { thinObject, type Wakes } from "../edge/thin-object.ts";
import { PART_CALLS } from "../features/stored-parts.ts";
import { vouchedTables } from "./table.ts";

/**
 * `waybill/worker/objects`: the classes of the gateway's Durable Objects, and nothing else. A Worker exports all of them; the
 * platform stores their names.
 */

export * from "../features/objects.ts";

/** Its checks have the same last resort as requests. */
export class TrafficReports extends thinObject<MetricsRpc & Wakes>(
  "traffic-object",
  async () => {
    const module = await import("../edge/metrics/object.ts");
    return (context, env) => new module.TrafficReports(context, env, vouchedTables(env));
  },
  { report: true, totals: true, history: true, scheduleChecks: true, alarm: true },
) {}

const PART_METHODS = Object.fromEntries(Object.keys(PART_CALLS).map((name) => [name, true])) as {
  readonly [Name in keyof typeof PART_CALLS]: true;
};

/** Revision 0 is the table of the build. */
export class TableTruth extends thinObject<ControlPlaneRpc & Wakes>(
  "control-plane-object",
  async () => {
    const module = await import("../control-plane/object.ts");
    return (context, env) =>
      new module.ControlPlane(context, env, {
        ...vouchedTables(env),
        reportForm: log.reportFormFailure,
        isKvLimited: readConfig(env).isOnEdge,
        onHeld: teller(),
      }) as InstanceType<typeof module.ControlPlane> & ControlPlaneRpc;
  },
  {
    text: true,
    revisions: true,
    audit: true,
    status: true,
    partFaults: true,
    publish: true,
    rollback: true,
    startCanary: true,
    promote: true,
    abort: true,
    recordRejection: true,
    renewForm: true,
    begin: true,
    ...PART_METHODS,
    alarm: true,
  },
) {}
