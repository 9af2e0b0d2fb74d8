import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../export/engines.ts";
import { exprsOf, readDashboard } from "../../rules/operate/dashboard.ts";
import { killAll } from "../machines/serving.ts";
import { PEER_KEYS } from "../mesh/mesh.ts";
import { startCluster, startPeer } from "./beside.ts";
import { startCollector } from "./collector.ts";
import { startTraffic, VIEWER } from "./traffic.ts";

/**
 * A Prometheus scrapes a gateway under traffic for 25 s, another one of its mesh, and an edge of a cluster. It answers each query of the
 * dashboard, and reads the alert rules. Skipped where Prometheus is missing: Debian's package `prometheus` has it.
 */
const hasPrometheus = spawnSync("prometheus", ["--version"]).error === undefined;

const TRAFFIC_MS = 25_000;

/** As Grafana fills them in. */
const filled = (text: string): string =>
  text.replaceAll("$__rate_interval", "15s").replaceAll("$instance", ".*").replaceAll("$region", ".*");

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result: readonly { readonly metric: object; readonly value: readonly [number, string] }[];
  };
}

describe.skipIf(!hasPrometheus)("a Prometheus beside gateways under traffic", () => {
  let traffic: Awaited<ReturnType<typeof startTraffic>>;
  let peer: Awaited<ReturnType<typeof startPeer>>;
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let prometheus: ChildProcess;
  let url = "";
  const folder = mkdtempSync(join(tmpdir(), "waybill-prometheus-"));

  const get = async <Body>(path: string) => (await (await fetch(url + path)).json()) as Body;
  const ask = (expr: string): Promise<Answer> => get<Answer>(`/api/v1/query?query=${encodeURIComponent(filled(expr))}`);

  /** `open`: targets that ask for no credentials. */
  async function startPrometheus(target: string, open: readonly string[]): Promise<void> {
    const rules = join(process.cwd(), "src/package/templates/monitoring/monitoring/alerts.yml");
    writeFileSync(join(folder, "token"), VIEWER);
    writeFileSync(
      join(folder, "prometheus.yml"),
      `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${JSON.stringify(rules)}]
scrape_configs:
  - job_name: waybill
    metrics_path: /-/metrics
    authorization: { credentials_file: token }
    static_configs: [{ targets: ["${target}"] }]
  - job_name: beside
    metrics_path: /-/metrics
    static_configs: [{ targets: ${JSON.stringify(open)} }]
`,
    );
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const own = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
    prometheus = spawn("prometheus", [...own, `--web.listen-address=127.0.0.1:${port}`], { stdio: "ignore" });
    const untilMs = Date.now() + 30_000;
    while (
      !(await fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ))
    ) {
      if (Date.now() > untilMs) throw new Error("Prometheus does not start");
      await delay(200);
    }
  }

  beforeAll(async () => {
    collector = await startCollector();
    [peer, cluster] = await Promise.all([startPeer(), startCluster()]);
    const push = { OTLP_METRICS_URL: `${collector.url}/v1/metrics`, OTLP_METRICS_SECONDS: "1" };
    const mesh = { GATEWAY_NAME: "near-gw", SELF_REGIONS: "eu,us,dead", PEER_KEYS };
    traffic = await startTraffic({ ...push, ...mesh }, peer.url);
    const hostOf = (of: { readonly url: string }) => new URL(of.url).host;
    await startPrometheus(hostOf(traffic), [hostOf(peer), hostOf(cluster)]);
    await traffic.beginCanary();
    const untilMs = Date.now() + TRAFFIC_MS;
    while (Date.now() < untilMs) {
      await Promise.all([traffic.round(), cluster.round()]);
      await delay(250);
    }
  }, 180_000);

  afterAll(async () => {
    const ended = new Promise((resolve) => prometheus?.once("exit", resolve));
    prometheus?.kill("SIGTERM");
    await ended;
    await traffic?.stop();
    await peer?.stop();
    await cluster?.stop();
    await killAll();
    collector?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const exprs = exprsOf(readDashboard());

  it.each(exprs.map(({ name, expr }) => [name, expr] as const))("%s has data: %s", async (name, expr) => {
    const { status, error, data } = await ask(expr);
    expect({ status, error }).toEqual({ status: "success", error: undefined });
    const values = data?.result.map(({ value }) => Number(value[1])) ?? [];
    // The revision of the table changes at the canary alone, a minute before at most.
    if (name !== "A table came into force") expect(values.length).toBeGreaterThan(0);
    expect(values.filter((value) => !Number.isFinite(value) && !expr.includes("histogram_quantile"))).toEqual([]);
  });

  it("finds the values of the dashboard's variables", async () => {
    const definitions = readDashboard().templating.list.flatMap(({ definition }) => definition ?? []);
    expect(definitions.length).toBe(2);
    for (const definition of definitions) {
      const [, metric = "", label = ""] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? [];
      const { data } = await get<{ data: string[] }>(`/api/v1/label/${label}/values?match[]=${metric}`);
      expect(data.filter((value) => value !== "").length).toBeGreaterThan(0);
    }
  });

  it("evaluates every alert rule, and those of this traffic are pending", async () => {
    const { data } = await get<{ data: { groups: [{ rules: { name: string; health: string; state: string }[] }] } }>(
      "/api/v1/rules",
    );
    const { rules } = data.groups[0];
    expect(rules.filter(({ health }) => health !== "ok")).toEqual([]);
    const active = rules.filter(({ state }) => state !== "inactive").map(({ name }) => name);
    expect(active).toEqual(
      expect.arrayContaining(["WaybillOriginDown", "WaybillUnassignedKeys", "WaybillBrokenResponses"]),
    );
    expect(active).not.toContain("WaybillNothingToLookAt");
  });
});
