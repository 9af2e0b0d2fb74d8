import { compileTable, decidedDraft } from "../compile/compile.ts";
import type { DeclaredConditions, DeclaredRoute, DeclaredTable } from "../schema/table.ts";

/** The IDs that routes take, for readers who may not see where these go: no region, no order of routes, no override. */
export interface Taken {
  /** An ID that meets none of these is taken by no route. */
  readonly when: readonly DeclaredConditions[];
  /** Entities of which the table names an ID that no route takes: only the gateway can tell which one. */
  readonly named: readonly string[];
}

/** Takes a checked table; `undefined` where its default takes every ID. */
export function takenIn(declared: DeclaredTable, revision: number): Taken | undefined {
  if (declared.default !== undefined) return undefined;
  const { routes, idleRoutes, entities } = decidedDraft(declared);
  const hasIds = (name: string): boolean => (entities.get(name)?.ids.length ?? 0) > 0;
  const deciding = routes.filter(({ index }) => !idleRoutes.has(index));
  const texts = new Set(deciding.flatMap(({ route }) => conditionsText(route, hasIds) ?? []));
  return { when: [...texts].sort().map((text) => JSON.parse(text)), named: namedIn(declared, revision) };
}

/** Entities of text keys have no IDs that could be read. */
function conditionsText({ when }: DeclaredRoute, hasIds: (name: string) => boolean): string | undefined {
  if (when.entity === undefined) return JSON.stringify(when);
  const entity = [when.entity].flat().filter(hasIds);
  return entity.length === 0 ? undefined : JSON.stringify({ ...when, entity });
}

/** As `targetOf`, which asks the overrides first. */
function namedIn(declared: DeclaredTable, revision: number): readonly string[] {
  const { moved = {}, moves = {}, gone = {} } = declared;
  if ([moved, moves, gone].every((part) => Object.keys(part).length === 0)) return [];
  const { entities } = compileTable(declared, revision);
  const isNamed = [...entities.values()].filter(({ ids }) =>
    ids.some(({ enabled, takes, find }) =>
      enabled.overrides?.some((words) => takes(words) && find(words) === undefined),
    ),
  );
  return isNamed.map(({ name }) => name);
}
