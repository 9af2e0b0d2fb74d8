import { type Command, InvalidArgumentError } from "commander";
import { err, ok, type Result } from "../../../ids/index.ts";
import { checkTable } from "../../../routing/index.ts";
import { unknownNames } from "../../../routing/resolve/table-canary.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { confirm, conflictAdvice, formatRevision, makeChange } from "../../gateway/change.ts";
import { type Audience, type GatewayClient, openGateway, type Revision, type Status } from "../../gateway/client.ts";
import { formatFailure, GATEWAY_HELP, type GatewayOptions, withGateway } from "../../gateway/http.ts";
import { formatUploads, planUploads, sendUploads } from "../../gateway/pack-upload.ts";
import { waitOption } from "../../gateway/propagation.ts";
import { OVER_MOVES, OVER_MOVES_HELP, type Review, reviewChange, undoneMovesError } from "../../gateway/review.ts";
import { readInForce, readRecord, readRevision } from "../../gateway/revision.ts";
import { percent, wholeNumber } from "../../lib/input.ts";
import { escapeControls } from "../../lib/output.ts";
import { readPublishable, reportTableError, type TableFile } from "../../lib/table-file.ts";
import { type Act, EXIT, type ExitCode, fail, type Runtime } from "../../runtime.ts";
import { formatAudience } from "./status.ts";

/** The options that say whom a canary of the whole table is for. */
export interface SelectorOptions {
  /** In percent. */
  readonly share?: number;
  readonly country?: readonly string[];
  readonly entity?: readonly string[];
}

/** Whom the canary is for: one of the three, never a guess. */
export const readSelector = ({ share, country, entity }: SelectorOptions): Result<Audience, string> => {
  const said = [share, country, entity].filter((part) => part !== undefined);
  if (said.length !== 1) return err("error: pass exactly one of --share, --country, --entity\n");
  if (share === 0) return err("error: a canary of 0 % serves no ID\n");
  if (share !== undefined) return ok({ share });
  return ok(country === undefined ? { entities: [...(entity ?? [])] } : { countries: [...country] });
};

type Named = Pick<TableFile<DeclaredTable>, "name" | "table">;

/** Names of the audience that no table has: a canary for them would serve nobody. */
export const unknownNameMessage = (audience: Audience, inForce: Named, file: Named): string | undefined => {
  const { countries, entities } = audience;
  const tables = [inForce, file].map(({ table }) => ({
    countries: new Set(Object.keys(table.countries ?? {})),
    entities: new Set(Object.keys(table.entities)),
  }));
  const [stable] = tables;
  if (countries !== undefined) {
    const strange = unknownNames({ countries: [...countries] }, tables);
    const has = [...(stable?.countries ?? [])].join(", ");
    return strange.length === 0
      ? undefined
      : `error: --country ${strange.join(",")}: ${inForce.name}, the current table, has only ${has || "none"}\n`;
  }
  if (entities === undefined) return undefined;
  const strange = unknownNames({ entities: [...entities] }, tables);
  return strange.length === 0
    ? undefined
    : `error: --entity ${strange.join(",")}: neither ${inForce.name} nor ${file.name} has this entity\n`;
};

/** Values of an option that can be repeated and takes a list with commas, so that it never takes the file for one. */
export const addCountries = (text: string, before: readonly string[] = []): readonly string[] => {
  const codes = text.split(",");
  if (codes.every((code) => /^[A-Z]{2}$/.test(code))) return [...before, ...codes];
  throw new InvalidArgumentError("Use ISO 3166-1 codes of two capital letters, comma-separated: KZ,UZ.");
};

export const addEntities = (text: string, before: readonly string[] = []): readonly string[] => {
  const names = text.split(",");
  if (names.every((one) => /^[A-Za-z][A-Za-z0-9_-]*$/.test(one))) return [...before, ...names];
  throw new InvalidArgumentError("Use entity names, comma-separated: order,ride.");
};

/** What commands have in common that begin or end a canary beside one that runs: nobody ends one that he has not seen. */

export type RunningCanary = NonNullable<Status["canary"]>;

/** `revision 42 (canary, by ann) serves 5 % of the IDs`. */
export const formatCanary = (canary: RunningCanary, { author }: Revision): string =>
  escapeControls(`revision ${canary.revision} (canary, by ${author}) serves ${formatAudience(canary)}`);

/** Somebody else changed the table since `expected` was looked at. */
export const refuseStale = (expected: number, current: number, runtime: Runtime): ExitCode => {
  runtime.report(`error: conflict: the latest revision is ${current}, not ${expected}; nothing was changed\n  `);
  runtime.report(conflictAdvice(expected, current));
  return EXIT.conflict;
};

