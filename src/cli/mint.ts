import type { Command } from "commander";
import { builtinLayouts, err, type MintError, ok, type Result, type Words } from "../ids/index.ts";
import { type CompiledTable, type RoutingError, regionsOfMinted } from "../routing/index.ts";
import { type MintPlan, type MintPlanError, type MintWish, planMint } from "../routing/mint-plan.ts";
import type { Act } from "./action.ts";
import { errorText } from "./errors.ts";
import { groupOption, mintOffline, orderWithoutTable } from "./mint-offline.ts";
import { addMintOptions, type MintOptions } from "./mint-options.ts";
import { openTable, tableErrorText } from "./table-file.ts";
import { EXIT, type World } from "./world.ts";

type Failure = MintPlanError | MintError | RoutingError;

/** `waybill mint`: IDs that route, without a gateway. */
export const addMint = (parent: Command, act: Act): void => {
  addMintOptions(parent.command("mint"))
    .description("mint IDs and print them, one a line")
    .addHelpText("after", HELP)
    .action(act(mintIds));
};

const HELP = `
Examples:
  $ waybill mint --entity order --country KZ --count 3
  $ waybill mint --entity parcel --slice m49=276 --slice partition=840
  $ waybill mint --entity person --primary-key 2298414
  $ waybill mint --no-table --layout iuid --country 5 --service 1 --at 2026-06-01T00:00:00Z

A gateway takes the primary keys of LUUIDs from a sequence. Offline there is none: --primary-key says where to start, and
that no key is used twice is for you to see to.`;

/** One ID, as `--json` prints it. */
interface MintedId {
  readonly id: string;
  readonly layout: string;
  readonly entity?: string;
  readonly region?: string;
}

const mintIds = async (world: World, _args: readonly string[], options: MintOptions) => {
  const opened = await openTable(options.table, world);
  if (!opened.ok) {
    world.report(tableErrorText(opened.error));
    return EXIT.failed;
  }
  const minted = mintAll(opened.value?.table, options, world);
  if (!minted.ok) {
    world.report(errorText(minted.error));
    return EXIT.failed;
  }
  const lines = minted.value.map((each) => (options.json ? JSON.stringify(each) : each.id));
  await world.print(`${lines.join("\n")}\n`);
  return EXIT.ok;
};

const mintAll = (
  table: CompiledTable | undefined,
  options: MintOptions,
  { nowMs, entropy }: World,
): Result<readonly MintedId[], Failure> => {
  const wish = wishOf(options);
  if (!wish.ok) return wish;
  const plan = table === undefined ? undefined : planMint(table, wish.value);
  if (plan !== undefined && !plan.ok) return plan;
  const order = plan === undefined ? orderWithoutTable(wish.value) : ok(plan.value.order);
  if (!order.ok) return order;
  const primaryKey = primaryKeyFor(order.value.layout, options.primaryKey);
  if (!primaryKey.ok) return primaryKey;
  const { at, count } = options;
  const minted = mintOffline(order.value, { count, nowMs: at ?? nowMs(), entropy, primaryKey: primaryKey.value });
  if (!minted.ok) return minted;
  return plan === undefined
    ? ok(withoutTable(order.value.layout, minted.value))
    : route(plan.value, minted.value, nowMs());
};

const wishOf = (options: MintOptions): Result<MintWish, MintPlanError> => {
  const group = groupOption(options.group, options.class);
  if (!group.ok) return group;
  const { entity, layout, country, service, shardKey, slice: slices } = options;
  return ok({ entity, layout, country, service, shardKey, slices, group: group.value });
};

/** A number that does not matter for the layouts that have no primary key. */
const primaryKeyFor = (layout: string, given: number | undefined): Result<number, MintPlanError> => {
  const malformed = (detail: string) => err({ reason: "malformed-request" as const, detail });
  if (layout === "luuid") {
    return given === undefined
      ? malformed("Offline there is no sequence of primary keys: say with --primary-key where to start.")
      : ok(given);
  }
  return given === undefined ? ok(0) : malformed(`--primary-key has no place in an ID of layout ${layout}.`);
};

const withoutTable = (layout: string, minted: readonly Words[]): readonly MintedId[] => {
  const format = builtinLayouts.get(layout)?.format;
  if (format === undefined) throw new Error(`layout ${layout} was minted and is not built in`);
  return minted.map((words) => ({ id: format(words), layout }));
};

/** An ID that the table would not route, or not take for one of its layout, is never printed. */
const route = (
  { entity, enabled }: MintPlan,
  minted: readonly Words[],
  nowMs: number,
): Result<readonly MintedId[], Failure> => {
  const { layout, window } = enabled;
  const ids: MintedId[] = [];
  for (const words of minted) {
    const mintedMs = layout.mintedAtMs?.(words);
    if (
      window !== undefined &&
      mintedMs !== undefined &&
      (mintedMs < window.fromMs || mintedMs > nowMs + window.aheadMs)
    ) {
      const detail = `An ID of ${entity.name} minted then would not be taken for one: the table takes those minted from ${new Date(window.fromMs).toISOString()} until ${window.aheadMs / 1000} s from now. (--at)`;
      return err({ reason: "malformed-request", detail });
    }
    const regions = regionsOfMinted(entity, enabled, [words]);
    if (!regions.ok) return regions;
    const [region] = regions.value;
    ids.push({
      id: layout.format(words),
      layout: layout.name,
      entity: entity.name,
      ...(region === undefined ? {} : { region }),
    });
  }
  return ok(ids);
};
