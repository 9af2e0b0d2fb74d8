import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** An origin behind a binding. */
const describeRequest = async (request: Request): Promise<Response> => {
  const { method, url, headers } = request;
  return Response.json({ method, url, body: await request.text(), field: headers.get("x-a") });
};

/** `node`: pure code and black-box tests of running processes. `workerd`: what needs the Workers runtime. */
export default defineConfig({
  test: {
    reporters: ["default", "./test/closing-line-reporter.ts"],
    projects: [
      {
        test: {
          name: "node",
          include: ["test/{ids,routing,problems,origin,rules,cli,system}/**/*.test.ts", "test/contract/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              // Tests talk to fake origins that they hand in; nothing leaves the machine.
              outboundService: () => new Response("no network in tests", { status: 599 }),
              serviceBindings: { TEST_ORIGIN: describeRequest },
              analyticsEngineDatasets: { ANALYTICS: { dataset: "waybill" } },
              ratelimits: { TEST_RATE_LIMIT: { namespace_id: "1", simple: { limit: 3, period: 60 } } },
            },
          }),
        ],
        test: {
          name: "workerd",
          include: ["test/{proxy,edge,routes,contract/worker}/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
