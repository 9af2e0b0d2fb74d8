import { err, ok, type Result } from "../../ids/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { command, group, type OptionsOf, option, required } from "../command.ts";
import { countingNumber } from "../lib/input.ts";
import { alignColumns, countOf, escapeControls, linesText } from "../lib/output.ts";
import { collectIds, openForEdit, saveTable } from "../lib/table-edit.ts";
import { EXIT, type ExitCode, fail, type Runtime } from "../runtime.ts";
import { droppedEpoch, type EntityLocation, type Step, takeStep } from "./move-steps.ts";
import { type Locate, type Located, locator, rewriteTable } from "./move-table.ts";

export const formatLocation = (id: string, at: EntityLocation): readonly string[] => {
  switch (at.state) {
    case "routed":
      return [id, at.region ?? "nowhere", "by the routes"];
    case "moved":
      return [id, at.region, at.epoch === undefined ? "moved" : `moved, epoch ${at.epoch}`];
    case "gone":
      return [id, "nowhere", `gone, epoch ${at.epoch}`];
    default:
      return [id, `${at.from} → ${at.to}`, `${at.state}, epoch ${at.epoch}`];
  }
};

/** The next step, for stderr. docs/guides/move-entities.md has the reasons and waiting times. */
export const formatNext = (step: Step["name"], isSame: boolean): string =>
  `next: ${step === "finish" && isSame ? KEPT : NEXT[step]}\n`;

const NEXT: Readonly<Record<Step["name"], string>> = {
  start: "publish the table, and copy the entity's data while it stays in service; then `waybill move fence`",
  fence:
    "publish the table (optional: it pauses writes at the gateways); call fence with this epoch in the old region; copy the rest; call take with this epoch in the new region; then `waybill move switch`",
  switch: "publish the table; then call open in the new region, and after it leave in the old one, with this epoch",
  finish: "publish the table; the routes lead there without the entry",
  abort:
    "publish the table; then call leave in the other region if it took a copy, and open in the old one, with this epoch",
  gone: "publish the table; requests then get 410",
};

const KEPT = "nothing to publish: the entries stay, because the routes lead to another region or may later";

interface Found {
  readonly found: readonly (readonly [id: string, at: EntityLocation])[];
  readonly refusals: string;
}

const inProgress = ({ moves = {} }: DeclaredTable): Found => ({ found: Object.entries(moves), refusals: "" });

const locateAll = async (declared: DeclaredTable, args: readonly string[], runtime: Runtime): Promise<Found> => {
  const ids = await collectIds(args, runtime);
  if (!ids.ok) return { found: [], refusals: ids.error };
  const locate = locator(declared, runtime.nowMs());
  const found: (readonly [string, EntityLocation])[] = [];
  let refusals = "";
  for (const text of ids.value) {
    const located = locate(text);
    if (located.ok) found.push([located.value.id, located.value.at]);
    else refusals += `error: ${escapeControls(text)}: ${escapeControls(located.error)}\n`;
  }
  return { found, refusals };
};

const countsOf = ({ moves = {}, moved = {}, gone = {} }: DeclaredTable): string => {
  const count = (part: object): number => Object.keys(part).length;
  return `${countOf(count(moves), "move")} in progress, ${count(moved)} moved, ${count(gone)} gone`;
};

interface StepOptions {
  readonly to: string | undefined;
  readonly epochMin: number;
}

interface Change {
  readonly id: string;
  readonly before: EntityLocation;
  readonly after: EntityLocation;
}

const entryIfChanged = ({ id, before, after }: Change): (readonly [string, EntityLocation])[] =>
  before === after ? [] : [[id, after]];

/** The changes, or all errors. */
const changesOf = (
  name: Step["name"],
  ids: readonly string[],
  options: StepOptions,
  locate: Locate,
): Result<readonly Change[], string> => {
  const changes = new Map<string, Change>();
  let refusals = "";
  for (const text of ids) {
    const located = locate(text);
    const after = located.ok ? stepOf(name, located.value, options, changes) : located;
    if (located.ok && after.ok) {
      const { id, at } = located.value;
      changes.set(id, { id, before: at, after: after.value });
    } else if (!after.ok) refusals += `error: ${escapeControls(text)}: ${escapeControls(after.error)}\n`;
  }
  return refusals === "" ? ok([...changes.values()]) : err(refusals);
};

const stepOf = (
  name: Step["name"],
  { id, at, routed }: Located,
  { to, epochMin }: StepOptions,
  changes: ReadonlyMap<string, Change>,
): Result<EntityLocation, string> => {
  if (changes.has(id)) return err("it is named twice");
  if (name === "finish") return takeStep({ name, routed }, at);
  if (name === "gone") return takeStep({ name, epochMin }, at);
  if (name !== "start") return takeStep({ name }, at);
  if (to === undefined) throw new Error("a move is started without its region");
  return takeStep({ name, to, epochMin }, at);
};

const linesOf = (changes: readonly Change[], { json }: MoveOptions): string => {
  const lines = json
    ? changes.map((change) => JSON.stringify(change))
    : alignColumns(changes.map(({ id, after }) => formatLocation(id, after)));
  return linesText(lines);
};

