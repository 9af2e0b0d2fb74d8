import { checkTable } from "../../../routing/index.ts";
import { measureTable } from "../../../routing/load.ts";
import { command, option } from "../../command.ts";
import { openGateway } from "../../gateway/client.ts";
import { answerOf, GATEWAY_HELP, GATEWAY_OPTIONS, type GatewayOptions } from "../../gateway/http.ts";
import { alignColumns, formatCount, jsonText, linesText } from "../../lib/output.ts";
import { readTableFile } from "../../lib/table-file.ts";
import { EXIT, type Runtime } from "../../runtime.ts";

/** Use of each limit. */
export type Uses = Readonly<Record<string, { readonly used: number; readonly max: number }>>;

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
    await runtime.print(options.json ? jsonText(uses) : formatUses(uses));
    return EXIT.ok;
  },
});

const usesOfFile = async (path: string, runtime: Runtime): Promise<Uses> => {
  const { table, bytes } = await readTableFile(path, runtime, checkTable);
  return usesOf(table, bytes.length);
};

const usesAtGateway = async (options: GatewayOptions, runtime: Runtime): Promise<Uses> => {
  const gateway = openGateway(options, runtime);
  return answerOf(gateway, await gateway.capacity());
};

/** Of a valid table. */
export const usesOf = (declared: unknown, bytes: number): Uses => {
  const uses = measureTable(declared, bytes);
  if (!uses.ok) throw new Error("the table was not checked");
  return { ...uses.value };
};

/** `routes  11 of 200,000  0.006 %`. */
export const formatUses = (uses: Uses): string =>
  linesText(
    alignColumns(
      Object.entries(uses).map(([part, { used, max }]) => [
        part,
        `${formatCount(used)} of ${formatCount(max)}`,
        `${Number(((used / max) * 100).toFixed(3))} %`,
      ]),
    ),
  );
