import { InvalidArgumentError } from "commander";
import type { Audience, Status } from "../../../formats/table-api.ts";
import { checkTable } from "../../../routing/index.ts";
import { unknownNames } from "../../../routing/resolve/table-canary.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { changeExits, changeOptions, changeTable, type Draft, OVER_MOVES, staleError } from "../../client/change.ts";
import { type GatewayClient, type PublishedTable, readRecord, readRevision, readVerdict } from "../../client/client.ts";
import { answerOf } from "../../client/http.ts";
import { command, type OptionsOf, option } from "../../command.ts";
import { percent } from "../../lib/input.ts";
import { escapeControls } from "../../lib/output.ts";
import { type NamedTable, readPublishable } from "../../lib/table-file.ts";
import { EXIT, fail, misuse, type Runtime } from "../../runtime.ts";
import { formatAudience } from "./status.ts";

/** Rejects selected names that no table has: a canary for them would serve no IDs. */
const requireKnownNames = (audience: Audience, inForce: NamedTable, file: NamedTable): void => {
  const { countries = [], entities = [] } = audience;
  const tables = [inForce, file].map(({ table }) => ({
    countries: new Set(Object.keys(table.countries ?? {})),
    entities: new Set(Object.keys(table.entities ?? {})),
  }));
  const strange = unknownNames(audience.countries === undefined ? { entities } : { countries }, tables).join(",");
  if (strange === "") return;
  if (audience.countries === undefined) {
    fail(`error: --entity ${strange}: neither ${inForce.name} nor ${file.name} has this entity\n`);
  }
  const known = Object.keys(inForce.table.countries ?? {}).join(", ");
  fail(`error: --country ${strange}: ${inForce.name}, the current table, has only ${known || "none"}\n`);
};

/** Parses a repeatable option that takes a list with commas. A variadic option would also take the file. */
const addNames =
  (name: RegExp, remedy: string) =>
  (text: string, before: readonly string[] = []): readonly string[] => {
    const names = text.split(",");
    if (names.every((one) => name.test(one))) return [...before, ...names];
    throw new InvalidArgumentError(remedy);
  };

const addCountries = addNames(/^[A-Z]{2}$/, "Use ISO 3166-1 codes of two capital letters, comma-separated: KZ,UZ.");
const addEntities = addNames(/^[A-Za-z][A-Za-z0-9_-]*$/, "Use entity names, comma-separated: order,ride.");

const SELECTOR = [
  option("--share <percent>", "percentage of all IDs, always the same ones", percent),
  option("--country <codes>", "the iUIDs of these countries, comma-separated", addCountries),
  option("--entity <names>", "all IDs of these entities, comma-separated", addEntities),
] as const;

const readSelector = ({ share, country, entity }: OptionsOf<typeof SELECTOR>): Audience => {
  const given = [share, country, entity].filter((part) => part !== undefined);
  if (given.length !== 1) misuse("error: pass exactly one of --share, --country, --entity\n");
  if (share === 0) misuse("error: a canary of 0 % serves no ID\n");
  if (share !== undefined) return { share };
  return country === undefined ? { entities: [...(entity ?? [])] } : { countries: [...country] };
};

export const canary = command({
  name: "canary",
  description: "serve a part of the IDs by a new table first: a share, a country or an entity",
  args: [["<file>", "the table; - reads it from stdin"]],
  options: [
    ...SELECTOR,
    OVER_MOVES,
    ...changeOptions(
      "only if this is the current revision or running canary; required with --yes if one is running",
      "the canary's revision as one JSON object",
    ),
  ],
  help: `
Examples:
  $ waybill table canary routing-table.json --share 5
  $ waybill table canary routing-table.json --country KZ,UZ
  $ waybill table canary routing-table.json --entity order --note "new routes of orders"

A running canary is replaced, so that its share can grow; with --yes, --expect must name it.
\`waybill table promote\` publishes the canary, \`abort\` ends it.
${changeExits("0 started, 1 not started, 3 conflict: the table was changed by someone else", "the canary is running")}`,
  run: async (runtime, [path = ""], options) => {
    const selected = readSelector(options);
    const served = formatAudience(selected);
    return changeTable(options, runtime, {
      kind: "canary",
      read: () => readPublishable(path, runtime, options.json ? "json" : "stderr"),
      draft: async (gateway, inForce, file) => {
        requireKnownNames(selected, inForce, file);
        return {
          after: file,
          path,
          title: `from revision ${inForce.revision} to ${file.name}, for ${served}:\n`,
          question: "Start the canary?",
          expected: () => revisionBefore(gateway, inForce.revision, options, runtime),
          send: (request) => gateway.startCanary(file.bytes, selected, request),
          what: ` for ${served}`,
        };
      },
    });
  },
});

