import { err, ok, type Result } from "../../ids/index.ts";
import { loadTable } from "../../routing/index.ts";
import type { EntityLocation, OverridePart, Step } from "../../routing/moves/steps.ts";
import { droppedEpoch, entryOf, OVERRIDE_PARTS, takeStep } from "../../routing/moves/steps.ts";
import { unknownIdError } from "../../routing/resolve/describe.ts";
import { allOwners, dropUnlikelyDigits, targetOf } from "../../routing/resolve/match.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import type { CompiledTable, TargetOrNone } from "../../routing/table.ts";
import { command, group, type OptionsOf, option, required } from "../command.ts";
import { detailOf } from "../lib/errors.ts";
import { allIds, countingNumber } from "../lib/input.ts";
import { type Edited, editJson } from "../lib/json-edit.ts";
import { alignColumns, countOf, escapeControls, jsonText, linesText } from "../lib/output.ts";
import { openForEdit, saveTable } from "../lib/table-edit.ts";
import { EXIT, type ExitCode, fail, type Runtime } from "../runtime.ts";

/**
 * Locates entities in a valid table, and reads their IDs as strictly as `/any/:id`. `id`: in its canonical text. `routed`: the
 * permanent region by the routes alone; `undefined`: none, or a canary may change it. An error is a sentence.
 */
export const locator = (declared: DeclaredTable, nowMs: number) => {
  const whole = compiled(declared);
  const routes = compiled({ ...declared, moved: {}, moves: {}, gone: {} });
  const ownersIn = (table: CompiledTable, text: string) => dropUnlikelyDigits(allOwners(table, text, nowMs), text);
  return (text: string) => {
    const readings = ownersIn(routes, text);
    if (readings.length === 0) return err(detailOf(unknownIdError(routes, text, nowMs)));
    const [id = "", ...otherIds] = new Set(readings.map((reading) => reading.id.enabled.layout.format(reading.words)));
    const targets = readings.map((reading) => targetOf(routes, reading.id, reading.words));
    const unknown = targets.find((target) => target?.rule.kind === "unloaded");
    if (unknown !== undefined && overridden(declared, id) === undefined) {
      return err("its region is in a pack, which this command does not read; use `waybill explain ID`");
    }
    if (targets.some((target) => target?.rule.kind === "directory") && overridden(declared, id) === undefined) {
      return err("its region is in a directory: move its key there, by PUT /-/directory/:name/:key");
    }
    const [region, ...otherRegions] = new Set(targets.map((target) => target?.region?.name));
    const at = overridden(declared, id);
    if (otherIds.length > 0 || (at === undefined && otherRegions.length > 0)) {
      const layouts = [...new Set(readings.map((reading) => reading.id.enabled.layout.name))];
      return err(`it can be read in several ways (${layouts.join(", ")}) that do not route to the same place`);
    }
    const [other] = at === undefined ? ownersIn(whole, text) : [];
    const override = other && targetOf(whole, other.id, other.words);
    if (override !== undefined && ["moved", "moving", "gone"].includes(override.rule.kind)) {
      return err("it is in the table in another form, or as another ID with its short key; use that one");
    }
    const isSettled = otherRegions.length === 0 && targets.every(isForGood);
    const place: EntityLocation = at ?? { state: "routed", region };
    return ok({ id, at: place, routed: isSettled ? region : undefined });
  };
};

/** A canary may still change the region. */
const isForGood = (target: TargetOrNone): boolean =>
  target?.region !== undefined && target.rule.kind !== "canary" && target.canary === undefined;

const compiled = (declared: DeclaredTable): CompiledTable => {
  const table = loadTable(declared, 0);
  if (!table.ok) throw new Error("the table was not checked");
  return table.value;
};

const overridden = ({ moved = {}, moves = {}, gone = {} }: DeclaredTable, id: string): EntityLocation | undefined => {
  const own = <Entry>(part: Readonly<Record<string, Entry>>) => (Object.hasOwn(part, id) ? part[id] : undefined);
  const move = own(moves);
  if (move !== undefined) return move;
  const settled = own(moved);
  if (typeof settled === "string") return { state: "moved", region: settled, epoch: undefined };
  if (settled !== undefined) return { state: "moved", ...settled };
  const tombstone = own(gone);
  return tombstone === undefined ? undefined : { state: "gone", ...tombstone };
};

/** The table's text with new locations of entities, by canonical ID, and a new `epochFloor` unless that is 0. */
export const rewriteTable = (
  text: string,
  changes: ReadonlyMap<string, EntityLocation>,
  epochFloor: number,
): Edited => {
  const edits = new Map<OverridePart, Map<string, unknown>>(OVERRIDE_PARTS.map((part) => [part, new Map()]));
  for (const [id, after] of changes) {
    const entry = entryOf(after);
    for (const [part, values] of edits) values.set(id, entry?.part === part ? entry.value : undefined);
  }
  return editJson(
    text,
    new Map<string, unknown>([...edits, ...(epochFloor === 0 ? [] : [["epochFloor", epochFloor] as const])]),
  );
};

