import { readFileSync } from "node:fs";

interface Source {
  readonly uid: string;
}

interface Target {
  readonly expr: string;
  readonly datasource: Source;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: Source;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
}

/** The part of Grafana's model that tests look at. */
export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
}

export const readDashboard = (): Dashboard =>
  JSON.parse(readFileSync("src/package/templates/monitoring/monitoring/dashboard.json", "utf8"));

/** Every query of the dashboard with the name that a reader knows it by. */
export const exprsOf = ({
  panels,
  annotations,
}: Dashboard): readonly { readonly name: string; readonly expr: string }[] => [
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ name: title, expr }))),
  ...annotations.list,
];
