import { err, ok, type Result, readShortKey, readUuid, type Words } from "../ids/index.ts";
import { allOwners, isCandidate, LUUID_SHORT, shortTargetOf, shortWords, targetOf } from "./readings.ts";
import { ambiguous, ambiguousShort, malformed, refuseAny, refuseForEntity, unassigned } from "./refusals.ts";
import type {
  CompiledTable,
  Decision,
  EnabledLayout,
  Entity,
  EntityId,
  PathMatch,
  RoutingError,
  Target,
} from "./table.ts";

type Resolution = Result<Decision, RoutingError>;

/**
 * Where a request on an entity's path goes. The hot path: the ID is read where it stands in `path`, and only the layouts
 * of the entity are tried. Time in Unix milliseconds.
 */
export const resolvePath = (table: CompiledTable, match: PathMatch, path: string, nowMs: number): Resolution => {
  const { entity, idStart, idEnd } = match;
  const words = readUuid(path, idStart, idEnd);
  const text = path.slice(idStart, idEnd);
  if (words === undefined) return resolveShort(table, entity, text);
  let first: EntityId | undefined;
  let others: EntityId[] | undefined;
  for (const id of entity.ids) {
    if (!isCandidate(id, words, nowMs)) continue;
    if (first === undefined) first = id;
    else others = [...(others ?? []), id];
  }
  if (first === undefined) return err(refuseForEntity(table, entity, text, words, nowMs));
  const target = targetOf(table, first, words);
  if (others !== undefined && !others.every((id) => sameRegion(targetOf(table, id, words), target))) {
    return err(
      ambiguous(
        table,
        [first, ...others].map((id) => ({ entity, id })),
        text,
        words,
        nowMs,
      ),
    );
  }
  return decide(entity, first, text, words, target);
};

/** Where an ID goes that comes without a path: all layouts and all entities are tried. */
export const resolveAny = (table: CompiledTable, text: string, nowMs: number): Resolution => {
  const words = readUuid(text, 0, text.length);
  if (words === undefined) return err(malformed(table.layouts.values(), text));
  const owners = allOwners(table, words, nowMs);
  const [first] = owners;
  if (first === undefined) return err(refuseAny(table, text, words, nowMs));
  const target = targetOf(table, first.id, words);
  const agreed = owners.every(
    ({ entity, id }) => entity === first.entity && (id === first.id || sameRegion(targetOf(table, id, words), target)),
  );
  if (!agreed) return err(ambiguous(table, owners, text, words, nowMs));
  return decide(first.entity, first.id, text, words, target);
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
  const groups = entity.ids.flatMap((id) => (id.group === undefined ? [] : [{ entity, id, group: id.group }]));
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

/**
 * Which regions IDs go to that have just been minted for an entity: every region once, in the order of the IDs.
 * An ID that no route takes is an error, since nobody could be sent to it.
 */
export const regionsOfMinted = (
  entity: Entity,
  enabled: EnabledLayout,
  minted: readonly Words[],
): Result<readonly string[], RoutingError> => {
  const regions = new Set<string>();
  for (const words of minted) {
    const id = entity.ids.find((each) => each.enabled === enabled && each.claims(words));
    const target = id?.find(words);
    if (id === undefined || target === undefined) {
      return err(unassigned(entity, enabled, enabled.layout.name, enabled.layout.format(words), words));
    }
    regions.add(target.region.name);
  }
  return ok([...regions]);
};
