import { gateway } from "waybill/worker";
import table from "../routing-table.json";

export * from "waybill/worker/objects";
export default gateway(table);
