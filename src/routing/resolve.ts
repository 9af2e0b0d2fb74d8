import { err, luuid, ok, type Result, readShortKey, type TextForm, type Words } from "../ids/index.ts";
import { ID_LENGTH_MAX } from "./limits.ts";
import {
  allOwners,
  isCandidate,
  LUUID_SHORT,
  type OwnerReading,
  shortTargetOf,
  shortWords,
  targetOf,
} from "./readings.ts";
import { ambiguous, ambiguousShort, malformed, refuseAny, refuseForEntity, unassigned } from "./refusals.ts";
import type { CompiledTable, Decision, Entity, EntityId, PathMatch, RoutingError, Target } from "./table.ts";

type Resolution = Result<Decision, RoutingError>;

/**
 * Where a request on an entity's path goes. The hot path: the ID is read where it stands in `path`, once for each form of
 * text, and only the layouts of the entity are tried. Time in Unix milliseconds.
 */
export const resolvePath = (table: CompiledTable, match: PathMatch, path: string, nowMs: number): Resolution => {
  const { entity, idStart, idEnd } = match;
  const text = path.slice(idStart, idEnd);
  let form: TextForm | undefined;
  let words: Words | undefined;
  let isReadable = false;
  let first: OwnerReading | undefined;
  let others: OwnerReading[] | undefined;
  for (const id of entity.ids) {
    const { text: ownForm } = id.enabled.layout.table;
    if (ownForm !== form) {
      form = ownForm;
      words = idEnd - idStart > ID_LENGTH_MAX ? undefined : form.read(path, idStart, idEnd);
    }
    if (words === undefined) continue;
    isReadable = true;
    if (!isCandidate(id, words, nowMs)) continue;
    const reading = { entity, id, words };
    if (first === undefined) first = reading;
    else others = [...(others ?? []), reading];
  }
  if (first !== undefined) return choose(table, first, others ?? [], text, nowMs);
  return isReadable ? err(refuseForEntity(table, entity, text, nowMs)) : resolveShort(table, entity, text);
};

/** Where an ID goes that comes without a path: all layouts and all entities are tried. */
export const resolveAny = (table: CompiledTable, text: string, nowMs: number): Resolution => {
  const [first, ...others] = text.length > ID_LENGTH_MAX ? [] : allOwners(table, text, nowMs);
  return first === undefined ? err(refuseAny(table, text, nowMs)) : choose(table, first, others, text, nowMs);
};

/** Several readings are one decision only if they are of one entity and lead to one region. */
const choose = (
  table: CompiledTable,
  first: OwnerReading,
  others: readonly OwnerReading[],
  text: string,
  nowMs: number,
): Resolution => {
  const target = targetOf(table, first.id, first.words);
  for (const { entity, id, words } of others) {
    if (entity === first.entity && sameRegion(targetOf(table, id, words), target)) continue;
    return err(ambiguous(table, [first, ...others], text, nowMs));
  }
  return decide(first.entity, first.id, text, first.words, target);
};

const sameRegion = (a: Target | undefined, b: Target | undefined): boolean => a?.region === b?.region;

const decide = (
  entity: Entity,
  id: EntityId,
  text: string,
  words: Words,
  target: Target | undefined,
  layout = id.enabled.layout.name,
): Resolution =>
  target === undefined
    ? err(unassigned(entity, id.enabled, layout, text, words))
    : ok({ entity, layout, id: text, words, target });

/** A text that is no UUID may be a short key, where the entity has LUUIDs of a known group. */
const resolveShort = (table: CompiledTable, entity: Entity, text: string): Resolution => {
  const groups = entity.ids.flatMap((id) => {
    const { group, enabled } = id;
    return group === undefined || enabled.layout !== luuid ? [] : [{ entity, id, group }];
  });
  const primaryKey = readShortKey(text, 0, text.length);
  const [first] = groups;
  if (primaryKey === undefined || first === undefined) {
    return err(malformed(new Set(entity.ids.map(({ enabled }) => enabled)), text, first !== undefined));
  }
  const wordsIn = (group: number): Words => shortWords(group, primaryKey);
  const [target, ...others] = groups.map(({ id, group }) =>
    shortTargetOf(table, id, group, primaryKey, wordsIn(group)),
  );
  if (!others.every((other) => sameRegion(other, target))) {
    return err(ambiguousShort(table, groups, text, primaryKey));
  }
  return decide(entity, first.id, text, wordsIn(first.group), target, LUUID_SHORT);
};
