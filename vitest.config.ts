import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

// Programs that tests start are run by no npm, however the tests are: it changes how messages name the command.
delete process.env["npm_command"];
// All folders that tests make are in this one, and are removed with it.
const scratch = mkdtempSync(join(tmpdir(), "waybill-tests-"));
// PostgreSQL refuses to run as root: then its user has to reach its folder in here.
chmodSync(scratch, 0o711);
process.env["TMPDIR"] = scratch;
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
// Hundreds of commands start sooner. Tests copy the sources: in the project's own folder each copy would be kept for ever.
process.env["NODE_COMPILE_CACHE"] = join(scratch, "compiled");

/** An origin behind a binding. */
const describeRequest = async (request: Request): Promise<Response> => {
  const { method, url, headers } = request;
  return Response.json({ method, url, body: await request.text(), field: headers.get("x-a") });
};

const workerd = () =>
  cloudflareTest({
    // Tests load the sources; `test/system/modules` asks the modules of a build.
    main: "./src/worker.ts",
    wrangler: { configPath: "./wrangler.toml" },
    miniflare: {
      // Tests talk to fake origins that they hand in; nothing leaves the machine.
      outboundService: () => new Response("no network in tests", { status: 599 }),
      serviceBindings: { TEST_ORIGIN: describeRequest },
      analyticsEngineDatasets: { ANALYTICS: { dataset: "waybill" } },
      ratelimits: { TEST_RATE_LIMIT: { namespace_id: "1", simple: { limit: 3, period: 60 } } },
    },
  });

// `worker` folders hold what needs workerd: streams, and pages from real bindings.
const ON_WORKERD = ["test/{edge,routes,contract/worker,proxy/worker}/**/*.test.ts"];
const UNIT = ["test/{console,ids,routing,problems,origin,proxy,cli,graphql}/**/*.test.ts", "test/export/*.test.ts"];
const RULES = ["test/{rules,contract}/**/*.test.ts"];
const SYSTEM = ["test/{system,engines,package,export/system}/**/*.test.ts"];
/** In a real browser. */
const CONSOLE = ["test/system/console/**/*.test.ts"];
const SLOW = ["test/**/*.slow.test.ts"];
/** The product without each feature in turn: types are built anew for each, which takes minutes. */
const LEFT_OUT = "test/system/left-out.slow.test.ts";
/** Others' packages and engines, fetched from registries, and what takes minutes: `.ci/run` leaves them to `npm run test:slow`. */
const OUTSIDE = [
  "test/{libraries,engines,package}/**/*.slow.test.ts",
  "test/cli/contract/public-documents.slow.test.ts",
  // A store of others, which takes half a minute to start.
  "test/system/machines/*/ceph.slow.test.ts",
  // A browser for minutes: pictures and keys of all states, an hour of updates, outages, machines, others who publish, attacks.
  "test/system/console/**/*.slow.test.ts",
  // Each benchmark in its shortest form: minutes.
  "test/system/bench.slow.test.ts",
  LEFT_OUT,
];

/** Files that state a property: the slow projects try many times as many cases. */
const stateProperties = (patterns: readonly string[], not: readonly string[] = []): string[] =>
  globSync([...patterns], { exclude: [...not] }).filter((file) => readFileSync(file, "utf8").includes("fast-check"));

const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 };
/** Processes, stores and browsers share the machine with the tests beside them. A test that passes waits no longer for it. */
const patience = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 20_000 } } };
/** Test files share the modules that they load: nothing in them is changed by a test. */
const onNode = {
  ...timeouts,
  pool: "threads",
  maxWorkers: 2,
  isolate: false,
  setupFiles: ["test/setup/properties.ts"],
} as const;
/** Its modules import each other without the ending of their files, which workerd does not resolve: Vite bundles it. */
const optimizer = { ssr: { enabled: true, include: ["jsonc-parser"] } };
const onWorkerd = {
  ...timeouts,
  deps: { optimizer },
  isolate: false,
  setupFiles: ["test/setup/properties.ts", "test/setup/worker.ts"],
};

const SEED = 20261122;
const once = { propertyRuns: 1, propertySeed: SEED };
const often = { propertyRuns: 20, propertySeed: null };
const slowTimeouts = { ...patience, testTimeout: 600_000 };

/**
 * `unit`: pure code and the command, in process. `rules`: what holds the house and its contract. `worker`: what needs the Workers runtime. `system`: black-box tests of
 * running processes. `slow*`: large sizes, and properties with many cases. Projects of unlike workers need groups of their own.
 */
export default defineConfig({
  test: {
    reporters: ["default", "./test/closing-line-reporter.ts"],
    projects: [
      {
        test: {
          ...onNode,
          name: "unit",
          sequence: { groupOrder: 0 },
          include: UNIT,
          exclude: [...ON_WORKERD, ...SLOW],
          provide: once,
        },
      },
      {
        test: {
          ...onNode,
          name: "rules",
          sequence: { groupOrder: 1 },
          include: RULES,
          exclude: [...ON_WORKERD, ...SLOW],
          provide: once,
        },
      },
      {
        plugins: [workerd()],
        test: {
          ...onWorkerd,
          name: "worker",
          sequence: { groupOrder: 2 },
          include: ON_WORKERD,
          exclude: SLOW,
          provide: once,
        },
      },
      {
        test: {
          ...patience,
          name: "system",
          globalSetup: "test/setup/packages.ts",
          sequence: { groupOrder: 3 },
          // They wait for processes more than they compute. Files share the modules that they load.
          maxWorkers: 2,
          isolate: false,
          include: SYSTEM,
          exclude: [...CONSOLE, ...SLOW],
          provide: once,
        },
      },
      {
        test: {
          ...patience,
          name: "console",
          sequence: { groupOrder: 8 },
          maxWorkers: 2,
          isolate: false,
          include: CONSOLE,
          exclude: SLOW,
          provide: once,
        },
      },
      {
        test: {
          ...onNode,
          ...slowTimeouts,
          name: "slow",
          sequence: { groupOrder: 4 },
          include: [...SLOW, ...stateProperties(UNIT, ON_WORKERD)],
          exclude: [...SYSTEM, ...ON_WORKERD, ...OUTSIDE],
          provide: often,
        },
      },
      {
        test: {
          ...slowTimeouts,
          name: "slow-system",
          sequence: { groupOrder: 5 },
          include: ["test/{system,export/system}/**/*.slow.test.ts"],
          exclude: OUTSIDE,
          provide: often,
        },
      },
      {
        test: {
          ...slowTimeouts,
          name: "outside",
          sequence: { groupOrder: 7 },
          maxWorkers: 2,
          include: OUTSIDE,
          provide: often,
        },
      },
      {
        plugins: [workerd()],
        test: {
          ...onWorkerd,
          ...slowTimeouts,
          name: "slow-worker",
          sequence: { groupOrder: 6 },
          include: ["test/{edge,routes}/**/*.slow.test.ts", ...stateProperties(ON_WORKERD)],
          provide: often,
        },
      },
    ],
  },
});
