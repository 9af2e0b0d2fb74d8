import { onSupportedNode } from "./node-version.ts";

/** The program of the package `waybill`. */
await onSupportedNode("waybill", () => import("../../cli/main.ts"));
