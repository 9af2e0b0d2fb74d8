import { err, ok, type Result } from "../../../ids/index.ts";
import { checkTable } from "../../../routing/index.ts";
import { measureTable } from "../../../routing/load.ts";
import { command, option } from "../../command.ts";
import { openGateway } from "../../gateway/client.ts";
import { formatFailure, GATEWAY_HELP, GATEWAY_OPTIONS, type GatewayOptions } from "../../gateway/http.ts";
import { alignColumns, formatCount } from "../../lib/output.ts";
import { formatTableError, readTableFile } from "../../lib/table-file.ts";
import { EXIT, fail, type Runtime } from "../../runtime.ts";

/** Use of each limit. */
export type Uses = Readonly<Record<string, { readonly used: number; readonly max: number }>>;

/** `waybill table capacity`: how close a table is to each of its limits. */
export const tableCapacity = command({
  name: "capacity",
  description: "show how much of each limit a table uses: a file, or the current table of a gateway",
  args: [["[file]", "the table; - reads it from stdin (default: the gateway's current table)"]],
  options: [option("--json", "one JSON object"), ...GATEWAY_OPTIONS],
  help: `
Examples:
  $ waybill table capacity routing-table.json
  $ waybill table capacity --gateway https://api.example.com --json

${GATEWAY_HELP}
Exit code: 0, or 1 if the table has faults or cannot be read.`,
  run: async (runtime, [path], options) => {
    const uses = await (path === undefined ? usesAtGateway(options, runtime) : usesOfFile(path, runtime));
    if (!uses.ok) return fail(uses.error, runtime);
    await runtime.print(options.json ? `${JSON.stringify(uses.value)}\n` : formatUses(uses.value));
    return EXIT.ok;
  },
});

const usesOfFile = async (path: string, runtime: Runtime): Promise<Result<Uses, string>> => {
  const file = await readTableFile(path, runtime, checkTable);
  if (!file.ok) return err(formatTableError(file.error));
  return ok(usesOf(file.value.table, file.value.bytes.length));
};

const usesAtGateway = async (options: GatewayOptions, runtime: Runtime): Promise<Result<Uses, string>> => {
  const gateway = openGateway(options, runtime);
  if (!gateway.ok) return gateway;
  const uses = await gateway.value.capacity();
  return uses.ok ? uses : err(formatFailure(gateway.value.url, uses.error));
};

/** Of a valid table. */
export const usesOf = (declared: unknown, bytes: number): Uses => {
  const uses = measureTable(declared, bytes);
  if (!uses.ok) throw new Error("the table was not checked");
  return { ...uses.value };
};

/** `routes  11 of 200,000  0.006 %`. */
export const formatUses = (uses: Uses): string =>
  alignColumns(
    Object.entries(uses).map(([part, { used, max }]) => [
      part,
      `${formatCount(used)} of ${formatCount(max)}`,
      `${Number(((used / max) * 100).toFixed(3))} %`,
    ]),
  )
    .map((line) => `${line}\n`)
    .join("");
