import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { METRICS } from "../../../src/edge/metrics/catalogue.ts";
import { exprsOf, readDashboard } from "./dashboard.ts";

const FOLDER = "src/package/templates/monitoring/monitoring";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface RuleTest {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
}

const read = (file: string) => readFileSync(`${FOLDER}/${file}`, "utf8");
const rules: readonly Rule[] = parse(read("alerts.yml")).groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
const tests: readonly RuleTest[] = parse(read("alerts.test.yml")).tests;
const dashboard = readDashboard();

/** Debian's package `prometheus` has it; `.ci/run` installs it. */
const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined;
const promtool = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: FOLDER, encoding: "utf8" });
  return { status, output: stdout + stderr };
};

describe.skipIf(!hasPromtool)("the rules, by promtool (skipped where it is missing)", () => {
  it("are well-formed", () => {
    const { status, output } = promtool("check", "rules", "--lint-fatal", "alerts.yml");
    expect(output).toContain(`${rules.length} rules found`);
    expect(status).toBe(0);
  });

  it("fire and stay silent as the file of tests says", () => {
    expect(promtool("test", "rules", "alerts.test.yml")).toMatchObject({ status: 0 });
  });
});

describe("each alert", () => {
  const outcomes = tests.flatMap((test) => test.alert_rule_test);

  it.each(rules.map((rule) => [rule.alert, rule] as const))("%s is tested both ways and explained", (name, rule) => {
    const counts = outcomes.filter(({ alertname }) => alertname === name).map(({ exp_alerts }) => exp_alerts.length);
    expect(counts.some((count) => count > 0)).toBe(true);
    expect(counts.some((count) => count === 0)).toBe(true);
    expect(rule.labels["severity"]).toMatch(/^(?:critical|warning)$/);
    expect(Object.keys(rule.annotations).sort()).toEqual(["description", "summary"]);
    expect(readFileSync("docs/operate/observe.md", "utf8")).toContain(`| \`${name}\` |`);
  });

  it("of the tests exists", () => {
    const names = rules.map(({ alert }) => alert);
    expect(outcomes.map(({ alertname }) => alertname).filter((name) => !names.includes(name))).toEqual([]);
  });
});

/** Metrics of an expression, with the labels that it asks for in their braces. */
const selectorsOf = (expr: string) =>
  [...expr.matchAll(/waybill_(\w+)(?:\{([^}]*)\})?/g)].map(([, name = "", inBraces = ""]) => ({
    name: name.replace(/_(?:bucket|sum|count)$/, ""),
    labels: [...inBraces.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label = ""]) => label),
  }));

/** Labels of a scrape, not of the gateway. */
const OF_SCRAPES: readonly string[] = ["instance", "le"];

describe("expressions", () => {
  const exprs = [...rules.map(({ expr }) => expr), ...exprsOf(dashboard).map(({ expr }) => expr)];
  const selectors = exprs.flatMap(selectorsOf);

  it("name metrics and labels that there are", () => {
    const wrong = selectors.filter(({ name, labels }) => {
      const known: readonly string[] | undefined = METRICS[name as keyof typeof METRICS]?.labels;
      return known === undefined || labels.some((label) => !known.includes(label) && !OF_SCRAPES.includes(label));
    });
    expect(wrong).toEqual([]);
  });

  it("of the dashboard leave out no metric", () => {
    const shown = new Set(exprsOf(dashboard).flatMap(({ expr }) => selectorsOf(expr).map(({ name }) => name)));
    expect(Object.keys(METRICS).filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe("the dashboard", () => {
  const { panels, templating } = dashboard;

  it("has a place and an ID for each panel, and none covers another", () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it("explains each panel, and takes its data source and filters from variables", () => {
    const charts = panels.filter(({ type }) => type !== "row");
    expect(charts.filter(({ description = "" }) => description === "")).toEqual([]);
    const sources = charts.flatMap(({ datasource, targets = [] }) => [
      datasource,
      ...targets.map((one) => one.datasource),
    ]);
    expect(new Set(sources.map((source) => source?.uid))).toEqual(new Set([`\${datasource}`]));
    const text = JSON.stringify(panels);
    expect(templating.list.filter(({ name }) => !text.includes(`$${name}`) && !text.includes(`\${${name}}`))).toEqual(
      [],
    );
  });
});