const summaryOf = (file: string, isSame: boolean, count: number, { dryRun }: MoveOptions): string => {
  const entities = count === 1 ? "1 entity" : `${count} entities`;
  const name = escapeControls(file);
  if (isSame) return `${name}: nothing to change for ${entities}\n`;
  return dryRun
    ? `${name}: would change ${entities}; nothing was written (--dry-run)\n`
    : `${name}: changed ${entities}\n`;
};

const IDS = "the IDs; - reads them from stdin, one per line";

const MOVE_OPTIONS = [
  option("--table <file>", "the routing table to edit (default: routing-table.json)"),
  option("--dry-run", "show what would change; write nothing"),
  option("--json", "one JSON object per line, in the order of the IDs"),
] as const;

const START_OPTIONS = [
  required("--to <region>", "the destination region"),
  option("--epoch <n>", "the lowest epoch to start at, if regions know higher ones", countingNumber),
] as const;

type MoveOptions = OptionsOf<typeof MOVE_OPTIONS> & Partial<OptionsOf<typeof START_OPTIONS>>;

/** Applies a step to all IDs or to none. */
const takeSteps =
  (name: Step["name"]) =>
  async (runtime: Runtime, args: readonly string[], options: MoveOptions): Promise<ExitCode> => {
    const opened = await openForEdit(options.table, runtime);
    if (!opened.ok) return fail(opened.error, runtime);
    const ids = await collectIds(args, runtime);
    if (!ids.ok) return fail(ids.error, runtime);
    const { text, declared, name: file } = opened.value;
    const { to } = options;
    if (to !== undefined && !Object.hasOwn(declared.regions, to)) {
      const known = Object.keys(declared.regions).join(", ");
      return fail(
        `error: ${escapeControls(file)} has no region ${JSON.stringify(to)}; it has ${known} (--to)\n`,
        runtime,
      );
    }
    const { epochFloor = 0 } = declared;
    const epochMin = Math.max(epochFloor + 1, options.epoch ?? 1);
    const changes = changesOf(name, ids.value, { to, epochMin }, locator(declared, runtime.nowMs()));
    if (!changes.ok) return fail(`${changes.error}error: nothing was written\n`, runtime);

    const floor = Math.max(epochFloor, droppedEpoch(changes.value));
    const edited = rewriteTable(text, new Map(changes.value.flatMap(entryIfChanged)), floor);
    const saved = saveTable(opened.value, edited, options.dryRun === true, runtime);
    if (!saved.ok) return fail(`${saved.error}error: nothing was written\n`, runtime);
    await runtime.print(linesOf(changes.value, options));
    const isSame = text === edited;
    runtime.report(summaryOf(file, isSame, changes.value.length, options) + formatNext(name, isSame));
    return EXIT.ok;
  };

const stepCommand = (name: Exclude<Step["name"], "start">, description: string) =>
  command({ name, description, args: [["<id...>", IDS]], options: MOVE_OPTIONS, run: takeSteps(name) });

const start = command({
  name: "start",
  description: "start a move; requests still go to the old region",
  args: [["<id...>", IDS]],
  options: [...START_OPTIONS, ...MOVE_OPTIONS],
  run: takeSteps("start"),
});

/** `waybill move status`: where entities are, or all that are in progress. */
const status = command({
  name: "status",
  description: "show where entities are; without IDs, all moves in progress",
  args: [["[id...]", IDS]],
  options: [
    option("--table <file>", "the routing table (default: routing-table.json)"),
    option("--json", "one JSON object per line, in the order of the IDs"),
  ],
  run: async (runtime, args, { table, json }) => {
    const opened = await openForEdit(table, runtime);
    if (!opened.ok) return fail(opened.error, runtime);
    const { declared, name } = opened.value;
    const { found, refusals } = args.length === 0 ? inProgress(declared) : await locateAll(declared, args, runtime);
    const lines = json
      ? found.map(([id, at]) => JSON.stringify({ id, ...at }))
      : alignColumns(found.map(([id, at]) => formatLocation(id, at)));
    await runtime.print(linesText(lines));
    runtime.report(refusals === "" ? `${escapeControls(name)}: ${countsOf(declared)}\n` : refusals);
    return refusals === "" ? EXIT.ok : EXIT.failed;
  },
});

/** `waybill move`: moves entities between regions, one step of the table at a time. */
export const move = group(
  "move",
  "move single entities between regions, one step of the table at a time",
  [
    start,
    stepCommand("fence", "stop writes to entities whose move was started; reads continue"),
    stepCommand("switch", "route fenced entities to their new region"),
    stepCommand("finish", "remove the entries of moved entities whose routes lead to the same region"),
    stepCommand("abort", "cancel a move before the switch; the entities stay in the old region"),
    stepCommand("gone", "respond 410 for entities removed from every region"),
    status,
  ],
  `
Examples:
  $ waybill move start 0192f0c1-7a30-8005-8040-8f3b2a1c9d77 --to us
  $ waybill move fence 0192f0c1-7a30-8005-8040-8f3b2a1c9d77
  $ waybill move switch - < ids.txt
  $ waybill move status

Each step edits the table file, keeps its formatting and prints what to do next; docs/guides/move-entities.md has the protocol.
A step applies to all IDs or to none. Exit code: 0, or 1 if the step was rejected and nothing was written.`,
);
