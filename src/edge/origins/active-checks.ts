import type { OriginCheck } from "../../ports.ts";
import { checkOrigin, type HealthCheckDeps } from "../../proxy/origin-response.ts";
import type { CompiledTable, HealthCheck, Origin } from "../../routing/table.ts";

export type Checked = Readonly<{ url: string; path: string; check: OriginCheck }>;

/** A Worker may wait for the headers of so many answers at once; others queue, and their time-outs would run meanwhile. */
const PARALLEL_MAX = 6;

type Target = Readonly<{ origin: Origin; health: HealthCheck }>;

/** Every origin and path that the table wants checked, each once, however many regions share it. */
export function checkTargets(table: CompiledTable): readonly Target[] {
  const targets = new Map<string, Target>();
  for (const { health, origins } of table.regions.values()) {
    if (health === undefined) continue;
    for (const origin of origins) targets.set(`${origin.url} ${health.path}`, { origin, health });
  }
  return [...targets.values()];
}

/** One round: every target is asked, a few at a time, and told of as soon as it has answered or not. */
export async function runChecks(
  targets: readonly Target[],
  deps: HealthCheckDeps,
  onChecked: (checked: Checked) => void,
): Promise<void> {
  const waiting = targets[Symbol.iterator]();
  const askInTurn = async (): Promise<void> => {
    for (const { origin, health } of waiting) {
      const check = await checkOrigin(origin, health, deps);
      onChecked({ url: origin.url, path: health.path, check });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_MAX }, askInTurn));
}
