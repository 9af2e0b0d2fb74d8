import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The imports of the source, by the rules of `.dependency-cruiser.cjs`. */

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

export interface Zones {
  readonly modules: number;
  readonly violations: readonly Violation[];
  /** Imports of features by the core, beside the lists. */
  readonly ofCore: number;
  /** Imports between features that `src/features/needs.json` does not declare. */
  readonly undeclared: number;
}

interface Report {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

/** `folder`: the project, or a copy of it. */
export function readZones(folder: string): Zones {
  const bin = join(ROOT, "node_modules", ".bin", "depcruise");
  const args = [bin, "--config", ".dependency-cruiser.cjs", "--output-type", "json", "src", "routes"];
  // Its exit code is the number of violations: the report is what counts.
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", maxBuffer: 64e6 });
  if (!stdout.startsWith("{")) throw new Error(stderr);
  const { summary }: Report = JSON.parse(stdout);
  const violations = summary.violations.map(({ from, to, rule }) => ({ rule: rule.name, from, to }));
  const importsAgainst = (name: string): number =>
    new Set(violations.flatMap(({ rule, from, to }) => (rule === name ? [`${from} -> ${to}`] : []))).size;
  return {
    modules: summary.totalCruised,
    violations,
    ofCore: importsAgainst("core-names-no-feature"),
    undeclared: importsAgainst("features-declare-needs"),
  };
}
