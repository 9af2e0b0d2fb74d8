import table from "../routing-table.json" with { type: "json" };
import { gateway } from "./worker/index.ts";

export * from "./worker/objects.ts";
export default gateway(table);
