import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT, readZones } from "./zones.ts";

/** `npm run zones` holds the tree to the rules. A check that sees next to nothing finds nothing wrong: this is what the tree has at the least. */
const MODULES_MIN = 80;

/** For each rule: a file, and an import in it that the rule forbids. */
const PLANTED: readonly (readonly [rule: string, file: string, statement: string])[] = [
  ["ids", "src/ids/planted.ts", 'export { readFileSync } from "node:fs";'],
  ["ids", "src/ids/planted.ts", 'export type { CompiledTable } from "../routing/table.ts";'],
  ["routing", "src/routing/planted.ts", 'export { Hono } from "hono";'],
  ["routing", "src/routing/planted.ts", 'export type { Fetch } from "../ports/gateway.ts";'],
  ["feature-front", "src/features/mint/front.ts", 'export { Hono } from "hono";'],
  ["feature-lists", "src/features/planted.ts", 'export { iuid } from "../ids/index.ts";'],
  ["formats", "src/formats/planted.ts", 'export { readFileSync } from "node:fs";'],
  ["formats", "src/formats/planted.ts", 'export { systemClock } from "../edge/platform.ts";'],
  ["proxy", "src/proxy/planted.ts", 'export { Hono } from "hono";'],
  ["proxy", "src/proxy/planted.ts", 'export { env } from "cloudflare:workers";'],
  ["gateway", "src/gateway/planted.ts", 'export { env } from "cloudflare:workers";'],
  ["gateway", "src/gateway/planted.ts", 'export { createApp } from "../../routes/app.ts";'],
  ["feature-table", "src/features/cors/table/planted.ts", 'export type { Fetch } from "../../../ports/gateway.ts";'],
  ["feature-table", "src/features/cors/table/planted.ts", 'export { Hono } from "hono";'],
  ["feature-problems", "src/features/create/problems.ts", 'export type { Fetch } from "../../ports/gateway.ts";'],
  ["feature-serve", "src/features/cors/serve/planted.ts", 'export { env } from "cloudflare:workers";'],
  ["feature-serve", "src/features/cors/serve/planted.ts", 'export { Hono } from "hono";'],
  ["feature-edge", "src/features/packs/edge/planted.ts", 'export { Hono } from "hono";'],
  ["feature-pages", "src/features/many/pages/planted.ts", 'export { env } from "cloudflare:workers";'],
  ["problems", "src/problems/planted.ts", 'export { Hono } from "hono";'],
  ["problems", "src/problems/planted.ts", 'export type { Fetch } from "../ports/gateway.ts";'],
  ["ports", "src/ports/gateway.ts", 'export type { Env } from "../edge/env.ts";'],
  ["edge", "src/edge/planted.ts", 'export { Hono } from "hono";'],
  ["edge", "src/edge/planted.ts", 'export { createApp } from "../../routes/app.ts";'],
  ["edge", "src/edge/planted.ts", 'export { readFileSync } from "node:fs";'],
  ["routes", "routes/planted.ts", 'export { systemClock } from "../src/edge/clock.ts";'],
  ["routes", "routes/planted.ts", 'export { env } from "cloudflare:workers";'],
  ["routes", "routes/planted.ts", 'export { readFileSync } from "node:fs";'],
  ["worker", "src/worker.ts", 'export { iuid } from "./ids/index.ts";'],
  ["worker", "src/worker/planted.ts", 'export { iuid } from "../ids/index.ts";'],
  ["export", "src/export/planted.ts", 'export { readFileSync } from "node:fs";'],
  ["export", "src/export/planted.ts", 'export type { Fetch } from "../ports/gateway.ts";'],
  ["console", "src/console/planted.ts", 'export { readFileSync } from "node:fs";'],
  ["console", "src/console/planted.ts", 'export type { Fetch } from "../ports/gateway.ts";'],
  ["origin", "src/origin/planted.ts", 'export { readFileSync } from "node:fs";'],
  ["origin", "src/origin/planted.ts", 'export { isDropped } from "../proxy/headers.ts";'],
  ["cli", "src/cli/planted.ts", 'export { createApp } from "../../routes/app.ts";'],
  ["cli", "src/cli/planted.ts", 'export { systemClock } from "../edge/clock.ts";'],
  ["host", "src/host/planted.ts", 'export { Hono } from "hono";'],
  ["package", "src/package/planted.ts", 'export { Hono } from "hono";'],
  ["host", "src/host/planted.ts", 'export { systemClock } from "../edge/clock.ts";'],
  ["host", "src/host/planted.ts", 'export { iuidTable } from "../ids/layouts/builtin.ts";'],
  ["demo", "src/demo/planted.ts", 'export { createApp } from "../../routes/app.ts";'],
  ["core-names-no-feature", "src/gateway/planted.ts", 'export { corsFront } from "../features/cors/serve.ts";'],
  ["core-names-no-feature", "src/ports/gateway.ts", 'export type { List } from "../features/lists/table/types.ts";'],
  ["core-names-no-feature", "routes/planted.ts", 'export { manyPages } from "../src/features/many/pages.ts";'],
  // Those that named features last have no allowance.
  ["core-names-no-feature", "src/gateway/decide.ts", 'export { findKey } from "../features/directory/table/shard.ts";'],
  ["core-names-no-feature", "src/gateway/loading.ts", 'export { packsLoad } from "../features/packs/load.ts";'],
  ["features-declare-needs", "src/features/replay/serve.ts", 'export { c } from "../public-ids/table/codec.ts";'],
  ["core-names-no-feature", "src/gateway/planted.ts", 'export { mirror } from "../features/shadow/serve.ts";'],
  ["lists-for-composers", "src/edge/planted.ts", 'export { PLATFORM_FEATURES } from "../features/platform.ts";'],
  ["features-declare-needs", "src/features/lists/serve/planted.ts", 'export { a } from "../../cors/serve.ts";'],
  ["features-declare-needs", "src/features/mint/serve/mint.ts", 'export { b } from "../../create/serve/create.ts";'],
  ["zone-of-its-own", "src/planted.ts", 'export { iuid } from "./ids/index.ts";'],
  ["zone-of-its-own", "src/utils/planted.ts", 'export { iuid } from "../ids/index.ts";'],
  ["worker-is-the-root", "src/edge/planted-root.ts", 'export { default } from "../worker.ts";'],
  ["worker-is-the-root", "src/edge/planted-library.ts", 'export { gateway } from "../worker/index.ts";'],
  ["types-only", "src/problems/planted-value.ts", 'export { iuid } from "../ids/index.ts";'],
  ["types-only", "src/ports/gateway.ts", 'export { hotguid } from "../ids/index.ts";'],
  ["no-cycle", "src/ids/planted-a.ts", 'export { b } from "./planted-b.ts"; export const a = 1;'],
];

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "waybill-zones-"));
  for (const name of [
    "src",
    "routes",
    "routing-table.json",
    "tsconfig.base.json",
    "package.json",
    ".dependency-cruiser.cjs",
  ]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rmSync(copy, { recursive: true }));

