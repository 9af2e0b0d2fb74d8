import type { Command } from "commander";
import type { Act } from "./action.ts";
import { addTableCanary } from "./table-canary.ts";
import { addTableCanaryEnds } from "./table-canary-end.ts";
import { addTableCapacity } from "./table-capacity.ts";
import { addTableCheck } from "./table-check.ts";
import { addTableDiff } from "./table-diff.ts";
import { addTableHistory } from "./table-history.ts";
import { addTablePack } from "./table-pack.ts";
import { addTablePlan } from "./table-plan.ts";
import { addTablePublish } from "./table-publish.ts";
import { addTableReplay } from "./table-replay.ts";
import { addTableRollback } from "./table-rollback.ts";
import { addTableShow } from "./table-show.ts";
import { addTableStatus } from "./table-status.ts";
import { addTableUploadPacks } from "./table-upload-packs.ts";

/** `waybill table`: routing tables on this machine, and those that a gateway has published. */
export const addTable = (parent: Command, act: Act): void => {
  const table = parent.command("table").description("check, compare, publish and watch routing tables");
  addTableCheck(table, act);
  addTableDiff(table, act);
  addTablePack(table, act);
  addTableReplay(table, act);
  addTableCapacity(table, act);
  addTablePlan(table, act);
  addTableUploadPacks(table, act);
  addTablePublish(table, act);
  addTableRollback(table, act);
  addTableShow(table, act);
  addTableHistory(table, act);
  addTableStatus(table, act);
  addTableCanary(table, act);
  addTableCanaryEnds(table, act);
};
