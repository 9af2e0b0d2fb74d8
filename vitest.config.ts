import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** `node`: pure code and black-box tests of running processes. `workerd`: what needs the Workers runtime. */
export default defineConfig({
  test: {
    reporters: ["default", "./test/closing-line-reporter.ts"],
    projects: [
      {
        test: {
          name: "node",
          include: ["test/{ids,routing,problems,origin,rules,cli,system}/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              // Tests talk to fake origins that they hand in; nothing leaves the machine.
              outboundService: () => new Response("no network in tests", { status: 599 }),
            },
          }),
        ],
        test: { name: "workerd", include: ["test/{proxy,edge,routes}/**/*.test.ts"], testTimeout: 60_000 },
      },
    ],
  },
});
