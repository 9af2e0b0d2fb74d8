import { TABLE_OBJECT } from "../../control-plane/deployment.ts";
import { isBehind, type Machines, MIRROR_STATUS_KEY } from "../../formats/machines.ts";
import { messageOf } from "../../ids/result.ts";
import type { MachinesPort, MirrorState } from "../../ports/machines.ts";
import type { Metric, Sample } from "../../ports/metrics.ts";
import type { ControlPlaneRpc, Env } from "../env.ts";
import { METRICS, type MetricName } from "../metrics/catalogue.ts";
import { exportedName, HELP } from "../metrics/snapshot.ts";
import { throwTimeout, withTimeout } from "../platform.ts";

/** A page shows them beside what it has. */
const DEADLINE_MS = 3_000;

interface MirrorNote {
  readonly revision?: number;
  readonly change?: number;
  readonly confirmedAt?: string;
  readonly node?: string;
  readonly nodes?: readonly string[];
  readonly silent?: readonly string[];
  readonly lastError?: string;
}

type SeenEnv = Pick<Env, "TABLE_KV" | "TABLE_TRUTH" | "STATE_1">;

/** The machines around this one: its own mirror from its disk, and all others from the control plane. */
export function seenMachines(env: SeenEnv, nowMs: () => number): MachinesPort {
  const mirror = async (): Promise<MirrorState | undefined> => {
    if (env.STATE_1 === undefined) return undefined;
    try {
      return mirrorIn(await env.TABLE_KV.get<MirrorNote>(MIRROR_STATUS_KEY, { type: "json" }), nowMs());
    } catch (error) {
      return mirrorIn({ lastError: messageOf(error) }, nowMs());
    }
  };
  const seen = async (): Promise<Machines | undefined> => {
    const { TABLE_TRUTH } = env;
    // Plain data crosses without the types of RPC.
    const truth = TABLE_TRUTH.get(TABLE_TRUTH.idFromName(TABLE_OBJECT)) as unknown as Pick<ControlPlaneRpc, "machines">;
    try {
      return await withTimeout(truth.machines(), DEADLINE_MS, throwTimeout);
    } catch {
      return undefined;
    }
  };
  return {
    mirror,
    seen,
    async metrics() {
      const [own, all] = await Promise.all([mirror(), seen()]);
      return metricsOf(own, all, nowMs());
    },
  };
}

function mirrorIn(note: MirrorNote | null, nowMs: number): MirrorState {
  const { revision, change, confirmedAt, node, nodes = [], silent = [], lastError } = note ?? {};
  const atMs = Date.parse(confirmedAt ?? "");
  const ageSeconds = Number.isNaN(atMs) ? undefined : Math.max(0, Math.floor((nowMs - atMs) / 1000));
  return { revision, change, ageSeconds, node, nodes, silent, lastError };
}

type Row = readonly [labels: Readonly<Record<string, string>>, value: number];

function metricsOf(own: MirrorState | undefined, all: Machines | undefined, nowMs: number): readonly Metric[] {
  const rows: readonly (readonly [MetricName, readonly Row[]])[] = [
    ["mirror_age_seconds", own?.ageSeconds === undefined ? [] : [[{}, own.ageSeconds]]],
    ["mirror_revision", own === undefined ? [] : [[{}, own.revision ?? 0]]],
    ["state_node_up", (own?.nodes ?? []).map((node) => [{ node }, own?.silent.includes(node) ? 0 : 1])],
    ["edge_behind", (all?.edges ?? []).map((edge) => [{ edge: edge.name }, isBehind(edge, all?.published) ? 1 : 0])],
    [
      "edge_mirror_age_seconds",
      (all?.edges ?? []).map(({ name, ageMs, heardAtMs }) => [
        { edge: name },
        Math.floor((ageMs + Math.max(0, nowMs - heardAtMs)) / 1000),
      ]),
    ],
  ];
  return rows.flatMap(([name, own]) =>
    own.length === 0
      ? []
      : [
          {
            name: exportedName(name),
            type: METRICS[name].type,
            help: HELP[name],
            samples: own.map(([labels, value]): Sample => ({ name: exportedName(name), labels, value })),
          },
        ],
  );
}
