import { onSupportedNode } from "./node-version.ts";

/** The program of the package `create-waybill`. */
await onSupportedNode("create-waybill", async () => {
  const [{ create }, { runProcess }] = await Promise.all([
    import("../../cli/create.ts"),
    import("../../cli/process-runtime.ts"),
  ]);
  return runProcess("create-waybill", create);
});