/** Where the written table has an entity whose step led there. */
const placeIn = (written: DeclaredTable, id: string, after: EntityLocation): EntityLocation => {
  const place = overridden(written, id);
  if ((place === undefined) !== (entryOf(after) === undefined)) throw new Error(`the table was not written for ${id}`);
  return place ?? after;
};

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
  start: "publish the table, and copy the entity's data while it stays in service; then `waybill move fence ID`",
  fence:
    "publish the table (optional: it pauses writes at the gateways); call fence with this epoch in the old region; copy the rest; call take with this epoch in the new region; then `waybill move switch ID`",
  switch: "publish the table; then call open in the new region, and after it leave in the old one, with this epoch",
  finish: "publish the table; the routes lead there without the entry",
  abort:
    "publish the table; then call leave in the other region if it took a copy, and open in the old one, with this epoch",
  gone: "publish the table; requests then get 410",
};

const KEPT = "nothing to publish: the entries stay, because the routes lead to another region or may later";

const countsOf = ({ moves = {}, moved = {}, gone = {} }: DeclaredTable): string => {
  const count = (part: object): number => Object.keys(part).length;
  return `${countOf(count(moves), "move")} in progress, ${count(moved)} moved, ${count(gone)} gone`;
};

const findAll = <Found>(ids: readonly string[], find: (text: string) => Result<Found, string>) => {
  const found: Found[] = [];
  let refusals = "";
  for (const text of ids) {
    const one = find(text);
    if (one.ok) found.push(one.value);
    else refusals += `error: ${escapeControls(text)}: ${escapeControls(one.error)}\n`;
  }
  return { found, refusals };
};

const stepOf = (name: Step["name"], routed: string | undefined, to: string, epochMin: number): Step => {
  if (name === "start") return { name, to, epochMin };
  if (name === "gone") return { name, epochMin };
  return name === "finish" ? { name, routed } : { name };
};

const summaryOf = (file: string, isSame: boolean, count: number, { dryRun }: MoveOptions): string => {
  const entities = countOf(count, "entity", "entities");
  if (isSame) return `${file}: nothing to change for ${entities}\n`;
  return dryRun
    ? `${file}: would change ${entities}; nothing was written (--dry-run)\n`
    : `${file}: changed ${entities}\n`;
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

const takeSteps =
  (name: Step["name"]) =>
  async (runtime: Runtime, args: readonly string[], options: MoveOptions): Promise<ExitCode> => {
    const opened = await openForEdit(options.table, runtime);
    const ids = await allIds(args, runtime);
    const { text, table } = opened;
    const file = escapeControls(opened.name);
    const { to = "", json, dryRun = false } = options;
    if (name === "start" && !Object.hasOwn(table.regions, to)) {
      const known = Object.keys(table.regions).join(", ");
      fail(`error: ${file} has no region ${JSON.stringify(to)}; it has ${known} (--to)\n`);
    }
    const { epochFloor = 0 } = table;
    const epochMin = Math.max(epochFloor + 1, options.epoch ?? 1);
    const locate = locator(table, runtime.nowMs());
    const seen = new Set<string>();
    const { found: changes, refusals } = findAll(ids, (text) => {
      const located = locate(text);
      if (!located.ok) return located;
      const { id, at: before, routed } = located.value;
      if (seen.has(id)) return err("it is named twice");
      const after = takeStep(stepOf(name, routed, to, epochMin), before);
      if (after.ok) seen.add(id);
      return after.ok ? ok({ id, before, after: after.value }) : after;
    });
    if (refusals !== "") fail(`${refusals}error: nothing was written\n`);

    const entries = changes.flatMap(({ id, before, after }) => (before === after ? [] : [[id, after] as const]));
    const edited = rewriteTable(text, new Map(entries), Math.max(epochFloor, droppedEpoch(changes)));
    const written = saveTable(opened, edited, dryRun, runtime);
    const done = changes.map((change) => ({ ...change, after: placeIn(written, change.id, change.after) }));
    const rows = done.map(({ id, after }) => formatLocation(id, after));
    await runtime.print(json ? jsonText(...done) : linesText(alignColumns(rows)));
    const isSame = text === edited.text;
    runtime.report(summaryOf(file, isSame, changes.length, options) + formatNext(name, isSame));
    return EXIT.ok;
  };

const stepCommand = (name: Step["name"], description: string) => {
  const options = name === "start" ? [...START_OPTIONS, ...MOVE_OPTIONS] : MOVE_OPTIONS;
  return command({ name, description, args: [["<id...>", IDS]], options, run: takeSteps(name) });
};

const status = command({
  name: "status",
  description: "show where entities are; without IDs, all moves in progress",
  args: [["[id...]", IDS]],
  options: [
    option("--table <file>", "the routing table (default: routing-table.json)"),
    option("--json", "one JSON object per line, in the order of the IDs"),
  ],
  run: async (runtime, args, { table, json }) => {
    const { table: declared, name } = await openForEdit(table, runtime);
    const locate = locator(declared, runtime.nowMs());
    const { found, refusals } =
      args.length === 0
        ? { found: Object.entries(declared.moves ?? {}).map(([id, at]) => ({ id, at })), refusals: "" }
        : findAll(await allIds(args, runtime), locate);
    const lines = json
      ? jsonText(...found.map(({ id, at }) => ({ id, ...at })))
      : linesText(alignColumns(found.map(({ id, at }) => formatLocation(id, at))));
    await runtime.print(lines);
    runtime.report(refusals === "" ? `${escapeControls(name)}: ${countsOf(declared)}\n` : refusals);
    return refusals === "" ? EXIT.ok : EXIT.failed;
  },
});

export const move = group(
  "move",
  "move single entities between regions, one step of the table at a time",
  [
    stepCommand("start", "start a move; requests still go to the old region"),
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