/** The revision that the canary follows: that of a running canary, which is shown, or the one in force. */
const revisionBefore = async (gateway: GatewayClient, inForce: number, options: Expectation, runtime: Runtime) => {
  const { canary: running } = answerOf(gateway, await gateway.status());
  if (!running) return expectedOf(options, inForce);
  runtime.report(`it replaces the running canary: ${await describeRunning(gateway, running)}\n`);
  return expectedOf(options, running.revision, "the running canary");
};

type Expectation = { readonly expect?: number; readonly yes?: boolean };

/** The last revision, if it is the expected one. `ended`: the canary that the change ends; `--yes` must name it. */
const expectedOf = ({ expect, yes = false }: Expectation, last: number, ended?: string): number => {
  if (expect !== undefined && expect !== last) staleError(expect, last, "latest");
  if (ended !== undefined && yes && expect === undefined) fail(`error: --yes needs --expect ${last} to end ${ended}\n`);
  return last;
};

type RunningCanary = NonNullable<Status["canary"]>;

/** `revision 42 (canary, by ann) serves 5 % of the IDs`. */
const describeRunning = async (gateway: GatewayClient, running: RunningCanary): Promise<string> => {
  const { revision } = running;
  const { author } = await readRecord(gateway, revision);
  return escapeControls(`revision ${revision} (canary, by ${author}) serves ${formatAudience(running)}`);
};

const endOptions = changeOptions(
  "only if the canary is this revision; required with --yes",
  "the resulting current revision as one JSON object",
);

const endHelp = (end: "promote" | "abort", note: string, shown: string): string => `
Examples:
  $ waybill table ${end}
  $ waybill table ${end} --yes --expect 42 --note "${note}"

It first shows the running canary, its author and its IDs${shown}. With --yes, --expect must name it.
${changeExits("0 done, 1 not done or no canary is running, 3 conflict: another canary or none is running, or someone else changed the table", "the change is accepted")}`;

const OVER_VERDICT = option("--over-verdict", "promote a canary that is worse than the table in force");

export const promote = command({
  name: "promote",
  description: "publish the table of the running canary for all IDs",
  options: [OVER_MOVES, OVER_VERDICT, ...endOptions],
  help: endHelp("promote", "a day without errors", ", the changes of its table, and what its requests got"),
  run: (runtime, _, options) =>
    changeTable(options, runtime, {
      kind: "promote",
      draft: async (gateway, inForce) => {
        const { running, ...draft } = await endDraft("promote", gateway, inForce, options);
        const verdict = await readVerdict(gateway, running.revision);
        const expected = async () => {
          runtime.report(`${escapeControls(verdict?.words ?? "There are no figures of the canary to judge.")}\n`);
          const revision = await draft.expected();
          if (verdict?.verdict === "worse" && options.overVerdict !== true) fail(WORSE);
          return revision;
        };
        const after = await readRevision(gateway, running.revision, checkTable);
        const title = `${draft.title}from revision ${inForce.revision} to revision ${running.revision}:\n`;
        return { ...draft, expected, after, title, question: "Put it into force for all IDs?" };
      },
    }),
});

const WORSE =
  "error: the canary is worse than the table in force\n" +
  "  end it with `waybill table abort`; to promote it all the same, pass --over-verdict\n" +
  "nothing was changed\n";

export const abort = command({
  name: "abort",
  description: "end the running canary: the current revision serves all IDs again",
  options: endOptions,
  help: endHelp("abort", "errors in ap", ""),
  run: (runtime, _, options) =>
    changeTable(options, runtime, {
      kind: "abort",
      draft: (gateway, inForce) => endDraft("abort", gateway, inForce, options),
    }),
});

const endDraft = async (
  end: "promote" | "abort",
  gateway: GatewayClient,
  { revision }: PublishedTable<DeclaredTable>,
  options: Expectation,
): Promise<Draft & { readonly running: RunningCanary }> => {
  const { canary: running } = answerOf(gateway, await gateway.status());
  if (!running) {
    const code = options.expect === undefined ? EXIT.failed : EXIT.conflict;
    return fail(`error: no canary is running; revision ${revision} serves all IDs\n`, code);
  }
  return {
    running,
    title: `${await describeRunning(gateway, running)}, revision ${revision} the rest\n`,
    question: "End it?",
    expected: async () => expectedOf(options, running.revision, "this canary"),
    send: (request) => gateway.endCanary(end, request),
    what: " for all IDs",
  };
};
