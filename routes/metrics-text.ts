import type { Metric, Sample } from "../src/ports.ts";

/** Metrics in Prometheus's text exposition format 0.0.4: each metric's lines in one block, and a line end after the last. */
export const formatMetrics = (metrics: readonly Metric[]): string => metrics.map(blockOf).join("");

function blockOf({ name, type, help, samples }: Metric): string {
  return `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n${samples.map(lineOf).join("")}`;
}

function lineOf({ name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapedLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}

const escapedHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

const escapedLabel = (text: string): string => escapedHelp(text).replaceAll('"', '\\"');
