import type { Engine } from "../../src/export/index.ts";
import type { DeclaredTable } from "../../src/routing/index.ts";
import type { DemoTable } from "../system/demo/demo.ts";
import { startStack } from "../system/stack.ts";
import { askAll, outcomeOf, type RunningEngine, requestFor, startEngine, startOrigins } from "./engines.ts";
import { refusedBy } from "./refused.ts";
import { makeTargets } from "./targets.ts";

export interface Comparison {
  readonly asked: number;
  /** Targets that some origin was asked for. */
  readonly forwarded: number;
  /** Targets with another answer that are not refused by the engine itself. */
  readonly differences: readonly { readonly target: string; readonly gateway: string; readonly engine: string }[];
  /** Targets that the engine refuses by itself, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** With no gateway behind the engine: how many it decided by itself. */
  readonly alone: number;
}

/** The gateway, origins, and an engine with the gateway behind it and one without. */
export async function startBeside(engine: Engine, table: unknown) {
  const origins = await startOrigins(table as DeclaredTable);
  const stack = await startStack(origins.declared as DemoTable, { TRUSTED_PROXIES: "127.0.0.0/8" });
  const running: RunningEngine[] = [];
  const stop = async () => {
    await Promise.all(running.map((one) => one.stop()));
    await stack.stop();
    await origins.stop();
  };
  try {
    const beside = await startEngine(engine, origins.declared, stack.url);
    running.push(beside);
    const alone = await startEngine(engine, origins.declared, undefined);
    running.push(alone);
    return { gateway: Number(new URL(stack.url).port), beside, alone, stack, origins, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export type Beside = Awaited<ReturnType<typeof startBeside>>;

const NEEDS_WAYBILL = "503";

/** Sends the same targets to all three. Alone, an engine may say that it needs Waybill, and nothing else that differs. */
export async function compare(
  engine: Engine,
  { gateway, beside, alone, stack }: Beside,
  count: number,
  seed: number,
): Promise<Comparison> {
  const targets = makeTargets(stack.declared, stack.table, count, seed, Date.now());
  const requests = targets.map((target) => requestFor(target));
  const expected = (await askAll(gateway, requests)).map(outcomeOf);
  const given = (await askAll(beside.port, requests)).map(outcomeOf);
  const own = (await askAll(alone.port, requests)).map(outcomeOf);
  const differences: { target: string; gateway: string; engine: string }[] = [];
  const refused: Record<string, number> = {};
  let decided = 0;
  for (const [at, target] of targets.entries()) {
    const outcome = expected[at] as string;
    const refusal = refusedBy(engine, target);
    const wanted = refusal === undefined ? [outcome] : [String(refusal[1])];
    if (refusal !== undefined) refused[refusal[0]] = (refused[refusal[0]] ?? 0) + 1;
    else if (own[at] === outcome) decided++;
    const answers = [given[at] as string, own[at] === NEEDS_WAYBILL ? outcome : (own[at] as string)];
    for (const answer of answers) {
      // A refused target may be a redirect or a problem to the gateway, and an engine may not get to its own refusal.
      if (!wanted.includes(answer) && !(refusal !== undefined && answer === outcome))
        differences.push({ target, gateway: outcome, engine: answer });
    }
  }
  const forwarded = expected.filter((outcome) => outcome.includes(" ")).length;
  return { asked: count, forwarded, differences, refused, alone: decided };
}