/** Where nobody is asked, nobody has looked at what runs. */
export const formatUnnamed = (what: string, revision: number): string =>
  `error: --yes needs --expect ${revision} to end ${what}\n`;

interface EndOptions extends GatewayOptions {
  readonly expect?: number;
  readonly note?: string;
  readonly yes?: boolean;
  readonly overMoves?: boolean;
  readonly wait?: number;
  readonly json?: boolean;
}

type End = "promote" | "abort";

/** `waybill table promote` and `waybill table abort`: the two ends of a canary. */
export const addTableCanaryEnds = (parent: Command, act: Act): void => {
  for (const end of ["promote", "abort"] as const) {
    const command = parent.command(end).description(DESCRIPTION[end]);
    if (end === "promote") command.option(OVER_MOVES, OVER_MOVES_HELP);
    withGateway(
      command
        .option("--expect <revision>", "only if the canary is this revision; required with --yes", wholeNumber)
        .option("--note <text>", "a note for the history")
        .option("--yes", "do not ask for confirmation")
        .addOption(waitOption())
        .option("--json", "the resulting current revision as one JSON object"),
    )
      .addHelpText("after", helpOf(end))
      .action(act((runtime, _, options: EndOptions) => finish(end, runtime, options)));
  }
};

const DESCRIPTION: Readonly<Record<End, string>> = {
  promote: "publish the table of the running canary for all IDs",
  abort: "end the running canary: the current revision serves all IDs again",
};

const helpOf = (end: End): string => `
Examples:
  $ waybill table ${end}
  $ waybill table ${end} --yes --expect 42 --note "${end === "promote" ? "a day without errors" : "errors in ap"}"

It first shows the running canary, its author and its IDs${end === "promote" ? ", and the changes of its table" : ""}. With --yes, --expect must name it.
${GATEWAY_HELP}
Exit code: 0 done, 1 not done or no canary is running, 3 conflict: another canary or none is running, or someone else changed the table;
9 outcome unknown: the history does not show the change yet;
8 with --wait, if the change is in force but was not seen everywhere in time.`;

const finish = async (end: End, runtime: Runtime, options: EndOptions): Promise<ExitCode> => {
  const opened = openGateway(options, runtime);
  if (!opened.ok) return fail(opened.error, runtime);
  const gateway = opened.value;
  const status = await gateway.status();
  if (!status.ok) return fail(formatFailure(gateway.url, status.error), runtime);
  const { canary, controlPlane: current } = status.value;
  const { expect, yes = false, note = "" } = options;
  if (!canary) {
    runtime.report(`error: no canary is running; revision ${current.revision} serves all IDs\n`);
    return expect === undefined ? EXIT.failed : EXIT.conflict;
  }
  const seen = await showCanary(end, gateway, canary, runtime);
  if (!seen.ok) return fail(seen.error, runtime);
  if (expect !== undefined && expect !== canary.revision) return refuseStale(expect, canary.revision, runtime);
  if (yes && expect === undefined) return fail(formatUnnamed("this canary", canary.revision), runtime);
  const refusal = seen.value && undoneMovesError(seen.value, options.overMoves);
  if (refusal !== undefined) return fail(refusal, runtime);
  const wanted = await confirm(QUESTION[end], yes, runtime);
  if (!wanted.ok) return wanted.error;
  const request = { expectedRevision: canary.revision, note };
  const message = (made: Revision) => `in force: ${formatRevision(made)}`;
  const { warnings } = seen.value ?? {};
  const change = { kind: end, request, digest: seen.value && canary.digest, message, ...(warnings && { warnings }) };
  return makeChange(() => gateway.endCanary(end, request), gateway, change, options, runtime);
};

const QUESTION: Readonly<Record<End, string>> = {
  promote: "Put it into force for all IDs?",
  abort: "End it?",
};

/** Says whose canary runs and for whom; before it serves everybody also what that changes, which it returns. */
const showCanary = async (
  end: End,
  gateway: GatewayClient,
  canary: RunningCanary,
  runtime: Runtime,
): Promise<Result<Review | undefined, string>> => {
  const record = await readRecord(gateway, canary.revision);
  if (!record.ok) return record;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) return inForce;
  const { revision } = inForce.value;
  runtime.report(`${formatCanary(canary, record.value)}, revision ${revision} the rest\n`);
  if (end === "abort") return ok(undefined);
  const target = await readRevision(gateway, canary.revision, checkTable);
  if (!target.ok) return target;
  const review = await reviewChange(inForce.value, target.value, undefined, undefined, runtime);
  if (review.ok) runtime.report(`from revision ${revision} to revision ${canary.revision}:\n${review.value.text}`);
  return review;
};

