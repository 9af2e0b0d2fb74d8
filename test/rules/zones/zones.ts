import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The imports of the source, by the rules of `.dependency-cruiser.cjs`, and those of features that are still to be cut. */

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
  /** Known imports that are gone: the list may only shrink. */
  readonly stale: readonly string[];
}

interface Report {
  readonly modules: readonly {
    readonly source: string;
    readonly dependencies: readonly { readonly resolved: string }[];
  }[];
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

const TIES: ReadonlySet<string> = new Set(["core-names-no-feature", "features-declare-needs"]);

/** `folder`: the project, or a copy of it. */
export function readZones(folder: string): Zones {
  const bin = join(ROOT, "node_modules", ".bin", "depcruise");
  const args = [bin, "--config", ".dependency-cruiser.cjs", "--output-type", "json", "src", "routes"];
  // Its exit code is the number of violations: the report is what counts.
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", maxBuffer: 64e6 });
  if (!stdout.startsWith("{")) throw new Error(stderr);
  const { modules, summary }: Report = JSON.parse(stdout);
  const violations = summary.violations.map(({ from, to, rule }) => ({ rule: rule.name, from, to }));
  const known: readonly string[] = JSON.parse(readFileSync(join(folder, "test/rules/zones/known-ties.json"), "utf8"));
  const imports = new Set(
    modules.flatMap(({ source, dependencies }) => dependencies.map(({ resolved }) => `${source} -> ${resolved}`)),
  );
  const found = violations.flatMap(({ rule, from, to }) => (TIES.has(rule) ? [`${from} -> ${to}`] : []));
  const ties = [...new Set([...found, ...known.filter((tie) => imports.has(tie))])];
  const ofCore = ties.filter((tie) => !tie.startsWith("src/features/")).length;
  return {
    modules: summary.totalCruised,
    violations,
    ofCore,
    undeclared: ties.length - ofCore,
    stale: known.filter((tie) => !imports.has(tie)),
  };
}
