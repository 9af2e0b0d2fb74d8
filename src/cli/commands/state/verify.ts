import * as v from "valibot";
import { GATEWAY_HELP, readObject } from "../../client/http.ts";
import { command, option } from "../../command.ts";
import { countOf, escapeControls, jsonText } from "../../lib/output.ts";
import { EXIT, type Runtime } from "../../runtime.ts";
import { pathOf, STATE_OPTIONS, type StateClient, strange, withState } from "./client.ts";
import { checkFile, entriesOf } from "./import.ts";

const DIGEST = v.object({ rows: v.number(), sha256: v.string() });

export const stateVerify = command({
  name: "verify",
  description: "check that an export is whole, and with a gateway that it has the same rows",
  args: [["<file>", "as `waybill state export --out FILE` writes it"]],
  options: [option("--json", "one JSON object"), ...STATE_OPTIONS],
  help: `
Examples:
  $ waybill state verify waybill.state
  $ waybill state verify waybill.state --state /var/lib/waybill

Objects of the gateway that the file does not have are not compared, and neither are figures of traffic, which change with each
request.
${GATEWAY_HELP}
Exit code: 0; 1 if the file is not whole; 2 if the gateway has other rows.`,
  run: async (runtime, [path = ""], options) => {
    const { header, objects, rows, values } = await checkFile(path, runtime);
    const { version, at, from } = header;
    const sums = { objects: objects.length, rows, values };
    const isCompared = options.state !== undefined || options.gateway !== undefined;
    const differing = isCompared
      ? await withState(options, false, runtime, (client) => differences(client, path, runtime))
      : undefined;
    if (options.json) await runtime.print(jsonText({ version, at, from, ...sums, ...(differing && { differing }) }));
    else {
      const counts = `${countOf(sums.objects, "object")}, ${countOf(rows, "row")}, ${countOf(values, "value")} of KV`;
      const wrote = escapeControls(`version ${version} at ${at}, of a ${from} gateway`);
      await runtime.print(`${escapeControls(path)}: whole; ${counts}; by ${wrote}\n`);
      for (const { part, object, rows: found, rowsOfFile } of differing ?? [])
        await runtime.print(`differs: ${part} ${escapeControls(object)}, ${countOf(found, "row")} for ${rowsOfFile}\n`);
      if (differing?.length === 0) await runtime.print("the gateway has the same rows\n");
    }
    return differing === undefined || differing.length === 0 ? EXIT.ok : EXIT.differs;
  },
});

async function differences(client: StateClient, path: string, runtime: Runtime) {
  const differing = [];
  for await (const entry of entriesOf(path, "comparing", runtime)) {
    if (entry.kind !== "object-end" || entry.object.part === "metrics") continue;
    const { object, end } = entry;
    const body = { tables: entry.tables.map(({ table, columns }) => ({ table, columns })) };
    const { rows, sha256 } = await digestOf(client, object, body);
    if (sha256 !== end.sha256)
      differing.push({ part: object.part, object: object.name ?? object.id, rows, rowsOfFile: end.rows });
  }
  return differing;
}

async function digestOf(client: StateClient, object: Parameters<typeof pathOf>[0], body: object) {
  const answer = await client.insist({ method: "POST", path: pathOf(object, "/digest"), body: JSON.stringify(body) });
  const read = v.safeParse(DIGEST, readObject(answer.bytes));
  return read.success ? read.output : strange(client, answer);
}
