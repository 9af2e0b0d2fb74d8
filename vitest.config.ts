import { defineConfig } from "vitest/config";

/** `node`: pure code and black-box tests of running processes. `workerd`: what needs the Workers runtime. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "node",
          include: ["test/{ids,routing,proxy,problems,rules,cli,system}/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
