import { version } from "../../host/parts.ts";
import { onSupportedNode } from "./node-version.ts";

/** The program of the package `waybill`. Its version alone needs none of the command. */
const words = process.argv.slice(2);
if (words.length === 1 && /^(?:-V|--version)$/.test(words[0] ?? "")) process.stdout.write(`${version}\n`);
else await onSupportedNode("waybill", () => import("../../cli/main.ts"));
