import type { Command } from "commander";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import { openGateway, type RevisionContent } from "./gateway-client.ts";
import { formatFailure } from "./gateway-failure.ts";
import { escapeControls } from "./printable.ts";
import { fail } from "./refuse.ts";
import { formatRevision } from "./table-change.ts";
import { readRecord } from "./table-revision.ts";
import { wholeNumber } from "./values.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

interface Options extends GatewayOptions {
  readonly out?: string;
  readonly force?: boolean;
}

/** `waybill table show`: a published table's text, byte for byte. */
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

const show = async (runtime: Runtime, [revision]: readonly string[], options: Options): Promise<ExitCode> => {
  const { out, force = false } = options;
  if (force && out === undefined) return fail("error: --force goes with --out\n", runtime);
  if (out !== undefined && !force && runtime.fileExists(out)) {
    return fail(
      `error: ${escapeControls(out)} is there already: nothing was written; --force writes over it\n`,
      runtime,
    );
  }
  const gateway = openGateway(options, runtime);
  if (!gateway.ok) return fail(gateway.error, runtime);
  const text = await gateway.value.text(revision === undefined ? undefined : Number(revision));
  if (!text.ok) return fail(formatFailure(gateway.value.url, text.error), runtime);
  const record = await readRecord(gateway.value, text.value.revision);
  if (!record.ok) return fail(record.error, runtime);
  runtime.report(`${escapeControls(formatRevision(record.value))}\n`);
  return write(text.value, out, runtime);
};

const write = async ({ bytes }: RevisionContent, out: string | undefined, runtime: Runtime): Promise<ExitCode> => {
  if (out === undefined) {
    // Lossless: a table is UTF-8, and its byte order mark is kept.
    await runtime.print(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    return EXIT.ok;
  }
  const written = runtime.writeBytes(out, bytes);
  if (!written.ok) return fail(`error: ${escapeControls(out)} cannot be written: ${written.error}\n`, runtime);
  runtime.report(`written to ${escapeControls(out)}\n`);
  return EXIT.ok;
};
