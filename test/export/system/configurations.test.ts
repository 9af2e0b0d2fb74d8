import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportTable } from "../../../src/export/index.ts";
import type { DeclaredTable } from "../../../src/routing/index.ts";
import { CONFIGURATIONS, type ConfiguredRequest } from "../../routes/configurations/configurations.ts";
import { tableFolder, waybill } from "../../system/command.ts";
import type { DemoTable } from "../../system/demo/demo.ts";
import { type Stack, startStack } from "../../system/stack.ts";
import {
  askAll,
  EXPORT_OPTIONS,
  installedEngines,
  outcomeOf,
  type RunningEngine,
  startEngine,
  startOrigins,
} from "../engines.ts";

/**
 * Configurations of other gateways as tables, on the real gateway, and on the engines that they are exported to. These leave
 * requests without an ID and keys of directories to the gateway.
 */

/** An engine without a gateway behind it. */
const NEEDS_WAYBILL = "503";

const REFUSED = /^4\d\d$/;

describe.each(Object.entries(CONFIGURATIONS))("%s", (_, { table, requests }) => {
  let stack: Stack;
  let origins: Awaited<ReturnType<typeof startOrigins>>;

  beforeAll(async () => {
    origins = await startOrigins(table as DeclaredTable);
    stack = await startStack(origins.declared as DemoTable, { TRUSTED_PROXIES: "127.0.0.0/8" });
    const cwd = tableFolder(table);
    for (const [directory, keys] of Object.entries(requests.directory ?? {})) {
      const rows = Object.entries(keys).map(([key, region]) => `${JSON.stringify({ key, region })}\n`);
      writeFileSync(join(cwd, "rows.ndjson"), rows.join(""));
      const env = { WAYBILL_GATEWAY: stack.url, WAYBILL_TOKEN: "" };
      const { code, stderr } = await waybill(["directory", "import", directory, "rows.ndjson"], { cwd, env });
      expect([code, stderr]).toEqual([0, expect.stringContaining(`${rows.length} added`)]);
    }
  });
  afterAll(async () => {
    await stack?.stop();
    await origins?.stop();
  });

  const rawOf = ({ method = "GET", target, host = requests.host, headers = [] }: ConfiguredRequest): string =>
    [
      `${method} ${target} HTTP/1.1`,
      `host: ${host}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      ...(/^P/.test(method) ? ["content-length: 0"] : []),
      "",
      "",
    ].join("\r\n");

  /** HEAD has no body that could say what the origin got. */
  const asked = requests.requests.filter(({ method }) => method !== "HEAD");
  const sent = asked.map(rawOf);
  const outcomes = async (port: number) => (await askAll(port, sent)).map(outcomeOf);
  const wantedOf = ({ to, seen, target }: ConfiguredRequest) =>
    to === undefined ? expect.stringMatching(REFUSED) : `200 ${to} 0 ${seen ?? target}`;

  it("goes where the original sends it, on workerd", async () => {
    const found = await outcomes(Number(new URL(stack.url).port));
    expect(asked.map((request, at) => [rawOf(request), found[at]])).toEqual(
      asked.map((request) => [rawOf(request), wantedOf(request)]),
    );
  });

  describe.each(installedEngines())("exported to %s", (engine) => {
    const running: RunningEngine[] = [];
    afterAll(() => Promise.all(running.map((one) => one.stop())));

    it("answers as the gateway does, or leaves the request to it and says so", async () => {
      const beside = await startEngine(engine, origins.declared, stack.url);
      const alone = await startEngine(engine, origins.declared, undefined);
      running.push(beside, alone);
      const given = await outcomes(beside.port);
      const own = await outcomes(alone.port);
      const wanted = asked.map(wantedOf);
      expect(asked.map((request, at) => [rawOf(request), given[at]])).toEqual(
        asked.map((request, at) => [rawOf(request), wanted[at]]),
      );
      for (const [at, outcome] of own.entries()) {
        if (outcome !== NEEDS_WAYBILL) expect([sent[at], outcome]).toEqual([sent[at], wanted[at]]);
      }
    });

    it("names each part that it leaves", () => {
      const { entities = {}, withoutId = {} } = origins.declared;
      const { forwarded } = exportTable(engine, origins.declared, EXPORT_OPTIONS);
      const named = new Set(forwarded.map(({ what }) => what.replace(/ at .*/, "")));
      expect(Math.max(...forwarded.map(({ what }) => what.length))).toBeLessThan(300);
      expect(named).toEqual(new Set([...Object.keys(entities), ...Object.keys(withoutId)]));
    });
  });
});