it("each rule bites on a planted violation", () => {
  for (const [, file, statement] of PLANTED) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    appendFileSync(join(copy, file), `\n${statement}\n`);
  }
  writeFileSync(join(copy, "src/ids/planted-b.ts"), 'export { a } from "./planted-a.ts"; export const b = 1;\n');
  const { modules, violations: found, ...ties } = readZones(copy);
  expect(modules).toBeGreaterThan(MODULES_MIN);
  for (const [rule, file, statement] of PLANTED) {
    const target = /"(?:node:|\.|\/)*([^"]+)"/.exec(statement)?.[1] ?? statement;
    const bites = found.some((one) => one.rule === rule && one.from === file && one.to.includes(target));
    expect(bites, `rule ${rule} on ${statement} in ${file}`).toBe(true);
  }
  const planted = (name: string) => PLANTED.filter(([rule]) => rule === name).length;
  // Other planted statements name features too.
  expect(ties.ofCore).toBeGreaterThanOrEqual(planted("core-names-no-feature"));
  expect(ties.undeclared).toBeGreaterThanOrEqual(planted("features-declare-needs"));
});

it("every rule has a planted violation", () => {
  const config: { readonly forbidden: readonly { readonly name: string }[] } = createRequire(import.meta.url)(
    "../../../.dependency-cruiser.cjs",
  );
  const rules = new Set(config.forbidden.map(({ name }) => name));
  expect([...new Set(PLANTED.map(([rule]) => rule))].sort()).toEqual([...rules].sort());
});
