import type { Config } from "../edge/config.ts";
import type { Env } from "../edge/env.ts";
import type { PlatformFeature } from "../edge/feature.ts";
import { signingKeysOf } from "../edge/origins/signer.ts";
import { readVoucher } from "../edge/table/built.ts";
import { formSeal } from "../edge/table/form-seal.ts";
import type { FitTable, VouchedTables } from "../edge/table/restored.ts";
import { PLATFORM_FEATURES } from "../features/platform.ts";

type Voucher = Parameters<typeof readVoucher>[0];

/**
 * The version of the code that checks and compiles tables, set when the modules of the Worker are built (host/workerd/bundle.ts). A
 * Worker of sources checks every table.
 */
declare const TABLE_CODE_VERSION: string;
const version = typeof TABLE_CODE_VERSION === "undefined" ? undefined : TABLE_CODE_VERSION;

/** The table of this Worker, for the handler and for objects that are made later. */
let deployed: Pick<VouchedTables, "bundled" | "built"> | undefined;

/** The table is kept as text: an object may be changed by the Worker that gave it, before a request reads it. */
export function deployTable(table: object | string, voucher: Voucher): void {
  const bundled = typeof table === "string" ? table : JSON.stringify(table);
  if (deployed !== undefined && deployed.bundled !== bundled)
    throw new Error("a Worker has one routing table: gateway() was called with two");
  deployed = { bundled, built: readVoucher(voucher, version) };
}

/** `config`: of those who ask origins by the table. */
export function vouchedTables(env: Env, config?: Config): VouchedTables {
  if (deployed === undefined) throw new Error("the Worker has no routing table: its default export is gateway(table)");
  const all: readonly PlatformFeature[] = PLATFORM_FEATURES;
  const fits = config === undefined ? [] : all.flatMap((feature) => feature.fit?.(config) ?? []);
  const fit: FitTable = async (table, digest) => {
    for (const each of fits) await each(table, digest);
  };
  return { ...deployed, ...(fits.length > 0 && { fit }), seal: formSeal(version, signingKeysOf(env), crypto.subtle) };
}
