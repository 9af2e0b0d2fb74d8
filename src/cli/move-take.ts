import { err, ok, type Result } from "../ids/index.ts";
import { alignColumns } from "./columns.ts";
import { collectIds, openForEdit, saveTable } from "./move-file.ts";
import { droppedEpoch, type Step, takeStep, type Whereabouts } from "./move-steps.ts";
import { type Locate, type Located, locator, rewriteTable } from "./move-table.ts";
import { nextText, whereaboutsCells } from "./move-text.ts";
import { printable } from "./printable.ts";
import { refuse } from "./refuse.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

export interface MoveOptions {
  readonly table?: string;
  readonly to?: string;
  readonly epoch?: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface StepOptions {
  readonly to: string | undefined;
  readonly epochMin: number;
}

/** What a step makes of one entity. */
interface Change {
  readonly id: string;
  readonly before: Whereabouts;
  readonly after: Whereabouts;
}

/** Takes a step with every ID, or with none. */
export const takeSteps = async (
  name: Step["name"],
  world: World,
  args: readonly string[],
  options: MoveOptions,
): Promise<ExitCode> => {
  const opened = await openForEdit(options.table, world);
  if (!opened.ok) return refuse(opened.error, world);
  const ids = await collectIds(args, world);
  if (!ids.ok) return refuse(ids.error, world);
  const { text, declared, name: file } = opened.value;
  const { to } = options;
  if (to !== undefined && !Object.hasOwn(declared.regions, to)) {
    const known = Object.keys(declared.regions).join(", ");
    return refuse(`error: ${printable(file)} has no region ${JSON.stringify(to)}; it has ${known} (--to)\n`, world);
  }
  const { epochFloor = 0 } = declared;
  const epochMin = Math.max(epochFloor + 1, options.epoch ?? 1);
  const changes = changesOf(name, ids.value, { to, epochMin }, locator(declared, world.nowMs()));
  if (!changes.ok) return refuse(`${changes.error}error: nothing was written\n`, world);

  const floor = Math.max(epochFloor, droppedEpoch(changes.value));
  const edited = rewriteTable(text, new Map(changes.value.flatMap(entryIfChanged)), floor);
  const saved = saveTable(opened.value, edited, options.dryRun === true, world);
  if (!saved.ok) return refuse(`${saved.error}error: nothing was written\n`, world);
  await world.print(linesOf(changes.value, options));
  const isSame = text === edited;
  world.report(summaryOf(file, isSame, changes.value.length, options) + nextText(name, isSame));
  return EXIT.ok;
};

const entryIfChanged = ({ id, before, after }: Change): (readonly [string, Whereabouts])[] =>
  before === after ? [] : [[id, after]];

/** The changes, or every refusal. */
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
    } else if (!after.ok) refusals += `error: ${printable(text)}: ${printable(after.error)}\n`;
  }
  return refusals === "" ? ok([...changes.values()]) : err(refusals);
};

const stepOf = (
  name: Step["name"],
  { id, at, routed }: Located,
  { to, epochMin }: StepOptions,
  changes: ReadonlyMap<string, Change>,
): Result<Whereabouts, string> => {
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
    : alignColumns(changes.map(({ id, after }) => whereaboutsCells(id, after)));
  return lines.map((line) => `${line}\n`).join("");
};

const summaryOf = (file: string, isSame: boolean, count: number, { dryRun }: MoveOptions): string => {
  const entities = count === 1 ? "1 entity" : `${count} entities`;
  const name = printable(file);
  if (isSame) return `${name}: nothing to change for ${entities}\n`;
  return dryRun
    ? `${name}: would change ${entities}; nothing was written (--dry-run)\n`
    : `${name}: changed ${entities}\n`;
};
