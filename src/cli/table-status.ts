import type { Command } from "commander";
import type { Act } from "./action.ts";
import { alignColumns } from "./columns.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Audience, Status } from "./gateway-answers.ts";
import { openGateway } from "./gateway-client.ts";
import { failureText } from "./gateway-failure.ts";
import { printable } from "./printable.ts";
import { refuse } from "./refuse.ts";
import { probe, type Tally } from "./table-probe.ts";
import { countingNumber } from "./values.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly probe?: number;
  readonly json?: boolean;
}

/** `waybill table status`: how far the last revision has come. */
export const addTableStatus = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("status")
      .description("say how far the last revision has come: the truth, KV, and what isolates route by")
      .option("--probe <number>", "send so many requests, and count which revision each one saw", countingNumber)
      .option("--json", "one JSON object"),
  )
    .addHelpText("after", HELP)
    .action(act(status));
};

const HELP = `
Examples:
  $ waybill table status
  $ waybill table status --probe 200

A probe is a request to /-/ready; which isolate answers it is up to the edge.
${GATEWAY_HELP}
Exit code: 0 when KV and every probe have the last revision, 2 when some are behind, 1 when the gateway does not tell.`;

const status = async (world: World, _: readonly string[], options: Options): Promise<ExitCode> => {
  const gateway = openGateway(options, world);
  if (!gateway.ok) {
    return refuse(gateway.error, world);
  }
  const known = await gateway.value.status();
  if (!known.ok) {
    return refuse(failureText(gateway.value.url, known.error), world);
  }
  const tally = options.probe === undefined ? undefined : await probe(gateway.value, options.probe, world);
  const probes = tally?.seen;
  await world.print(options.json ? `${JSON.stringify({ ...known.value, probes })}\n` : statusText(known.value, tally));
  if (tally?.failure !== undefined) {
    return refuse(failureText(gateway.value.url, tally.failure), world);
  }
  return isEverywhere(known.value, tally) ? EXIT.ok : EXIT.differs;
};

const isEverywhere = ({ truth, pending, canary }: Status, tally: Tally | undefined): boolean =>
  !pending && (tally?.seen ?? []).every(({ revision }) => revision === truth.revision || revision === canary?.revision);

const statusText = ({ truth, kv, isolate, pending, lastError, canary }: Status, tally: Tally | undefined): string => {
  const rows = [
    ["truth", `revision ${truth.revision}`, truth.time ?? "", truth.digest],
    ["kv", kv ? `revision ${kv.revision}` : "nothing", kv?.asked ?? "", kv?.digest ?? ""],
    ["isolate", `revision ${isolate.revision}`, `${isolate.source}, ${isolate.ageSeconds} s old`, isolate.digest ?? ""],
    ...(canary ? [["canary", `revision ${canary.revision}`, audienceText(canary), canary.digest]] : []),
  ];
  const notes = [
    ...(pending ? ["KV is being brought to the last revision"] : []),
    ...(lastError ? [`last error: ${lastError}`] : []),
  ];
  const probes = (tally?.seen ?? []).map(({ count, revision, source }) => [
    `${count} of ${tally?.asked ?? 0}`,
    `revision ${revision}`,
    source,
  ]);
  const lines = [...alignColumns(rows.map((row) => row.map(printable))), ...notes.map(printable)];
  return [...lines, ...(probes.length === 0 ? [] : ["probes", ...alignColumns(probes).map((line) => `  ${line}`)])]
    .map((line) => `${line}\n`)
    .join("");
};

/** `5 % of the IDs`. */
export const audienceText = ({ share, countries, entities }: Audience): string => {
  if (share !== undefined) return `${share} % of the IDs`;
  return (countries ?? entities ?? []).join(", ");
};
