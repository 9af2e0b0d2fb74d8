import { WorkerEntrypoint } from "cloudflare:workers";
import { readConfig } from "../edge/config.ts";
import type { ControlPlaneRpc, Env } from "../edge/env.ts";
import * as log from "../edge/log.ts";
import type { StateRpc } from "../edge/machines/rpc.ts";
import type { MetricsRpc } from "../edge/metrics/store.ts";
import { teller } from "../edge/table/told-tables.ts";
import { thinObject, type Wakes } from "../edge/thin-object.ts";
import * as ofFeatures from "../features/objects.ts";
import { PART_CALLS } from "../features/stored-parts.ts";
import { loadable } from "../problems/loadable.ts";
import { vouchedTables } from "./table.ts";

/**
 * `waybill/worker/objects`: the classes of the gateway's Durable Objects, and the entrypoint of state nodes. A Worker exports all of
 * them; the platform stores their names.
 */

export * from "../features/objects.ts";

/** Its checks have the same last resort as requests. */
export class TrafficReports extends thinObject<MetricsRpc & Wakes>(
  { namespace: "TRAFFIC", module: "traffic-object" },
  async () => {
    const module = await import("../edge/metrics/object.ts");
    return (context, env) => new module.TrafficReports(context, env, vouchedTables(env, readConfig(env)));
  },
  {
    report: "long",
    totals: "long",
    history: "long",
    problem: "long",
    events: "long",
    noteNews: "long",
    scheduleChecks: "long",
    alarm: "platform",
  },
) {}

const PART_METHODS = Object.fromEntries(Object.keys(PART_CALLS).map((name) => [name, "long"])) as {
  readonly [Name in keyof typeof PART_CALLS]: "long";
};

/** Revision 0 is the table of the build. */
export class TableTruth extends thinObject<ControlPlaneRpc & Wakes>(
  { namespace: "TABLE_TRUTH", module: "control-plane-object" },
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
    text: "long",
    revisions: "long",
    audit: "long",
    status: "long",
    partFaults: "long",
    publish: "once",
    rollback: "once",
    startCanary: "once",
    promote: "once",
    abort: "once",
    recordRejection: "once",
    renewForm: "long",
    begin: "long",
    pointer: "long",
    machines: "long",
    news: "long",
    ...PART_METHODS,
    alarm: "platform",
  },
) {}

const stateNode = loadable("state-node", async () => {
  const { stateAnswers } = await import("./state.ts");
  return stateAnswers([...Object.values(ofFeatures), TrafficReports, TableTruth]);
});

/**
 * The entrypoint that edges have in place of Durable Objects. A state node gives it a socket with certificates; its peers are
 * machines of the same operator. All but the class is loaded by the first call. On Cloudflare nothing is bound to it.
 */
export class State extends WorkerEntrypoint<Env> implements StateRpc {
  async ping(): Promise<void> {}

  async call(...call: Parameters<StateRpc["call"]>): Promise<unknown> {
    return stateNode.run((own) => own.call(this.env, ...call));
  }

  async kvGet(key: string): Promise<ArrayBuffer | null> {
    return stateNode.run((own) => own.kvGet(this.env, key));
  }

  async kvPut(...put: Parameters<StateRpc["kvPut"]>): Promise<void> {
    return stateNode.run((own) => own.kvPut(this.env, ...put));
  }

  override async fetch(request: Request): Promise<Response> {
    return stateNode.run((own) => own.fetch(this.env, request));
  }
}
