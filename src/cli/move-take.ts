import { err, ok, type Result } from "../ids/index.ts";
import { alignColumns } from "./columns.ts";
import { collectIds, openForEdit, saveTable } from "./move-file.ts";
import { droppedEpoch, type EntityLocation, type Step, takeStep } from "./move-steps.ts";
import { type Locate, type Located, locator, rewriteTable } from "./move-table.ts";
import { formatLocation, formatNext } from "./move-text.ts";
import { escapeControls } from "./printable.ts";
import { fail } from "./refuse.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

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
  readonly before: EntityLocation;
  readonly after: EntityLocation;
}

/** Takes a step with every ID, or with none. */
export const takeSteps = async (
  name: Step["name"],
  runtime: Runtime,
  args: readonly string[],
  options: MoveOptions,
): Promise<ExitCode> => {
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

const entryIfChanged = ({ id, before, after }: Change): (readonly [string, EntityLocation])[] =>
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
  return lines.map((line) => `${line}\n`).join("");
};

const summaryOf = (file: string, isSame: boolean, count: number, { dryRun }: MoveOptions): string => {
  const entities = count === 1 ? "1 entity" : `${count} entities`;
  const name = escapeControls(file);
  if (isSame) return `${name}: nothing to change for ${entities}\n`;
  return dryRun
    ? `${name}: would change ${entities}; nothing was written (--dry-run)\n`
    : `${name}: changed ${entities}\n`;
};
