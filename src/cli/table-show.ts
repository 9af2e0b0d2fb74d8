import type { Command } from "commander";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import { openGateway, type RevisionText } from "./gateway-client.ts";
import { failureText } from "./gateway-failure.ts";
import { printable } from "./printable.ts";
import { refuse } from "./refuse.ts";
import { revisionText } from "./table-change.ts";
import { readRecord } from "./table-revision.ts";
import { wholeNumber } from "./values.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly out?: string;
  readonly force?: boolean;
}

/** `waybill table show`: a published table's text, octet for octet. */
export const addTableShow = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("show")
      .description("print the text of a revision, octet for octet, or write it to a file")
      .argument("[revision]", "its number (default: the revision in force)", wholeNumber)
      .option("--out <file>", "write it to this file, which must not be there yet")
      .option("--force", "write over a file that is there"),
  )
    .addHelpText("after", HELP)
    .action(act(show));
};

const HELP = `
Examples:
  $ waybill table show > published.json
  $ waybill table show 41 --out routing-table.json --force

Which revision it is, by whom and with which digest stands on stderr.
${GATEWAY_HELP}
Exit code: 0, or 1 when there is no such revision, or nothing was written.`;

const show = async (world: World, [revision]: readonly string[], options: Options): Promise<ExitCode> => {
  const { out, force = false } = options;
  if (force && out === undefined) return refuse("error: --force goes with --out\n", world);
  if (out !== undefined && !force && world.fileExists(out)) {
    return refuse(`error: ${printable(out)} is there already: nothing was written; --force writes over it\n`, world);
  }
  const gateway = openGateway(options, world);
  if (!gateway.ok) return refuse(gateway.error, world);
  const text = await gateway.value.text(revision === undefined ? undefined : Number(revision));
  if (!text.ok) return refuse(failureText(gateway.value.url, text.error), world);
  const record = await readRecord(gateway.value, text.value.revision);
  if (!record.ok) return refuse(record.error, world);
  world.report(`${printable(revisionText(record.value))}\n`);
  return write(text.value, out, world);
};

const write = async ({ octets }: RevisionText, out: string | undefined, world: World): Promise<ExitCode> => {
  if (out === undefined) {
    // Lossless: a table is UTF-8, and its byte order mark is kept.
    await world.print(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(octets));
    return EXIT.ok;
  }
  const written = world.writeOctets(out, octets);
  if (!written.ok) return refuse(`error: ${printable(out)} cannot be written: ${written.error}\n`, world);
  world.report(`written to ${printable(out)}\n`);
  return EXIT.ok;
};