interface Options extends GatewayOptions, SelectorOptions {
  readonly expect?: number;
  readonly note?: string;
  readonly yes?: boolean;
  readonly overMoves?: boolean;
  readonly wait?: number;
  readonly json?: boolean;
}

/** `waybill table canary`: lets a new table serve a part of the IDs first. */
export const addTableCanary = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("canary")
      .description("serve a part of the IDs by a new table first: a share, a country or an entity")
      .argument("<file>", "the table; - reads it from stdin")
      .option("--share <percent>", "percentage of all IDs, always the same ones", percent)
      .option("--country <codes>", "the iUIDs of these countries, comma-separated", addCountries)
      .option("--entity <names>", "all IDs of these entities, comma-separated", addEntities)
      .option(
        "--expect <revision>",
        "only if this is the current revision or running canary; required with --yes if one is running",
        wholeNumber,
      )
      .option("--note <text>", "a note for the history")
      .option("--yes", "do not ask for confirmation")
      .option(OVER_MOVES, OVER_MOVES_HELP)
      .addOption(waitOption())
      .option("--json", "the canary's revision as one JSON object"),
  )
    .addHelpText("after", HELP)
    .action(act(start));
};

const HELP = `
Examples:
  $ waybill table canary routing-table.json --share 5
  $ waybill table canary routing-table.json --country KZ,UZ
  $ waybill table canary routing-table.json --entity order --note "new routes of orders"

A running canary is replaced, so that its share can grow; with --yes, --expect must name it.
\`waybill table promote\` publishes the canary, \`abort\` ends it.
${GATEWAY_HELP}
Exit code: 0 started, 1 not started, 3 conflict: the table was changed by someone else;
9 outcome unknown: the history does not show the change yet;
8 with --wait, if the canary is running but was not seen everywhere in time.`;

const start = async (runtime: Runtime, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const { note = "", json = false, yes = false } = options;
  const audience = readSelector(options);
  if (!audience.ok) return fail(audience.error, runtime);
  const file = await readPublishable(path, runtime);
  if (!file.ok) {
    await reportTableError(file.error, json, runtime);
    return EXIT.failed;
  }
  const opened = openGateway(options, runtime);
  if (!opened.ok) return fail(opened.error, runtime);
  const gateway = opened.value;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) return fail(inForce.error, runtime);
  const unknown = unknownNameMessage(audience.value, inForce.value, file.value);
  if (unknown !== undefined) return fail(unknown, runtime);
  const uploads = await planUploads(gateway, file.value.table, path, runtime);
  if (!uploads.ok) return fail(uploads.error, runtime);
  const review = await reviewChange(inForce.value, file.value, path, undefined, runtime);
  if (!review.ok) return fail(review.error, runtime);
  const { warnings, text } = review.value;
  runtime.report(
    `from revision ${inForce.value.revision} to ${file.value.name}, for ${formatAudience(audience.value)}:\n`,
  );
  runtime.report(text);
  const refusal = undoneMovesError(review.value, options.overMoves);
  if (refusal !== undefined) return fail(refusal, runtime);
  runtime.report(formatUploads(uploads.value));
  const expect = await lastRevision(gateway, inForce.value.revision, options, runtime);
  if (!expect.ok) return expect.error;
  const wanted = await confirm("Start the canary?", yes, runtime);
  if (!wanted.ok) return wanted.error;
  const sent = await sendUploads(gateway, uploads.value, json, runtime);
  if (!sent.ok) return fail(sent.error, runtime);
  const request = { expectedRevision: expect.value, note };
  const post = () => gateway.startCanary(file.value.bytes, audience.value, request);
  const message = (made: Revision) => `serves ${formatAudience(audience.value)}: ${formatRevision(made)}`;
  const change = { kind: "canary", request, digest: file.value.digest, table: file.value, message, warnings } as const;
  return makeChange(post, gateway, change, options, runtime);
};

/** The revision that the canary is to follow: that of a running canary, of which is said whose it is, or the one in force. */
const lastRevision = async (
  gateway: GatewayClient,
  inForce: number,
  { expect, yes = false }: Options,
  runtime: Runtime,
): Promise<Result<number, ExitCode>> => {
  const status = await gateway.status();
  if (!status.ok) return err(fail(formatFailure(gateway.url, status.error), runtime));
  const { canary } = status.value;
  if (canary) {
    const record = await readRecord(gateway, canary.revision);
    if (!record.ok) return err(fail(record.error, runtime));
    runtime.report(`it replaces the running canary: ${formatCanary(canary, record.value)}\n`);
  }
  const last = canary?.revision ?? inForce;
  if (expect !== undefined && expect !== last) return err(refuseStale(expect, last, runtime));
  if (canary && yes && expect === undefined) return err(fail(formatUnnamed("the running canary", last), runtime));
  return ok(last);
};
