import { expect, it } from "vitest";
import { METRICS } from "../../src/edge/metrics/catalogue.ts";
import { HELP } from "../../src/edge/metrics/snapshot.ts";
import * as ids from "../../src/ids/index.ts";
import * as publicIds from "../../src/ids/public/index.ts";
import * as origin from "../../src/origin/index.ts";
import { CATALOGUE } from "../../src/problems/index.ts";
import { sections } from "./shape.ts";
import { exportedTypes, loggedEvents } from "./typescript.ts";

const kindsOf = (module: object): string[] => Object.entries(module).map(([name, value]) => `${name}  ${typeof value}`);

it("keeps what the library exports", async () => {
  const modules = { ids, "ids/public": publicIds, origin };
  const entries = Object.entries(modules).map(([name, module]) => {
    const types = exportedTypes(`src/${name}/index.ts`).map((type) => `${type}  type`);
    return [`waybill/${name}`, [...kindsOf(module), ...types].toSorted()];
  });
  await expect(sections(Object.fromEntries(entries))).toMatchFileSnapshot("snapshots/exports.txt");
});

it("keeps the problem types", async () => {
  const lines = Object.entries(CATALOGUE).map(([slug, { status, title }]) => `${slug}  ${status}  ${title}`);
  await expect(`${lines.toSorted().join("\n")}\n`).toMatchFileSnapshot("snapshots/problems.txt");
});

it("keeps the metrics", async () => {
  const lines = Object.entries(METRICS).map(
    ([name, { type, labels }]) =>
      `waybill_${name}{${labels.join(",")}}  ${type}  ${HELP[name as keyof typeof METRICS]}`,
  );
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("snapshots/metrics.txt");
});

it("keeps the members of the log lines", async () => {
  await expect(sections(loggedEvents())).toMatchFileSnapshot("snapshots/log.txt");
});
