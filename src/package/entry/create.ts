import { onSupportedNode } from "./node-version.ts";

/** The program of the package `create-waybill`. */
await onSupportedNode("create-waybill", () => {
  process.argv.splice(2, 0, "init");
  return import("../../cli/main.ts");
});
